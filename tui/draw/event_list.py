"""The event list as lines: what is folded, what stands on each line, and the window of them that is shown."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from glassllm.debug.by_number import ByNumber
from glassllm.debug.snapshot import Event, Snapshot, TapeView
from glassllm.debug.timeline import event_at

from . import glyphs, numbers
from .palette import Palette
from .text import Row, Span, cut, text_row


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a folded run of blocks, the head of an open one, or one moment.

    `row` is the tensor whose state the line shows: of a fold the last event's. `layers` is empty for a moment.
    """

    row: int
    name: str
    depth: int = 0
    layers: range = range(0)
    events: int = 1
    is_open: bool = False


def lines_of(tape: TapeView, open_layers: frozenset[int]) -> Sequence[Line]:
    """All lines, blocks folded unless open; neighbours that are folded share a line.

    Where the model named no moments, every forward row has a line of its own, made when it is asked for.
    """
    if not tape.events:
        return NodeLines(tape)
    lines: list[Line] = []
    for layer, events in _by_layer(tape.events):
        if layer is None:
            lines += [Line(event.row, event.step) for event in events]
        elif layer in open_layers:
            lines.append(Line(events[-1].row, block_name(layer), 0, range(layer, layer + 1), len(events), True))
            lines += [Line(event.row, event.step, 1) for event in events]
        elif lines and lines[-1].layers and not lines[-1].is_open:
            lines[-1] = _joined(lines[-1], layer, events)
        else:
            lines.append(Line(events[-1].row, block_name(layer), 0, range(layer, layer + 1), len(events)))
    return lines


def block_name(layer: int) -> str:
    return f"blocks.{layer}"


class NodeLines(ByNumber[Line]):
    """A line per forward row, by number: nothing is stored, so a hundred thousand cost nothing."""

    def __init__(self, tape: TapeView):
        self.tape = tape

    def __len__(self) -> int:
        return len(self.tape.forward)

    def at(self, i: int) -> Line:
        row = self.tape.rows[self.tape.forward[i]]
        return Line(row.id, f"{row.name} {row.number}" if row.number else row.name)


def _by_layer(events: Sequence[Event]) -> list[tuple[int | None, list[Event]]]:
    return [(layer, list(run)) for layer, run in groupby(events, key=attrgetter("layer"))]


def _joined(fold: Line, layer: int, events: list[Event]) -> Line:
    layers = range(fold.layers.start, layer + 1)
    return Line(events[-1].row, f"blocks.{layers[0]}–{layer}", 0, layers, fold.events + len(events))


def line_of(tape: TapeView, lines: Sequence[Line], row: int) -> int:
    """The line that shows the row, or the last one before it; 0 where there is none."""
    if isinstance(lines, NodeLines):
        return _at_or_before(tape.forward, row)
    best = 0
    for i, line in enumerate(lines):
        if not line.is_open and line.row >= row:
            return i
        best = i if not line.is_open else best
    return best


def _at_or_before(forward: Sequence[int], row: int) -> int:
    return min(bisect_left(forward, row), len(forward) - 1)


def window(count: int, current: int, top: int, height: int) -> int:
    """The first line to show: moved only as far as keeps `current` inside the middle third."""
    third = height // 3
    top = min(top, current - third) if current - top < third else top
    top = max(top, current - (height - 1 - third)) if current - top > height - 1 - third else top
    return max(0, min(top, count - height))


def head_row(what: str, width: int, palette: Palette) -> Row:
    """The column heads, over lines that are events or ops."""
    indent = 4 if width >= 32 else 3
    words = [Span(" " * indent + what, "faint")]
    return text_row(words, width, palette, right=[Span("shape v ∂  ", "faint")])


def line_row(snapshot: Snapshot, line: Line, is_selected: bool, width: int, palette: Palette) -> Row:
    """One line: place marker, name, shape, value recorded, gradient's state, fault."""
    tape, at = snapshot.tape, snapshot.position
    row = tape.rows[line.row]
    is_current = not line.layers and _moment(snapshot) == line.row
    is_recorded = tape.is_recorded(line.row, at)
    bg = "select" if is_selected else "panel"
    fg = "bright" if is_selected else "text" if is_recorded else "faint"
    marker, marker_fg = _marker(snapshot, line, is_current, is_selected)
    is_wide = width >= 32
    indent = (2 if is_wide else 1) * line.depth + (1 if is_wide or not line.depth else 0)
    shape = "" if line.layers else numbers.shape(_shown_shape(row.array.shape, snapshot))
    room = width - 10 - len(shape) - indent
    name = cut(glyphs.marked(line.name, tape.staleness(line.row)), room, "tail")
    words = [
        Span("  "),
        Span(marker, marker_fg, bold=is_current),
        Span(" " * indent + name, fg, bold=is_selected),
    ]
    if line.layers and not line.is_open:
        words.append(Span(f" ×{line.events}", "muted"))
    if line.is_open:
        return text_row(words, width, palette, bg)
    glyph, glyph_fg = glyphs.gradient_glyph(tape.gradient_state(line.row, at))
    right = [
        Span(shape, "muted" if is_recorded or is_selected else "faint"),
        Span(" "),
        Span(glyphs.RECORDED if is_recorded else glyphs.NOT_YET, "muted" if is_recorded else "faint"),
        Span(" "),
        Span(glyph, glyph_fg),
        Span(" "),
        *_fault(tape, line.row, is_recorded),
    ]
    return text_row(words, width, palette, bg, right)


def _shown_shape(shape: tuple[int, ...], snapshot: Snapshot) -> tuple[int, ...]:
    """Without the batch of one that a run of tokens has."""
    return shape[1:] if snapshot.run.tokens and len(shape) > 1 and shape[0] == 1 else shape


def _marker(snapshot: Snapshot, line: Line, is_current: bool, is_selected: bool) -> tuple[str, str]:
    if is_current:
        return glyphs.BACKWARD if snapshot.position.traversal else glyphs.FORWARD, _time_color(snapshot)
    if line.is_open:
        return glyphs.OPEN, "muted"
    if line.layers:
        return glyphs.FOLDED, _time_color(snapshot) if _is_inside(snapshot, line.layers) else "muted"
    return (glyphs.SELECTED, "bright") if is_selected else (" ", "text")


def _time_color(snapshot: Snapshot) -> str:
    return "bwd" if snapshot.position.traversal else "fwd"


def _moment(snapshot: Snapshot) -> int:
    """The row of the moment that the position is in or on its way to."""
    order = event_at(snapshot.tape, snapshot.position)
    return snapshot.tape.events[order].row if order >= 0 else snapshot.current


def _is_inside(snapshot: Snapshot, layers: range) -> bool:
    """Whether the position is in one of these blocks."""
    return snapshot.tape.events[event_at(snapshot.tape, snapshot.position)].layer in layers


def _fault(tape: TapeView, row: int, is_recorded: bool) -> list[Span]:
    """The fault column: empty while all is well, or not yet counted."""
    health = tape.health(row) if is_recorded else None
    if health is None or not (health.nan or health.inf):
        return [Span(" ")]
    return [Span("×" if health.nan else "▲", "nanfg", bg="nan")]
