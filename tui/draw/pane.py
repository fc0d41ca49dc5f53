"""A pane: a canvas with a title row, and the board on which panes lie."""

from collections.abc import Iterable

from tui.draw.canvas import Canvas
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, Words, cut, row_width, segments

Placed = tuple[int, int, "Pane"]  # column, row


class Pane(Canvas):
    """A panel's rectangle. Its title row says what it is, in a few words more what it shows, and one fact."""

    def __init__(self, width: int, height: int, palette: Palette):
        super().__init__(max(width, 0), max(height, 0), palette)

    def title(self, name: str, words: str = "", right: Words = (), has_cursor: bool = False) -> None:
        mark = Span("▌" if has_cursor else " ", "bright")
        named = Span(name, "bright" if has_cursor else "muted", bold=has_cursor)
        fact = segments(right, self.palette)
        room = self.width - row_width(fact) - len(name) - 5
        said = cut(words, room) if room > 3 else ""
        self.words(0, 0, [mark, named, Span(f"  {said}", "muted")])
        self.words_right(self.width - 1, 0, right)


def board_rows(width: int, height: int, palette: Palette, panes: Iterable[Placed]) -> tuple[Row, ...]:
    """All rows of the board, the ground between the panes showing."""
    board = Canvas(width, height, palette, "bg")
    for x, y, pane in panes:
        board.block(x, y, pane.rows(), pane.width)
    return board.rows()


def said_board(width: int, height: int, palette: Palette, words: str) -> tuple[Row, ...]:
    """A board with one sentence on it, and nothing else to show."""
    pane = Pane(width, height, palette)
    pane.words(1, min(1, max(height - 1, 0)), [Span(cut(words, max(width - 2, 0)), "muted")])
    return board_rows(width, height, palette, [(0, 0, pane)])
