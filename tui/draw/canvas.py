"""A page to lay pieces of rows on; where nothing lies, the ground shows."""

from collections.abc import Iterable, Sequence

from tui.draw.palette import Palette
from tui.draw.text import Row, Words, blank, crop, row_width, segments


class Canvas:
    """`height` rows of exactly `width` cells. Pieces on one row may not overlap; what sticks out is cut off."""

    def __init__(self, width: int, height: int, palette: Palette, ground: str = "panel"):
        self.width, self.height = width, height
        self.palette, self.ground = palette, ground
        self._pieces: list[list[tuple[int, Row]]] = [[] for _ in range(height)]

    def put(self, x: int, y: int, row: Row) -> None:
        if 0 <= y < self.height and 0 <= x < self.width and row:
            self._pieces[y].append((x, row))

    def words(self, x: int, y: int, *words: Words) -> None:
        """Spans from column x on; several groups follow each other."""
        self.put(x, y, [piece for group in words for piece in segments(group, self.palette, self.ground)])

    def words_right(self, end: int, y: int, words: Words) -> None:
        """Spans that end before column `end`."""
        row = segments(words, self.palette, self.ground)
        self.put(max(0, end - row_width(row)), y, row)

    def block(self, x: int, y: int, rows: Iterable[Row]) -> None:
        for line, row in enumerate(rows):
            self.put(x, y + line, row)

    def rows(self) -> tuple[Row, ...]:
        return tuple(self._row(pieces) for pieces in self._pieces)

    def _row(self, pieces: Sequence[tuple[int, Row]]) -> Row:
        row: Row = []
        x = 0
        for i, (start, piece) in enumerate(ordered := sorted(pieces, key=lambda each: each[0])):
            end = ordered[i + 1][0] if i + 1 < len(ordered) else self.width
            piece = crop(piece, end - start) if end > start else []
            row += [*blank(start - x, self.palette, self.ground), *piece]
            x = start + row_width(piece)
        return [*row, *blank(self.width - x, self.palette, self.ground)]
