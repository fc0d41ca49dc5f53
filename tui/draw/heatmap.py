"""Heatmaps: codes to coloured cells, at one of three sizes.

Large is 4 columns by 2 rows a cell, medium 2 by 1, small a half-block: 1 column by half a row, so every cell is
square. A map too big for small cells is pooled, and beyond that a page of it is shown, the one with the cursor.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from tui.draw import scale as codes_of
from tui.draw.palette import Palette, Ramp, paint
from tui.draw.plane import Plane
from tui.draw.scale import Codes, Scale
from tui.draw.text import Row, blank

Size = Literal["large", "medium", "small"]
CELL: dict[Size, tuple[int, int]] = {"large": (4, 2), "medium": (2, 1), "small": (1, 1)}  # columns, lines
SIZES: tuple[Size, ...] = ("large", "medium", "small")
NO_LINES: dict[Size, int] = {"large": 0, "medium": 0, "small": 0}
SMALL_FROM = 64  # columns from which a map has small cells however wide the page
MAX_POOL = 32  # cells pooled along an axis before a map is paged instead
GLYPHS = ("×", "▲", "▼", "·", "·", "·", " ")  # in the order of the special codes


@dataclass(frozen=True, slots=True)
class Fit:
    """How a plane lies in its area: cell size, cells pooled into one, and the pooled cells shown."""

    size: Size
    pool: tuple[int, int]
    first: tuple[int, int]
    shown: tuple[int, int]

    @property
    def width(self) -> int:
        return self.shown[1] * CELL[self.size][0]

    @property
    def lines(self) -> int:
        return -(-self.shown[0] // 2) if self.size == "small" else self.shown[0] * CELL[self.size][1]

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Where a cell of the plane is among the shown ones."""
        return row // self.pool[0] - self.first[0], column // self.pool[1] - self.first[1]

    def at(self, x: int, y: int, row: int, column: int) -> tuple[int, int]:
        """The plane's row and column drawn at a position inside the map.

        Where several cells are drawn in one place, the one given is preferred if it is among them.
        """
        across, down = CELL[self.size]
        rows = self.pool[0] * (2 if self.size == "small" else 1)
        top = y * rows + self.first[0] * self.pool[0] if self.size == "small" else y // down + self.first[0]
        left = (x // across + self.first[1]) * self.pool[1]
        return (
            row if top <= row < top + rows else top,
            column if left <= column < left + self.pool[1] else left,
        )


def fit_plane(
    plane: Plane, width: int, height: int, sizes: Sequence[Size] = SIZES, around: Mapping[Size, int] = NO_LINES
) -> Fit:
    """The largest cells with which the plane fits into width×height, else pooled and paged small ones.

    `around` says how many of the lines are needed for labels at each size.
    """
    rows, columns = plane.values.shape
    if columns < SMALL_FROM:
        for size in sizes:
            across, down = CELL[size]
            if size != "small" and columns * across <= width and rows * down + around[size] <= height:
                return Fit(size, (1, 1), (0, 0), (rows, columns))
    lines = max(1, height - around["small"])
    pool_rows, first_row, shown_rows = _page(rows, 2 * lines, plane.row, 1 if plane.wrap else MAX_POOL)
    pool_columns, first_column, shown_columns = _page(columns, max(1, width), plane.column, MAX_POOL)
    return Fit("small", (pool_rows, pool_columns), (first_row, first_column), (shown_rows, shown_columns))


def _page(cells: int, room: int, cursor: int, most: int) -> tuple[int, int, int]:
    """Cells pooled into one, first pooled cell and pooled cells shown, of `cells` in `room`."""
    pool = min(most, max(1, -(-cells // room)))
    pooled = -(-cells // pool)
    if pooled <= room:
        return pool, 0, pooled
    first = min(cursor // pool // room * room, pooled - room)
    return pool, first, room


def shown_codes(plane: Plane, fit: Fit, scale: Scale, palette: Palette) -> Codes:
    """The codes of the cells that are shown; nothing else is computed."""
    window = tuple(
        slice(first * pool, (first + shown) * pool)
        for first, shown, pool in zip(fit.first, fit.shown, fit.pool, strict=True)
    )
    hidden = None if plane.masked is None else plane.masked[window]
    outside = None if plane.outside is None else plane.outside[window]
    values, hidden = codes_of.pool(plane.values[window], hidden, *fit.pool)
    return codes_of.encode(values, hidden, scale, levels(palette, scale.kind), outside)


def levels(palette: Palette, kind: Ramp) -> int:
    return len(palette.ramp(kind))


def map_rows(
    codes: Codes, fit: Fit, palette: Palette, kind: Ramp, cursor: tuple[int, int] | None = None
) -> list[Row]:
    """The map as rows of exactly `fit.width` cells. Small cells take no cursor mark."""
    if fit.size == "small":
        return small_rows(codes.code, palette, kind)
    rows: list[Row] = []
    for i, (code, beyond) in enumerate(zip(codes.code.tolist(), codes.beyond.tolist(), strict=True)):
        at = cursor[1] if cursor and cursor[0] == i else -1
        for line in range(CELL[fit.size][1]):
            rows.append(_joined(_cell(palette, kind, fit.size, line, c, b, j == at)
                                for j, (c, b) in enumerate(zip(code, beyond, strict=True))))  # fmt: skip
    return rows


@lru_cache(1 << 14)
def _cell(palette: Palette, kind: Ramp, size: Size, line: int, code: int, beyond: int, is_cursor: bool) -> Segment:
    """One line of one cell: glyph, mark beyond the scale, and the cursor's brackets."""
    special = code - levels(palette, kind)
    text = list(" " * CELL[size][0])
    if line == 0:
        if special >= 0:
            text[size == "large"] = GLYPHS[special]
        elif beyond:
            text[-1] = "+" if beyond > 0 else "-"
    if is_cursor:
        brackets = "[]" if size == "medium" else ("┏┓", "┗┛")[line]
        text[0], text[-1] = brackets[0], brackets[1]
    return Segment("".join(text), _cell_style(palette, kind, code, is_cursor))


def _cell_style(palette: Palette, kind: Ramp, code: int, is_cursor: bool) -> Style:
    special = code - levels(palette, kind)
    if 0 <= special <= codes_of.MINUS_INF:
        return palette.nan
    if special > codes_of.MINUS_INF:
        return palette.style("bright" if is_cursor else "line", "panel", bold=is_cursor)
    return palette.on(palette.ramp(kind)[code], bold=is_cursor)


def _joined(pieces: Iterable[Segment]) -> Row:
    """Neighbours in one style become one segment."""
    row: Row = []
    for piece in pieces:
        if row and row[-1].style is piece.style:
            row[-1] = Segment(row[-1].text + piece.text, piece.style)
        else:
            row.append(piece)
    return row


def small_rows(code: NDArray[np.uint8], palette: Palette, kind: Ramp) -> list[Row]:
    """Two rows of codes a line, as half-blocks."""
    if code.shape[0] % 2:
        code = np.pad(code, ((0, 1), (0, 0)), constant_values=levels(palette, kind) + codes_of.OUTSIDE)
    pairs = code[0::2].astype(np.intp) * (levels(palette, kind) + codes_of.SPECIAL) + code[1::2]
    table = _half_blocks(palette, kind)
    for pair in np.unique(pairs).tolist():
        if table[pair] is None:
            table[pair] = _half_block(palette, kind, *divmod(pair, levels(palette, kind) + codes_of.SPECIAL))
    return [_runs(line, table) for line in pairs]


def _runs(pairs: NDArray[np.intp], table: NDArray[np.object_]) -> Row:
    """One line of pairs as segments, equal neighbours as one."""
    if not pairs.size:
        return []
    starts = np.concatenate(([0], np.flatnonzero(pairs[1:] != pairs[:-1]) + 1))
    lengths = np.diff(np.append(starts, pairs.size)).tolist()
    pieces: Row = table[pairs[starts]].tolist()
    return [piece if n == 1 else Segment(piece.text * n, piece.style)
            for piece, n in zip(pieces, lengths, strict=True)]  # fmt: skip


@cache
def _half_blocks(palette: Palette, kind: Ramp) -> NDArray[np.object_]:
    """One segment for every pair of codes, upper × all + lower; made when first needed, None until then."""
    return np.full((levels(palette, kind) + codes_of.SPECIAL) ** 2, None, object)


def _half_block(palette: Palette, kind: Ramp, upper: int, lower: int) -> Segment:
    """Two cells in one character; where one is NaN or Inf, it has the whole character."""
    for code in (upper, lower):
        special = code - levels(palette, kind)
        if 0 <= special <= codes_of.MINUS_INF:
            return Segment(GLYPHS[special], palette.nan)
    above, below = _ground(palette, kind, upper), _ground(palette, kind, lower)
    if above == below:
        return Segment(" ", paint(palette.color("text"), above))
    return Segment("▀", paint(above, below))


def _ground(palette: Palette, kind: Ramp, code: int) -> Color:
    ramp = palette.ramp(kind)
    return ramp[code] if code < len(ramp) else palette.color("panel")


def dotted_rows(width: int, lines: int, words: str, palette: Palette) -> list[Row]:
    """A field without numbers, and in its middle the words that say why, if they fit."""
    rows = [_dots(0, width, y, palette) for y in range(lines)]
    if rows and 0 < len(words) <= width:
        y = (lines - 1) // 2
        start = (width - len(words)) // 2
        end = start + len(words)
        space_before, space_after = min(start, 2), min(width - end, 2)
        rows[y] = [
            *_dots(0, start - space_before, y, palette),
            *blank(space_before, palette),
            Segment(words, palette.style("muted")),
            *blank(space_after, palette),
            *_dots(end + space_after, width - end - space_after, y, palette),
        ]
    return rows


def _dots(x: int, width: int, y: int, palette: Palette) -> Row:
    """`width` cells of the dotted field from column x of line y."""
    text = "".join(" ·"[(x + i + y) % 2] for i in range(width))
    return [Segment(text, palette.style("line"))] if text else []
