"""The first row: which file, which screen, and where in the run."""

from glassllm.debug.snapshot import Snapshot
from glassllm.debug.timeline import counted
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, Words, row_width, segments, text_row

from .page import Page


def header_row(name: str, snapshot: Snapshot | None, activity: str, width: int, palette: Palette) -> Row:
    """`name` and the screens at the left; at the right the position and as many facts as there is room for."""
    left: Words = [Span(f" {name}   ", "bright", bold=True), Span(" Debug ", "bright", bold=True, underline=True)]
    if snapshot is None:
        return text_row(left, width, palette, "raised", [Span(f"{activity} ", "muted")])
    gap = "   " if width >= 120 else "  "
    room = width - row_width(segments(left, palette)) - 2
    shown: list[Span] = []
    for fact in facts(snapshot, activity, is_narrow=width < 100):
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
        if not is_narrow:
            said.append(fact("visit", f"{at.place + 1}/{snapshot.tape.visit_count(at.traversal)}"))
    elif number := snapshot.tape.rows[snapshot.current].number:
        said.append(fact("node", f"{number}/{run.nodes}"))
    if run.loss is not None and (is_back or not is_narrow):
        said.append(fact("loss", numbers.signed(f"{run.loss:.4f}")))
    if not is_narrow:
        said.append(fact("grad", "tracked" if run.tracked else "not tracked"))
        said.append([Span(numbers.dtype(run.dtype))])
        if run.tokens:
            said.append([Span(f"{len(run.tokens)} token{'s' * (len(run.tokens) != 1)}")])
    return said


def fact(label: str, value: str) -> list[Span]:
    return [Span(f"{label} ", "muted"), Span(value)]


class Header(Page):
    """The header row."""

    def __init__(self, palette: Palette, name: str):
        super().__init__(palette, "raised", id="header")
        self.file = name

    def draw(self, snapshot: Snapshot | None, activity: str = "") -> None:
        self.show([header_row(self.file, snapshot, activity, self.size.width, self.palette)])
