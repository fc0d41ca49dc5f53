"""The first row: which file, which screen, and where in the run."""

from rich.cells import cell_len
from textual import events
from textual.message import Message

from glassllm.debug.snapshot import Snapshot
from glassllm.debug.timeline import counted
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, Words, clean, cut, row_width, segments, text_row

from .page import Page

SCREENS = ("debug", "train", "generate")
"""In the order of the header, and in which one key goes round."""
ALL_SCREENS = 80
"""Columns from which those that are not shown are named too."""


def header_row(name: str, snapshot: Snapshot | None, activity: str, width: int, palette: Palette) -> Row:
    """The debug screen's header."""
    left = left_words(name, "debug", width)
    if snapshot is None:
        return text_row(left, width, palette, "raised", [Span(f"{activity} ", "muted")])
    return facts_row(left, facts(snapshot, activity, is_narrow=width < 100), width, palette)


def left_words(name: str, screen: str, width: int) -> list[Span]:
    """The file's name and the screens, the one that is shown in bold and underlined."""
    words = [Span(f" {shown_name(name, width)}   ", "bright", bold=True)]
    for each in SCREENS:
        title = f" {each.capitalize()} "
        if each == screen:
            words.append(Span(title, "bright", bold=True, underline=True))
        elif width >= ALL_SCREENS:
            words.append(Span(title, "muted"))
        if width >= ALL_SCREENS and each != SCREENS[-1]:
            words.append(Span(" "))
    return words


def shown_name(name: str, width: int) -> str:
    return cut(clean(name), max(width // 4, 12), "tail")


def screen_at(name: str, screen: str, x: int, width: int) -> str | None:
    """The screen whose name stands at column `x`."""
    start = 0
    for word in left_words(name, screen, width):
        end = start + cell_len(word.text)
        if start <= x < end and word.text.strip().lower() in SCREENS and start > 0:
            return word.text.strip().lower()
        start = end
    return None


def facts_row(left: Words, found: list[list[Span]], width: int, palette: Palette) -> Row:
    """`left`, and at the right end as many facts as there is room for."""
    gap = "   " if width >= 120 else "  "
    room = width - row_width(segments(left, palette)) - 2
    shown: list[Span] = []
    for fact in found:
        spans = [*shown, *([Span(gap)] if shown else []), *fact]
        if sum(len(span.text) for span in spans) > room:
            break
        shown = spans
    return text_row(left, width, palette, "raised", [*shown, Span(" ")])


def facts(snapshot: Snapshot, activity: str, is_narrow: bool) -> list[list[Span]]:
    """What the header says, the indispensable first: what does not fit is left out from the end."""
    at, run = snapshot.position, snapshot.run
    here, total = counted(snapshot.tape, at)
    is_back = at.traversal > 0
    phase, color = ("backward", "bwd") if is_back else ("forward", "fwd")
    if at.traversal > 1:
        phase = f"backward #{at.traversal}"
    said = [[Span(f"{phase} ", color, bold=True), Span(f"{here}/{total}", "bright", bold=True)]]
    if activity:
        said.append([Span(activity, "muted")])
    if is_back:
        if run.clip_factor is not None:
            said.append(fact("clip", "none" if run.clip_factor == 1 else f"× {numbers.stat(run.clip_factor)}"))
        if not is_narrow:
            said.append(fact("visit", f"{at.place + 1}/{snapshot.tape.visit_count(at.traversal)}"))
    elif number := snapshot.tape.rows[snapshot.current].number:
        said.append(fact("node", f"{number}/{run.nodes}"))
    if run.loss is not None and (is_back or not is_narrow):
        said.append(fact("loss", numbers.unsigned(run.loss)))
    if not is_narrow:
        said.append(fact("grad", "tracked" if run.tracked else "not tracked"))
        said.append([Span(numbers.dtype(run.dtype))])
        if run.tokens:
            said.append([Span(f"{len(run.tokens)} token{'s' * (len(run.tokens) != 1)}")])
    return said


def fact(label: str, value: str) -> list[Span]:
    return [Span(f"{label} ", "muted"), Span(value)]


class Header(Page):
    """The header row; a click on a screen's name asks for it."""

    class Chosen(Message):
        """A screen was clicked."""

        def __init__(self, screen: str):
            super().__init__()
            self.screen = screen

    def __init__(self, palette: Palette, name: str, screen: str = "debug"):
        super().__init__(palette, "raised", id="header")
        self.file = name
        self.current = screen

    def on_click(self, event: events.Click) -> None:
        if found := screen_at(self.file, self.current, event.x, self.size.width):
            self.post_message(self.Chosen(found))

    def say(self, facts: list[list[Span]]) -> None:
        """Show these facts, the indispensable first."""
        width = self.size.width
        left = left_words(self.file, self.current, width)
        self.show([facts_row(left, facts, width, self.palette)])

    def draw(self, snapshot: Snapshot | None, activity: str = "") -> None:
        """Show what was run, the file or what of it, and where in it one is."""
        self.file = snapshot.run.name if snapshot is not None else self.file
        self.show([header_row(self.file, snapshot, activity, self.size.width, self.palette)])
