"""The track: the whole timeline in one row. Forward at the left, the way back mirrored at the right of the bar."""

from collections.abc import Sequence
from itertools import groupby

from textual import events
from textual.message import Message

from glassllm.debug.snapshot import Snapshot
from glassllm.debug.timeline import counted
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .page import Page


def track_row(snapshot: Snapshot, width: int, palette: Palette) -> Row:
    """One cell a moment, or as few moments a cell as fit: heavy where done, light ahead, `▶` here."""
    here, total = counted(snapshot.tape, snapshot.position)
    is_back = snapshot.position.traversal > 0
    per_cell, half = scale(total, width)
    last = (here - 1) // per_cell
    forward = cells(half, None if is_back else last, half if is_back else last, "fwd")
    back = cells(half, last if is_back else None, last if is_back else -1, "bwd")
    if events := snapshot.tape.events:
        ends = [min((cell + 1) * per_cell, total) for cell in range(half)]
        number(forward, [events[end - 1].layer for end in ends])
        number(back, [events[total - end].layer for end in ends])
    bar = Span("┃", "bwd") if is_back else Span("│", "line")
    margin = (width - 2 * half - 1) // 2
    return text_row([Span(" " * margin), *joined([*forward, bar, *back])], width, palette, "bg")


def scale(total: int, width: int) -> tuple[int, int]:
    """Moments a cell, and cells a half."""
    room = max((width - 1) // 2, 1)
    per_cell = max(-(-total // room), 1)
    return per_cell, -(-total // per_cell)


def cells(count: int, here: int | None, done: int, color: str) -> list[Span]:
    """One half: `done` cells heavy in the direction's colour, then light ones, and `▶` at `here`."""
    heavy, light = Span("━", color), Span("─", "line")
    return [Span("▶", "bright", bold=True) if i == here else heavy if i < done else light for i in range(count)]


def label(half: list[Span], start: int, text: str) -> None:
    """Write ` 0 ` over the cells at a block's start; the place marker stays visible."""
    for i, sign in enumerate(f" {text} "):
        at = start + i
        if at < len(half) and half[at].text != "▶":
            fg = half[at].fg if half[at].text == "━" else "faint"
            half[at] = Span(sign, fg if sign.strip() else "text")


def joined(spans: list[Span]) -> list[Span]:
    """Neighbours in one style as one span."""
    runs = (list(run) for _, run in groupby(spans, key=lambda span: span[1:]))
    return [run[0]._replace(text="".join(span.text for span in run)) for run in runs]


def number(half: list[Span], layers: Sequence[int | None]) -> None:
    """Number the blocks where they start, by the layer at each cell's end; of labels that overlap the first."""
    before, free = None, 0
    for cell, layer in enumerate(layers):
        if layer is not None and layer != before and cell >= free:
            label(half, cell, str(layer))
            free = cell + len(f" {layer} ")
        before = layer


class Track(Page):
    """The track; a click asks for the moment clicked on."""

    class Clicked(Message):
        """The row whose moment was clicked."""

        def __init__(self, row: int):
            super().__init__()
            self.row = row

    def __init__(self, palette: Palette):
        super().__init__(palette, "bg", id="track")
        self._snapshot: Snapshot | None = None

    def draw(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.show([track_row(snapshot, self.size.width, self.palette)])

    def on_click(self, event: events.Click) -> None:
        if self._snapshot and (row := row_at(self._snapshot, event.x, self.size.width)) is not None:
            self.post_message(self.Clicked(row))


def row_at(snapshot: Snapshot, x: int, width: int) -> int | None:
    """The row whose moment stands at column `x`; None outside the track."""
    tape = snapshot.tape
    total = len(tape.events) or len(tape.forward)
    per_cell, half = scale(total, width)
    cell = x - (width - 2 * half - 1) // 2
    if cell == half or not 0 <= cell <= 2 * half:
        return None
    order = cell * per_cell if cell < half else total - 1 - (cell - half - 1) * per_cell
    order = min(max(order, 0), total - 1)
    return tape.events[order].row if tape.events else tape.forward[order]
