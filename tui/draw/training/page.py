"""The Train screen's board, its track and its rule: panes laid out by the size of the terminal."""

from typing import Literal, NamedTuple

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.pane import Pane, board_rows
from tui.draw.text import Row, Span, Words, text_row

from .losses import AXES, clipping, loss_pane, norm_pane
from .run import run_pane
from .sample import sample_pane
from .tabs import tab_at
from .updates import HEAD, NAME, groups, shown_groups, updates_pane

TWO_FROM = 80  # columns from which panes stand side by side
THREE_FROM = 27  # rows from which there are two of them at the right
STATES = {"not begun": "‖", "training": "▶", "paused": "‖", "done": "■", "astray": "!"}
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
        name, tabs = chosen(
            view, look, ("loss", "updates", "sample", "run"), "run" if is_about_run(view) else "loss"
        )
        if name == "loss":
            return left(width, height, tabs)
        return [Place(0, 0, width, height, name, tabs)]
    wide = round(width * (0.595 if width >= 120 else 0.54))
    x, rest = wide + 1, width - wide - 1
    if height < THREE_FROM:
        name, tabs = chosen(view, look, ("updates", "sample", "run"), "run" if is_about_run(view) else "updates")
        return [*left(wide, height), Place(x, 0, rest, height, name, tabs)]
    name, tabs = chosen(view, look, ("sample", "run"), "run" if is_about_run(view) else "sample")
    tall = 13 if height >= 36 else 11 if name == "run" else 9
    above = height - tall - 1
    return [
        *left(wide, height),
        Place(x, 0, rest, above, "updates", ("updates",)),
        Place(x, above + 1, rest, tall, name, tabs),
    ]


def chosen(view: Trained, look: Look, tabs: tuple[Name, ...], usual: Name) -> tuple[Name, tuple[Name, ...]]:
    """The pane shown of those that share a place: the usual one, or as many further as they were turned."""
    return tabs[(tabs.index(usual) + look.turned) % len(tabs)], tabs


def is_about_run(view: Trained) -> bool:
    """Whether settings, or what went astray, are what there is to see first."""
    return view.step == 0 or view.fault is not None


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


# Pointing at it


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


# Around it


def track(view: Trained, width: int, palette: Palette) -> Row:
    """Steps done heavy, those to come light."""
    mark = STATES[view.state]
    tone = "fwd" if view.state == "training" else "stop" if view.state == "astray" else "bright"
    state = f"{view.state}  " if width >= 100 else ""
    head = [Span(f" {mark} ", tone, bold=True), Span(state, "muted")]
    tail = [
        Span(f"  {numbers.percent(view.step, view.settings.steps)}", "bright", bold=True),
        Span(f"   {left_words(view)} ", "muted"),
    ]
    if width >= 100 and view.state != "done":
        tail += [Span("  space", "text"), Span(" ‖ " if view.state == "training" else " ▶ ", "muted")]
    room = max(width - sum(len(span.text) for span in (*head, *tail)) - 1, 3)
    done = min(round(view.step / view.settings.steps * room), room)
    return text_row(
        [*head, Span("━" * done, "fwd"), Span("─" * (room - done), "line")], width, palette, "bg", tail
    )


def left_words(view: Trained) -> str:
    if view.state == "done":
        return "all steps taken"
    if view.seconds_left is None:
        return f"{numbers.count(view.settings.steps - view.step)} steps to go"
    return f"{clock(view.seconds_left)} left"


def clock(seconds: float) -> str:
    """`0:07`, `3:20`, `1:02:09`"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def facts(view: Trained, width: int) -> list[list[Span]]:
    """What the header says, the indispensable first."""
    steps = numbers.count(view.settings.steps)
    said = [[Span("step ", "muted"), Span(numbers.count(view.step), "bright", bold=True), Span(f"/{steps}")]]
    if view.report is not None:
        said += [[Span("loss ", "muted"), Span(f"{view.report.loss:.3f}")]]
        if width >= 100:
            said.append([Span("lr ", "muted"), Span(numbers.stat(view.report.lr, 2))])
    if view.seconds_per_step is not None and width >= 120:
        said.append([Span(f"{1000 * view.seconds_per_step:.0f} ms"), Span(" a step", "muted")])
    if view.tokens_per_second is not None:
        said.append(pace(view.tokens_per_second))
    return said


def pace(tokens_per_second: float) -> list[Span]:
    return [Span(numbers.count(round(tokens_per_second))), Span(" tok/s", "muted")]


def rule(view: Trained, width: int, count: int, palette: Palette) -> list[Row]:
    """The update and the clipping, and the last step's numbers in them; in one row the formula and the pace."""
    report, settings = view.report, view.settings
    top: Words = [Span(" AdamW", "bright", bold=True), Span("   w ← w − η ( m / (√v + ε) + λ w )")]
    if count < 2:
        clipped = [] if report is None else [Span(clipping(view).replace("clipped", " clip g"), "muted")]
        speed = [] if view.tokens_per_second is None else [Span("   "), *pace(view.tokens_per_second)]
        return [text_row([*top, *clipped, *speed], width, palette, "bg")][:count]
    top = [*top, Span("      clip  ", "muted"), Span(f"g ← g · min(1, {settings.max_norm:g}/‖g‖)")]
    if report is None:
        below: Words = [Span(" before the first step", "muted")]
    else:
        below = [
            Span(f" step {numbers.count(view.step)}", "bright", bold=True),
            Span("   ‖g‖ ", "muted"), Span(numbers.stat(report.grad_norm)), Span(" → ", "muted"),
            Span(clipping(view).strip() or "not clipped"),
            Span("   η ", "muted"), Span(numbers.stat(report.lr)),
            Span("   λ ", "muted"), Span(numbers.stat(settings.weight_decay)), Span(" on matrices only", "muted"),
        ]  # fmt: skip
    return [text_row(words, width, palette, "bg") for words in (top, below)]
