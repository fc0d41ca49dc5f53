"""Curves in braille: eight dots a cell, so that a curve is finer than the text around it."""

import math
from collections.abc import Sequence

import numpy as np

from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, segments

DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot of a cell, by its line and column."""
BLANK = 0x2800
GRID = "┈"
NOW = "┊"
LOWEST = 1e-12  # where a logarithmic axis ends at the latest


class Plot:
    """`width`x`height` cells that show x from 0 to `end` and y from `low` to `high`, logarithmic if `is_log`."""

    def __init__(
        self, width: int, height: int, end: float, low: float, high: float, palette: Palette, is_log: bool = False
    ):
        self.width, self.height = max(width, 1), max(height, 1)
        self.end = max(end, 1e-9)
        self._is_log = is_log
        self.low, self.high = self._scaled(low), self._scaled(high)
        if self.high <= self.low:
            self.high = self.low + 1
        self.palette = palette
        self._bits = np.zeros((self.height, self.width), np.int64)
        self._tokens = np.full((self.height, self.width), "", object)
        self._signs: dict[tuple[int, int], str] = {}  # cells of a curve that is drawn with a sign of its own
        self._lines: dict[int, tuple[str, str]] = {}  # row -> glyph and token of a line across
        self._words: dict[int, tuple[int, Sequence[Span]]] = {}  # row -> column and words
        self._now: int | None = None  # the column of a line down

    def _scaled(self, y: float) -> float:
        return math.log10(max(y, LOWEST)) if self._is_log else y

    def row_of(self, y: float) -> int | None:
        """The row of cells where a value lies; None outside, and for NaN and Inf."""
        if not math.isfinite(y):
            return None
        dot = self._dot(self._scaled(y))
        return int(dot // 4) if 0 <= dot < 4 * self.height else None

    def _dot(self, scaled: float) -> float:
        return round((self.high - scaled) / (self.high - self.low) * (4 * self.height - 1))

    def _inside(self, y: float) -> int:
        """The line of dots of a value; of one outside the nearest."""
        return int(min(max(self._dot(self._scaled(y)), 0), 4 * self.height - 1))

    def line(self, y: float, glyph: str = GRID, token: str = "line") -> None:
        """A line across at a value."""
        if (row := self.row_of(y)) is not None:
            self._lines[row] = (glyph, token)

    def column_of(self, x: float) -> int:
        """The column of cells where x lies."""
        return round(min(max(x / self.end, 0), 1) * (self.width - 1))

    def now(self, x: float) -> None:
        """A line down at x, where nothing else is drawn."""
        self._now = self.column_of(x)

    def points(self, xs: Array, ys: Array, sign: str, token: str) -> None:
        """A sign at each point, over all curves."""
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            cell = min(self._inside(y) // 4, self.height - 1), self.column_of(x)
            self._signs[cell] = sign
            self._tokens[cell] = token

    def add(self, xs: Array, ys: Array, token: str) -> None:
        """A curve, over those before, its points joined by straight lines."""
        last_dot = 2 * self.width - 1
        columns = np.clip(xs / self.end * last_dot, 0, last_dot).round().astype(int)
        before: tuple[int, int] | None = None  # the last column of dots that has values, and its last dot
        for column in np.unique(columns).tolist():
            dots = [self._inside(float(y)) for y in ys[columns == column]]
            if before is not None:
                self._join(before, (column, dots[0]), token)
            self._fill(column, min(dots), max(dots), token)
            before = column, dots[-1]

    def _join(self, here: tuple[int, int], there: tuple[int, int], token: str) -> None:
        """A straight line of dots from one point to the next."""
        reached = here[1]
        for column in range(here[0] + 1, there[0] + 1):
            share = (column - here[0]) / (there[0] - here[0])
            dot = round(here[1] + share * (there[1] - here[1]))
            step = (dot > reached) - (dot < reached)
            self._fill(column, min(reached + step, dot), max(reached + step, dot), token)
            reached = dot

    def _fill(self, column: int, low: int, high: int, token: str) -> None:
        for dot in range(low, high + 1):
            cell = dot // 4, column // 2
            self._bits[cell] |= int(DOTS[dot % 4, column % 2])
            self._tokens[cell] = token

    def write(self, x: int, y: int, words: Sequence[Span]) -> None:
        """Words over the picture; whole rows of them, one a row."""
        self._words[y] = (x, words)

    def rows(self) -> list[Row]:
        return [self._row(y) for y in range(self.height)]

    def _row(self, y: int) -> Row:
        x, words = self._words.get(y, (0, ()))
        end = x + sum(len(span.text) for span in words)
        return segments([*self._spans(y, 0, x), *words, *self._spans(y, end, self.width)], self.palette)

    def _spans(self, y: int, first: int, last: int) -> list[Span]:
        """The picture of a row from one column to another."""
        glyph, token = self._lines.get(y, (" ", "line"))
        row: list[Span] = []
        cells = slice(first, last)
        drawn = zip(self._bits[y, cells].tolist(), self._tokens[y, cells].tolist(), strict=True)
        for column, (bits, color) in enumerate(drawn, first):
            sign, fg = (NOW, "faint") if column == self._now else (glyph, token)
            if (own := self._signs.get((y, column))) is not None:
                sign, fg = own, color
            elif bits:
                sign, fg = "*" if self.palette.is_ascii else chr(BLANK + bits), color
            if row and row[-1].fg == fg:
                row[-1] = row[-1]._replace(text=row[-1].text + sign)
            else:
                row.append(Span(sign, fg))
        return row


def ticks(low: float, high: float, count: int) -> list[float]:
    """About `count` round values from low to high."""
    if not high > low:
        return [low]
    raw = (high - low) / max(count, 1)
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next((unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw), 10 * unit)
    first = math.ceil(low / step - 1e-9)
    return [first_ * step for first_ in range(first, math.floor(high / step + 1e-9) + 1)]


def decades(low: float, high: float) -> list[float]:
    """The powers of ten from low to high."""
    first, last = math.ceil(math.log10(max(low, LOWEST)) - 1e-9), math.floor(math.log10(max(high, LOWEST)) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]
