"""The graph as rows: chips and lines, or lanes and words, in the state that a snapshot gives them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from glassllm.debug.by_number import ByNumber
from glassllm.debug.snapshot import Snapshot
from tui.draw.glyphs import BACKWARD, FOLDED, FORWARD, NOT_YET, RECORDED, SELECTED, gradient_glyph, of_edges
from tui.draw.palette import Palette
from tui.draw.text import Row, clean, cut

from .cells import AHEAD, DONE, LIT, PART, Cell
from .items import Graph
from .layout import Layout
from .phrases import called, phrase
from .rails import Rails


class Piece(NamedTuple):
    """Text from a column on."""

    x: int
    text: str
    style: Style


def composed(pieces: Iterable[Piece], width: int, ground: Style) -> Row:
    """A row of `width` cells with the pieces laid on it, later ones over earlier ones, cropped at both ends."""
    signs = [" "] * width
    styles = [ground] * width
    for x, text, style in pieces:
        for sign in text:
            size = cell_len(sign)
            if 0 <= x <= width - size:
                signs[x : x + size] = [sign, ""][:size]
                styles[x : x + size] = [style] * size
            x += size
    row: Row = []
    start = 0
    for x in range(1, width + 1):
        if x == width or styles[x] is not styles[start]:
            row.append(Segment("".join(signs[start:x]), styles[start]))
            start = x
    return row


class Moment:
    """What a snapshot says of a graph: the state of each edge and item, looked up when it is drawn."""

    def __init__(self, graph: Graph, snapshot: Snapshot, palette: Palette):
        self.graph, self.snapshot, self.palette = graph, snapshot, palette
        self.tape, self.at = snapshot.tape, snapshot.position
        self.is_back = snapshot.position.traversal > 0
        self.current = graph.item_of(snapshot.current)
        self.selected = graph.item_of(snapshot.selection)
        self.direction = "bwd" if self.is_back else "fwd"
        self.states = EdgeStates(self)
        self._signs: dict[tuple[object, ...], tuple[str, Style]] = {}

    @property
    def group(self) -> str:
        """The name of the group that the selection is in, or its own."""
        item = None if self.selected is None else self.graph.items[self.selected]
        return "" if item is None else item.group.partition("@")[0] or item.name

    def is_recorded(self, item: int) -> bool:
        return self.tape.is_recorded(self.graph.items[item].boundary, self.at)

    def color_of(self, state: int) -> str:
        """The token of an edge's state."""
        if state == AHEAD:
            return "line"
        return "muted" if state == DONE else self.direction

    def lines(self, cells: Sequence[Cell], shift: int, bg: str = "panel") -> list[Piece]:
        return [Piece(cell.x + shift, *self._drawn(cell, bg)) for cell in cells]

    def _drawn(self, cell: Cell, bg: str) -> tuple[str, Style]:
        """The sign of a cell's lines and its style: found once for all cells that the same edges pass alike."""
        key = (*cell[1:], bg)
        if key not in self._signs:
            glyph, state = cell.glyph(self.states)
            self._signs[key] = glyph, self.palette.style(self.color_of(state), bg)
        return self._signs[key]


class EdgeStates(ByNumber[int]):
    """The state of each edge, each looked up once."""

    def __init__(self, moment: Moment):
        self._moment = moment
        self._known: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._moment.graph.edges)

    def at(self, e: int) -> int:
        if e not in self._known:
            self._known[e] = self._backward(e) if self._moment.is_back else self._forward(e)
        return self._known[e]

    def _forward(self, e: int) -> int:
        edges, moment = self._moment.graph.edges, self._moment
        if not any(moment.tape.is_recorded(consumer, moment.at) for consumer, _ in edges.some_uses(e)):
            return AHEAD
        return LIT if edges.targets[e] == moment.current else DONE

    def _backward(self, e: int) -> int:
        moment = self._moment
        uses = moment.graph.edges.some_uses(e)
        carried = sum(moment.tape.is_carried(consumer, slot, moment.at) for consumer, slot in uses)
        return AHEAD if not carried else LIT if carried == len(uses) else PART


# Chips in ranks


def layered_rows(layout: Layout, moment: Moment, left: int, top: int, width: int, height: int) -> list[Row]:
    """The window of `width` by `height` cells whose corner is at (left, top) of the layout."""
    ground = moment.palette.style("text", "panel")
    return [composed(_layered_line(layout, moment, y, -left), width, ground) for y in range(top, top + height)]


def _layered_line(layout: Layout, moment: Moment, y: int, shift: int) -> list[Piece]:
    if not 0 <= y < layout.height:
        return []
    pieces = moment.lines(layout.rows[y], shift)
    for item in layout.lines.get(y, ()):
        pieces += _chip(layout, moment, item, shift)
    return pieces


def _chip(layout: Layout, moment: Moment, i: int, shift: int) -> list[Piece]:
    words = chip_words(layout, moment, i)
    x = layout.chips[i][0] - sum(cell_len(text) for text, _ in words) // 2 + shift
    pieces = []
    if i == moment.selected != moment.current:
        pieces.append(Piece(x - 2, f"{SELECTED} ", moment.palette.style("bright", "panel")))
    for text, style in words:
        pieces.append(Piece(x, text, style))
        x += cell_len(text)
    return pieces


def chip_words(layout: Layout, moment: Moment, i: int) -> list[tuple[str, Style]]:
    """A chip's text in pieces with their styles; behind the name, once there are gradients, how far its own is."""
    item, label, style = moment.graph.items[i], clean(layout.labels[i]), moment.palette.style
    is_current = i == moment.current
    bg = moment.direction if is_current else "raised"
    name = "bg" if is_current else "text" if moment.is_recorded(i) else "faint"
    side = name if is_current or name == "faint" else "muted"
    before, behind = (" ", " ") if is_current else moment.palette.marks.chip
    edge = name if before == " " else "faint"
    words = [(before, style(edge, bg))]
    if item.kind == "group":
        fold, _, rest = label.partition(" ")
        group, _, count = rest.rpartition(" ")
        words += [
            (f"{fold} ", style(side, bg)),
            (group, style(name, bg, is_current)),
            (f" {count}", style(side, bg)),
        ]
    else:
        words.append((label, style(name, bg, is_current)))
    if moment.is_back:
        gradient = moment.tape.gradient_state(item.boundary, moment.at)
        sign, fg = gradient_glyph(gradient)
        counted = f" {of_edges(gradient)}" if sign == "◐" and layout.roomy[i] else ""
        words.append((f" {sign}{counted}", style("bg" if is_current else fg, bg)))
    return [*words, (behind, style(edge, bg))]


# One line an item


MARGIN = 4
"""Columns before the first lane."""
WORDS = 20
"""Columns that lanes leave to the names and the gradients' signs."""


def rails_rows(drawn: Rails, moment: Moment, start: int, stop: int, width: int) -> list[Row]:
    """The lines of the items from `start` to `stop`."""
    step = 3 if 3 * drawn.lanes <= width // 3 else 2
    room = max(width - MARGIN - WORDS, 8)  # for lanes; those farther right are not shown
    lanes = min(step * drawn.lanes, room)
    return [
        _rails_line(drawn, moment, item, cells, (step, lanes), width)
        for item, cells in zip(range(start, stop), drawn.cells(start, stop, step, lanes), strict=True)
    ]


def _rails_line(
    drawn: Rails, moment: Moment, i: int, cells: Sequence[Cell], lanes: tuple[int, int], width: int
) -> Row:
    item, style = moment.graph.items[i], moment.palette.style
    is_selected, is_recorded = i == moment.selected, moment.is_recorded(i)
    bg = "select" if is_selected else "panel"
    step, end = lanes
    pieces = moment.lines([cell for cell in cells if cell.x < end], MARGIN, bg)
    sign, fg = _node_sign(moment, i)
    pieces.append(Piece(MARGIN + min(step * drawn.lane[i], end), sign, style(fg, bg, i == moment.current)))
    name_at, name_width, sign_at = MARGIN + end + 2, drawn.name_width, width - 3
    room = sign_at - 1 - name_at
    name = "bright" if is_selected else "text" if is_recorded else "faint"
    has_phrase = room >= name_width + 9
    words = cut(clean(called(item, moment.tape)), name_width if has_phrase else room, "tail")
    pieces.append(Piece(name_at, words, style(name, bg, is_selected)))
    if has_phrase:
        words = cut(moment.palette.spell(clean(phrase(item, moment.tape))), room - name_width - 1)
        pieces.append(Piece(name_at + name_width + 1, words, style("muted" if is_recorded else "faint", bg)))
    state, fg = gradient_glyph(moment.tape.gradient_state(item.boundary, moment.at))
    pieces.append(Piece(sign_at, state, style(fg, bg)))
    return composed(pieces, width, style("text", bg))


def _node_sign(moment: Moment, i: int) -> tuple[str, str]:
    """The sign on the lane, and its colour."""
    if i == moment.current:
        return (BACKWARD, "bwd") if moment.is_back else (FORWARD, "fwd")
    if moment.graph.items[i].kind == "group":
        return FOLDED, "text" if moment.is_recorded(i) else "faint"
    if i == moment.selected:
        return SELECTED, "bright"
    return (RECORDED, "text") if moment.is_recorded(i) else (NOT_YET, "faint")


def chip_at(picture: Layout | Rails, x: int, y: int) -> int | None:
    """The item whose chip, or line, is at a cell of the picture."""
    if not isinstance(picture, Layout):
        return y if 0 <= y < len(picture.graph.items) else None
    for i in picture.lines.get(y, ()):
        first = picture.chips[i][0] - picture.sizes[i].signed // 2
        if first <= x < first + picture.sizes[i].signed:
            return i
    return None
