"""A page to lay pieces of rows on; where nothing lies, the ground shows."""

from collections.abc import Iterable
from itertools import pairwise
from operator import itemgetter

from tui.draw.palette import Palette
from tui.draw.text import Row, Words, blank, crop, row_width, segments


class Canvas:
    """`height` rows of exactly `width` cells. Pieces on one row may not overlap; what sticks out is cut off."""

    def __init__(self, width: int, height: int, palette: Palette, ground: str = "panel"):
        self.width, self.height = width, height
        self.palette, self.ground = palette, ground
        self._pieces: list[list[tuple[int, int, Row]]] = [[] for _ in range(height)]  # column, width, row

    def put(self, x: int, y: int, row: Row, width: int | None = None) -> None:
        """A row from column x on, measured unless its width is given."""
        if 0 <= y < self.height and 0 <= x < self.width and row:
            self._pieces[y].append((x, row_width(row) if width is None else width, row))

    def words(self, x: int, y: int, *words: Words) -> None:
        """Spans from column x on; several groups follow each other."""
        row: Row = []
        for group in words:
            row += segments(group, self.palette, self.ground)
        self.put(x, y, row)

    def words_right(self, end: int, y: int, words: Words) -> None:
        """Spans that end before column `end`."""
        row = segments(words, self.palette, self.ground)
        width = row_width(row)
        self.put(max(0, end - width), y, row, width)

    def block(self, x: int, y: int, rows: Iterable[Row], width: int | None = None) -> None:
        for line, row in enumerate(rows):
            self.put(x, y + line, row, width)

    def rows(self) -> tuple[Row, ...]:
        return tuple(self._row(pieces) for pieces in self._pieces)

    def _row(self, pieces: list[tuple[int, int, Row]]) -> Row:
        row: Row = []
        x = 0
        pieces.sort(key=itemgetter(0))
        for (start, width, piece), (end, *_) in pairwise([*pieces, (self.width, 0, [])]):
            if start + width > end:
                piece = crop(piece, end - start) if end > start else []
                width = row_width(piece)
            row += blank(start - x, self.palette, self.ground)
            row += piece
            x = start + width
        return row + blank(self.width - x, self.palette, self.ground)
