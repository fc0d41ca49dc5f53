"""The Train screen's board: panes laid out by the size of the terminal, and what lies where."""

from typing import Literal, NamedTuple

from glassllm.train import Trained
from tui.draw.palette import Palette
from tui.draw.pane import Pane, board_rows
from tui.draw.text import Row

from .losses import AXES, loss_pane
from .norm import norm_pane
from .run import run_pane
from .sample import sample_pane
from .tabs import tab_at
from .updates import HEAD, NAME, groups, shown_groups, updates_pane

TWO_FROM = 80  # columns from which panes stand side by side
THREE_FROM = 27  # rows from which there are two of them at the right
Name = Literal["loss", "norm", "updates", "sample", "run"]
TITLES: dict[Name, str] = {"updates": NAME}
"""What a pane is called where that is not its name."""


class Look(NamedTuple):
    """What a person chose to see: the marked group, the axis of the loss, and how often panes were turned."""

    here: int = 0
    is_log: bool = False
    turned: int = 0


class Place(NamedTuple):
    """Where a pane lies; `tabs`: the panes that share this place, itself among them."""

    x: int
    y: int
    width: int
    height: int
    name: Name
    tabs: tuple[Name, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(TITLES.get(name, name) for name in self.tabs)


def board(view: Trained, look: Look, width: int, height: int, palette: Palette) -> tuple[Row, ...]:
    """All rows between the track and the rule."""
    panes = [(at.x, at.y, drawn(view, look, at, palette)) for at in places(view, look, width, height)]
    return board_rows(width, height, palette, panes)


def places(view: Trained, look: Look, width: int, height: int) -> list[Place]:
    """Curves at the left; at the right how far groups move, over what was written; less in less room."""
    if width < TWO_FROM:
        name, tabs = chosen(view, look, ("loss", "updates", "sample", "run"), "loss")
        if name == "loss":
            return left(width, height, tabs)
        return [Place(0, 0, width, height, name, tabs)]
    wide = round(width * (0.595 if width >= 120 else 0.54))
    x, rest = wide + 1, width - wide - 1
    if height < THREE_FROM:
        name, tabs = chosen(view, look, ("updates", "sample", "run"), "updates")
        return [*left(wide, height), Place(x, 0, rest, height, name, tabs)]
    name, tabs = chosen(view, look, ("sample", "run"), "sample")
    tall = 13 if height >= 36 else 11 if name == "run" else 9
    above = height - tall - 1
    return [
        *left(wide, height),
        Place(x, 0, rest, above, "updates", ("updates",)),
        Place(x, above + 1, rest, tall, name, tabs),
    ]


def chosen(view: Trained, look: Look, tabs: tuple[Name, ...], usual: Name) -> tuple[Name, tuple[Name, ...]]:
    """The pane shown of those that share a place: the usual one, or as many further as they were turned.

    As long as settings, or what went astray, are what there is to see first, the usual one is the run's.
    """
    is_about_run = view.step == 0 or view.fault is not None
    first = tabs.index("run" if is_about_run else usual)
    return tabs[(first + look.turned) % len(tabs)], tabs


def left(width: int, height: int, tabs: tuple[Name, ...] = ("loss",)) -> list[Place]:
    tall = min(14, height * 2 // 5) if height >= 24 else 4
    above = height - tall - 1
    return [Place(0, 0, width, above, "loss", tabs), Place(0, above + 1, width, tall, "norm", ("norm",))]


def drawn(view: Trained, look: Look, at: Place, palette: Palette) -> Pane:
    if at.name == "loss":
        return loss_pane(view, at.titles, look.is_log, at.width, at.height, palette)
    if at.name == "norm":
        return norm_pane(view, at.width, at.height, palette)
    if at.name == "updates":
        return updates_pane(view, at.titles, look.here, at.width, at.height, palette)
    draw = sample_pane if at.name == "sample" else run_pane
    return draw(view, at.titles, at.width, at.height, palette)


# Choosing, and pointing at it


def marking(view: Trained, look: Look, group: int) -> Look:
    """Another group marked; the ends hold."""
    return look._replace(here=max(0, min(group, len(groups(view)) - 1)))


def pointed(view: Trained, look: Look, width: int, height: int, column: int, row: int) -> Look:
    """What is looked at after a click there: a group is marked, a tab shown, the loss drawn on its other axis."""
    at = place_at(view, look, width, height, column, row)
    if at is None:
        return look
    x, y = column - at.x, row - at.y
    if y == 0 and (tab := tab_at(at.titles, x)) is not None:
        return look._replace(turned=look.turned + tab - at.tabs.index(at.name))
    if at.name == "loss" and y == 0 and (len(at.tabs) == 1 or x >= at.width - 1 - len("".join(AXES))):
        return look._replace(is_log=not look.is_log)
    group = group_at(view, look, width, height, column, row)
    return look if group is None else look._replace(here=group)


def group_at(view: Trained, look: Look, width: int, height: int, column: int, row: int) -> int | None:
    """The group whose row is there."""
    at = place_at(view, look, width, height, column, row)
    if at is None or at.name != "updates":
        return None
    shown = shown_groups(len(groups(view)), look.here, at.height)
    y = row - at.y - HEAD
    return shown[y] if 0 <= y < len(shown) else None


def place_at(view: Trained, look: Look, width: int, height: int, column: int, row: int) -> Place | None:
    for at in places(view, look, width, height):
        if at.x <= column < at.x + at.width and at.y <= row < at.y + at.height:
            return at
    return None
