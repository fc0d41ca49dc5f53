"""One map with everything that belongs to it: labels, cursor marks, the cursor's row as numbers, thumbnails."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from rich.segment import Segment

from glassllm.debug.snapshot import Focus, Health
from tui.draw.canvas import Canvas
from tui.draw.cells import CELL, Numbers, Size
from tui.draw.formats import USUAL, Format
from tui.draw.heatmap import SIZES, Fit, dotted_rows, fit_plane, map_rows, shown_codes
from tui.draw.numbers import Array, row_numbers
from tui.draw.palette import Palette
from tui.draw.plane import Cell, PanelState, Plane, plane_of, slices
from tui.draw.scale import Codes, Scale
from tui.draw.tensor_words import axis_label, axis_name, has_labels
from tui.draw.text import Row, Span, cut, pad, segments

LABELS: dict[Size, int] = {"large": 2, "medium": 1, "small": 0}  # lines above the map
NUMBERS: dict[Size, int] = {"large": 1, "medium": 0, "small": 2}  # lines under it


@dataclass(frozen=True, slots=True)
class Shown:
    """One array of the selected tensor. Where there is no number yet, `why_not` says so and `array` is all 0."""

    name: str
    array: Array
    masked: Array | None
    scale: Scale
    health: Health | None = None
    why_not: str = ""
    note: str = ""
    """What the numbers are not: `1 of 2 so far, not final`."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where on the page a plane is drawn, for the mouse. `cell` None: a map; else a thumbnail of that slice."""

    x: int
    y: int
    fit: Fit
    plane: Plane
    cell: Cell | None = None

    def at(self, x: int, y: int) -> Cell | None:
        """The tensor's cell drawn at a position of the page, None outside."""
        x, y = x - self.x, y - self.y
        if not (0 <= x < self.fit.width and 0 <= y < self.fit.lines):
            return None
        return self.cell or self.plane.at(*self.fit.at(x, y, self.plane.row, self.plane.column))


def label_width(focus: Focus, plane: Plane, wide: bool) -> int:
    """Cells for the row labels: 6, or on a narrow page as few as the longest needs and a factor fits in."""
    rows = plane.values.shape[0]
    if wide:
        longest = 6
    elif plane.wrap:
        longest = len(str(plane.shape[0]))
    elif has_labels(focus, plane.rows):
        longest = max((len(axis_label(focus, plane.rows, i)) for i in range(min(rows, 512))), default=1)
    else:
        longest = len(str(max(rows - 1, 0)))
    return max(5, min(6, longest))


def row_label(focus: Focus, plane: Plane, row: int) -> str:
    """A wrapped row is named by the index of its first value."""
    return str(row * plane.wrap) if plane.wrap else axis_label(focus, plane.rows, row)


def draw_map(
    canvas: Canvas,
    x: int,
    y: int,
    labels: int,
    focus: Focus,
    shown: Shown,
    plane: Plane,
    fit: Fit,
    accent: str,
    how: Format = USUAL,
) -> Codes | None:
    """The map with its row labels; the map itself begins `labels` + 1 cells to the right of x."""
    _row_labels(canvas, x, y, labels, focus, plane, fit, accent)
    left = x + labels + 1
    if shown.why_not:
        width = min(max(fit.width, len(shown.why_not) + 4), canvas.width - left - 1)
        canvas.block(left, y, dotted_rows(width, fit.lines, shown.why_not, canvas.palette), width)
        return None
    codes = shown_codes(plane, fit, shown.scale, canvas.palette)
    cursor = fit.place(plane.row, plane.column)
    numbers = cell_numbers(plane, how)[0] if fit.size == "large" and canvas.palette.is_flat else None
    rows = map_rows(codes, fit, canvas.palette, shown.scale.kind, cursor, numbers)
    canvas.block(left, y, rows, fit.width)
    return codes


def sizes_for(how: Format, palette: Palette) -> tuple[Size, ...]:
    """Where no ground is painted, large cells have numbers in them: a form that never fits gets none of them."""
    return ("medium", "small") if palette.is_flat and how.kind == "hex" else SIZES


def cell_numbers(plane: Plane, how: Format = USUAL) -> tuple[Numbers, str]:
    """Every cell as a short text, empty where it is hidden, and the factor that all share.

    A cell has room for two digits and a sign: more are not written in it, whatever was asked for.
    """
    rows, columns = plane.values.shape
    hidden = [plane.hidden(row) for row in range(rows)]
    live = np.where(hidden, 0, plane.values)
    texts, factor = row_numbers(live.ravel(), min(how.digits, 2) if how.kind == "digits" else 2)
    table = [
        ["" if hidden[row][column] else texts[row * columns + column] for column in range(columns)]
        for row in range(rows)
    ]
    return table, factor


def _row_labels(
    canvas: Canvas, x: int, y: int, width: int, focus: Focus, plane: Plane, fit: Fit, accent: str
) -> None:
    cursor = fit.place(plane.row, plane.column)[0]
    for shown in range(0, fit.shown[0], fit.per_line):
        is_cursor = shown <= cursor < shown + fit.per_line
        row = plane.row if is_cursor else (shown + fit.first[0]) * fit.pool[0]
        label = _label(row_label(focus, plane, row), width, accent if is_cursor else "", canvas.palette)
        canvas.put(x, y + fit.line(shown), label)


@lru_cache(1 << 10)
def _label(text: str, width: int, accent: str, palette: Palette) -> Row:
    """A row's label; with an accent it is the cursor's, and marked."""
    label = Span(pad(text, width, "right"), "bright" if accent else "muted", bold=bool(accent))
    return segments([label, Span(palette.marks.row, accent)] if accent else [label], palette)


def draw_column_labels(canvas: Canvas, x: int, y: int, focus: Focus, plane: Plane, fit: Fit) -> None:
    """Above large cells each name, staggered over two lines; above medium ones a sign at the cursor's column."""
    across = CELL[fit.size][0]
    if fit.size == "medium":
        canvas.words(x + across * plane.column, y, [Span(canvas.palette.marks.column, "bright")])
    if fit.size != "large":
        return
    named = not plane.wrap and has_labels(focus, plane.columns)
    for column in range(fit.shown[1]):
        text = axis_label(focus, plane.columns, column) if named else str(column)
        is_cursor = column == plane.column
        word = Span(cut(text, 7 if named else 3), "bright" if is_cursor else "muted", bold=is_cursor)
        canvas.words(x + across * column, y + (column % 2 if named else 1), [word])


def draw_axis(canvas: Canvas, x: int, y: int, focus: Focus, plane: Plane, fit: Fit) -> None:
    """Under small cells: `0 channel    ▴ 17    32    48    63`, the cursor's column bright."""
    columns = plane.values.shape[1]
    at = fit.place(plane.row, plane.column)[1]
    start = fit.first[1] * fit.pool[1]
    name = "" if plane.wrap else f" {axis_name(focus, plane.columns)}"
    sign = canvas.palette.marks.below
    mark = f"{sign} {plane.column}"
    at_x = at if at + len(mark) <= fit.width else max(0, at + 1 - len(mark))
    if at_x != at:
        mark = f"{plane.column} {sign}"
    canvas.words(x + at_x, y, [Span(mark, "bright", bold=True)])
    taken = [(at_x - 1, at_x + len(mark) + 1)]
    last = min(columns, (fit.first[1] + fit.shown[1]) * fit.pool[1]) - 1
    middle = fit.shown[1] // 2
    ticks = [(0, f"{start}{name}"), (fit.width - len(str(last)), str(last)), (0, str(start))]
    ticks += [
        (place, str((place + fit.first[1]) * fit.pool[1])) for place in (middle, middle * 3 // 2, middle // 2)
    ]
    for place, text in ticks:
        if place >= 0 and all(place + len(text) < a or place >= b for a, b in taken):
            canvas.words(x + place, y, [Span(text, "muted")])
            taken.append((place - 1, place + len(text) + 1))


def draw_thumbnails(
    canvas: Canvas, x: int, y: int, width: int, height: int, shown: Shown, state: PanelState, accent: str
) -> list[Spot]:
    """All slices as small maps under each other, the chosen one with a bar; those around it if not all fit."""
    plane = plane_of(shown.array, shown.masked, state)
    each = slices(plane)
    rows, columns = plane.values.shape
    pool = max(-(-columns // (width - 2)), 1)
    while len(each) * (-(-rows // (2 * pool)) + 1) - 1 > height and rows > 4 * pool:
        pool += 1
    lines = -(-rows // (2 * pool))
    fit_here = max(1, (height + 1) // (lines + 1))
    here = each.index(plane.cell)
    first = min(here // fit_here * fit_here, max(0, len(each) - fit_here))
    spots = []
    for i, cell in enumerate(each[first : first + fit_here]):
        top = y + i * (lines + 1)
        spots.append(
            _thumbnail(canvas, x, top, shown, replace(state, cell=cell), pool, cell == plane.cell, accent)
        )
        number = Span(f"{first + i + 1}", "bright" if cell == plane.cell else "muted", bold=cell == plane.cell)
        canvas.words_right(x + 1, top, [number])
    return spots


def _thumbnail(
    canvas: Canvas, x: int, y: int, shown: Shown, state: PanelState, pool: int, chosen: bool, accent: str
) -> Spot:
    """One slice from column x + 2 on, its bar at x + 1; where cells can't be stacked, they are pooled."""
    plane = plane_of(shown.array, shown.masked, state)
    rows, columns = plane.values.shape
    stack = canvas.palette.stack
    pools = (pool * 2 // stack, pool)
    fit = Fit("small", pools, (0, 0), (-(-rows // pools[0]), -(-columns // pool)), stack)
    codes = shown_codes(plane, fit, shown.scale, canvas.palette)
    canvas.block(x + 2, y, map_rows(codes, fit, canvas.palette, shown.scale.kind), fit.width)
    if chosen:
        bar = [Segment("▌", canvas.palette.style(accent))]
        canvas.block(x + 1, y, [bar] * fit.lines)
    return Spot(x + 2, y, fit, plane, state.cell)


def draw_thumbnail_strip(
    canvas: Canvas, x: int, y: int, width: int, height: int, shown: Shown, state: PanelState, accent: str
) -> list[Spot]:
    """The other slices beside each other, as many as there is room for, the next ones first."""
    plane = plane_of(shown.array, shown.masked, state)
    rows, columns = plane.values.shape
    each = slices(plane)
    if len(each) < 2 or columns + 2 > width or -(-rows // 2) > height:
        return []
    here = each.index(plane.cell)
    room = min(len(each) - 1, (width + 1) // (columns + 3))
    chosen = sorted((here + 1 + i) % len(each) for i in range(room))
    gap = min(6, (width - room * (columns + 2)) // max(room - 1, 1))
    spots = []
    for i, index in enumerate(chosen):
        left = x + i * (columns + 2 + gap)
        canvas.words(left, y, [Span(str(index + 1), "muted")])
        spots.append(_thumbnail(canvas, left, y, shown, replace(state, cell=each[index]), 1, False, accent))
    return spots


def wrap_for(array: Array, width: int, height: int, stack: int = 2, sizes: Sequence[Size] = SIZES) -> int:
    """The row length for a vector: the largest cells for which it fits, in rows of a power of two."""
    for size in sizes:
        across, down = CELL[size]
        room = max(1, width // across)
        wrap = 1 << (min(room, 64).bit_length() - 1)
        lines = -(-array.size // wrap)
        if (-(-lines // stack) if size == "small" else lines * down) <= height:
            return wrap
    return 1 << (min(max(width, 1), 64).bit_length() - 1)


def fit_shown(
    plane: Plane, width: int, height: int, wide: bool, stack: int = 2, sizes: Sequence[Size] = SIZES
) -> Fit:
    """The fit that leaves room for labels above and numbers below; a narrow page has numbers under no map."""
    around: dict[Size, int] = {
        size: LABELS[size] * (wide or size == "large") + (NUMBERS[size] if wide else size == "small")
        for size in SIZES
    }
    return fit_plane(plane, width, height, stack, sizes, around)
