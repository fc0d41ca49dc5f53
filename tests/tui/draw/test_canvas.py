"""Pieces lie where they were put and rows are whole."""

from hypothesis import given
from hypothesis import strategies as st

from tui.draw.canvas import Canvas
from tui.draw.palette import Palette
from tui.draw.text import Span, row_width

PALETTE = Palette()
pieces = st.lists(st.tuples(st.integers(-2, 22), st.integers(-1, 3), st.text("ab語", max_size=9)), max_size=6)


def test_pieces_and_ground():
    canvas = Canvas(12, 2, PALETTE)
    canvas.words(2, 0, [Span("ab")], [Span("cd")])
    canvas.words_right(12, 0, [Span("xyz")])
    canvas.words(9, 1, [Span("too long")])
    assert ["".join(s.text for s in row) for row in canvas.rows()] == ["  abcd   xyz", "         to…"]


@given(pieces)
def test_rows_are_whole_whatever_is_put_where(given_pieces):
    canvas = Canvas(20, 3, PALETTE)
    for x, y, text in given_pieces:
        canvas.words(x, y, [Span(text)])
    assert [row_width(row) for row in canvas.rows()] == [20, 20, 20]
