"""Heatmaps: how large the cells of a plane can be, which of them are shown, and the rows they make.

Large is 4 columns by 2 lines a cell, medium 2 by 1, small 1 column by a line or, stacked as half-blocks, by half
of one. A map too big for small cells is pooled, and beyond that a page is shown, the one with the cursor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.segment import Segment

from tui.draw import scale as codes_of
from tui.draw.cells import CELL, Numbers, Size, levels, shaded_rows, small_rows, tinted_rows
from tui.draw.colors import Ramp
from tui.draw.palette import Palette
from tui.draw.plane import Plane
from tui.draw.scale import Codes, Scale
from tui.draw.text import Row, blank

SIZES: tuple[Size, ...] = ("large", "medium", "small")
NO_LINES: dict[Size, int] = {"large": 0, "medium": 0, "small": 0}
SMALL_FROM = 64  # columns from which a map has small cells however wide the page
MAX_POOL = 32  # cells pooled along an axis before a map is paged instead


@dataclass(frozen=True, slots=True)
class Fit:
    """How a plane lies in its area: cell size, cells pooled into one, and the pooled cells shown.

    `stack` rows of small cells make one line.
    """

    size: Size
    pool: tuple[int, int]
    first: tuple[int, int]
    shown: tuple[int, int]
    stack: int = 2

    @property
    def width(self) -> int:
        return self.shown[1] * CELL[self.size][0]

    @property
    def lines(self) -> int:
        return -(-self.shown[0] // self.per_line) * CELL[self.size][1]

    @property
    def per_line(self) -> int:
        """How many shown rows begin on one line."""
        return self.stack if self.size == "small" else 1

    def line(self, row: int) -> int:
        """The line on which a shown row begins."""
        return row // self.per_line * CELL[self.size][1]

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Where a cell of the plane is among the shown ones."""
        return row // self.pool[0] - self.first[0], column // self.pool[1] - self.first[1]

    def at(self, x: int, y: int, row: int, column: int) -> tuple[int, int]:
        """The plane's row and column drawn at a position inside the map.

        Where several cells are drawn in one place, the one given is preferred if it is among them.
        """
        across, down = CELL[self.size]
        rows = self.pool[0] * self.per_line
        top = y // down * rows + self.first[0] * self.pool[0]
        left = (x // across + self.first[1]) * self.pool[1]
        return (
            row if top <= row < top + rows else top,
            column if left <= column < left + self.pool[1] else left,
        )


def fit_plane(
    plane: Plane,
    width: int,
    height: int,
    stack: int = 2,
    sizes: Sequence[Size] = SIZES,
    around: Mapping[Size, int] = NO_LINES,
) -> Fit:
    """The largest cells with which the plane fits into width×height, else pooled and paged small ones.

    `stack` is the palette's; `around` says how many of the lines are needed for labels at each size.
    """
    rows, columns = plane.values.shape
    if columns < SMALL_FROM:
        for size in sizes:
            across, down = CELL[size]
            if size != "small" and columns * across <= width and rows * down + around[size] <= height:
                return Fit(size, (1, 1), (0, 0), (rows, columns), stack)
    lines = max(1, height - around["small"])
    pool_rows, first_row, shown_rows = _page(rows, stack * lines, plane.row, 1 if plane.wrap else MAX_POOL)
    pool_columns, first_column, shown_columns = _page(columns, max(1, width), plane.column, MAX_POOL)
    return Fit("small", (pool_rows, pool_columns), (first_row, first_column), (shown_rows, shown_columns), stack)


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


def map_rows(
    codes: Codes,
    fit: Fit,
    palette: Palette,
    kind: Ramp,
    cursor: tuple[int, int] | None = None,
    numbers: Numbers | None = None,
) -> list[Row]:
    """The map as rows of exactly `fit.width` cells. Small cells take no cursor mark.

    `numbers` are written under large cells where no ground is painted.
    """
    if fit.size == "small":
        return small_rows(codes.code, palette, kind)
    if palette.is_flat:
        return shaded_rows(codes, fit.size, palette, kind, cursor, numbers)
    return tinted_rows(codes, fit.size, palette, kind, cursor)


def dotted_rows(width: int, lines: int, words: str, palette: Palette) -> list[Row]:
    """A field without numbers, and in its middle the words that say why, if they fit."""
    return list(_dotted_rows(width, lines, words, palette))


@lru_cache(64)
def _dotted_rows(width: int, lines: int, words: str, palette: Palette) -> list[Row]:
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
    text = (" ·" * (width // 2 + 1))[(x + y) % 2 :][:width]
    return [Segment(text, palette.style("line"))] if width > 0 else []
