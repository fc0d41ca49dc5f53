"""The track: the whole timeline in one row. Forward at the left, the way back mirrored at the right of the bar."""

from textual import events

from glassllm.debug.snapshot import Snapshot, TapeView
from glassllm.debug.timeline import counted
from tui.draw.event_row import event_row, last_of_each, per_cell
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .chosen import RowChosen
from .page import Page


def track_row(snapshot: Snapshot, width: int, palette: Palette) -> Row:
    """One cell a moment, or as few moments a cell as fit; on the way back all of forward is done."""
    here, total = counted(snapshot.tape, snapshot.position)
    is_back = snapshot.position.traversal > 0
    each, half = scale(total, width)
    cell = (here - 1) // each
    forward, back = layers(snapshot.tape, total, each)
    line = [
        *event_row(forward, None if is_back else cell, half if is_back else cell, "fwd"),
        Span("┃", "bwd") if is_back else Span("│", "line"),
        *event_row(back, cell if is_back else None, cell if is_back else 0, "bwd"),
    ]
    margin = (width - 2 * half - 1) // 2
    return text_row([Span(" " * margin), *line], width, palette, "bg")


def layers(tape: TapeView, total: int, each: int) -> tuple[list[int | None], list[int | None]]:
    """Of each cell of either half the block it lies in; None where that is unknown."""
    ends = last_of_each(total, each)
    if not tape.events:
        return [None] * len(ends), [None] * len(ends)
    return [tape.events[end].layer for end in ends], [tape.events[total - 1 - end].layer for end in ends]


def scale(total: int, width: int) -> tuple[int, int]:
    """Moments a cell, and cells a half."""
    each = per_cell(total, (width - 1) // 2)
    return each, -(-total // each)


class Track(Page):
    """The track; a click asks for the moment clicked on."""

    def __init__(self, palette: Palette):
        super().__init__(palette, "bg", id="track")
        self._snapshot: Snapshot | None = None

    def draw(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.show([track_row(snapshot, self.size.width, self.palette)])

    def on_click(self, event: events.Click) -> None:
        if self._snapshot and (row := row_at(self._snapshot, event.x, self.size.width)) is not None:
            self.post_message(RowChosen(row))


def row_at(snapshot: Snapshot, x: int, width: int) -> int | None:
    """The row whose moment stands at column `x`; None outside the track."""
    tape = snapshot.tape
    total = len(tape.events) or len(tape.forward)
    each, half = scale(total, width)
    cell = x - (width - 2 * half - 1) // 2
    if cell == half or not 0 <= cell <= 2 * half:
        return None
    order = cell * each if cell < half else total - 1 - (cell - half - 1) * each
    order = min(max(order, 0), total - 1)
    return tape.events[order].row if tape.events else tape.forward[order]
