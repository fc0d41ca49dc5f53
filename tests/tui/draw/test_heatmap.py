"""Maps: the size that fits, what each cell looks like, and rows of exactly their width."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.draw import scale as codes_of
from tui.draw.heatmap import CELL, dotted_rows, fit_plane, levels, map_rows, shown_codes
from tui.draw.palette import Palette
from tui.draw.plane import PanelState, plane_of
from tui.draw.scale import Scale, scale_of
from tui.draw.text import row_width

PALETTE = Palette()
ONE = Scale("diverging", 1.0)


def text_of(rows):
    return ["".join(segment.text for segment in row) for row in rows]


def drawn(array, width, height, cell=(), masked=None, scale=ONE, palette=PALETTE):
    plane = plane_of(np.asarray(array), masked, PanelState(cell=cell))
    fit = fit_plane(plane, width, height)
    codes = shown_codes(plane, fit, scale, palette)
    return fit, codes, map_rows(codes, fit, palette, scale.kind, fit.place(plane.row, plane.column))


@pytest.mark.parametrize(
    ("shape", "width", "height", "size", "pool"),
    [
        ((12, 12), 66, 24, "large", (1, 1)),
        ((12, 12), 24, 12, "medium", (1, 1)),
        ((12, 12), 23, 12, "small", (1, 1)),
        ((12, 64), 256, 99, "small", (1, 1)),
        ((12, 64), 32, 6, "small", (1, 2)),
        ((12, 1024), 66, 24, "small", (1, 16)),
        ((1024, 64), 66, 24, "small", (22, 1)),
    ],
)
def test_the_largest_cells_that_fit(shape, width, height, size, pool):
    fit, _, _ = drawn(np.ones(shape), width, height)
    assert (fit.size, fit.pool) == (size, pool)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 80), st.integers(1, 40), st.data())
def test_a_map_stays_in_its_area_and_shows_the_cursor(rows, columns, width, height, data):
    cell = (data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1)))
    fit, codes, lines = drawn(np.ones((rows, columns)), width, height, cell)
    assert fit.width <= width and fit.lines <= height
    assert len(lines) == fit.lines
    assert {row_width(line) for line in lines} == {fit.width}
    assert codes.code.shape == fit.shown
    place = fit.place(*cell)
    assert all(0 <= at < shown for at, shown in zip(place, fit.shown, strict=True))
    across, down = CELL[fit.size]
    line = place[0] // 2 if fit.size == "small" else place[0] * down
    back = fit.at(place[1] * across, line, *cell)
    assert back == cell


def test_signs_of_special_cells_and_the_cursors_brackets():
    array = [[2.0, -2.0, 0.0], [np.nan, np.inf, -np.inf], [0.5, 0.5, -np.inf]]
    masked = np.zeros((3, 3), bool)
    masked[2, 2] = True
    _, codes, rows = drawn(array, 6, 3, (2, 0), masked)
    assert text_of(rows) == [" + -· ", "× ▲ ▼ ", "[]  · "]
    assert codes.beyond.tolist() == [[1, -1, 0], [0, 0, 0], [0, 0, 0]]
    _, _, rows = drawn(array, 12, 6, (1, 0), masked)
    assert text_of(rows) == ["   +   - ·  ", " " * 12, "┏× ┓ ▲   ▼  ", "┗  ┛" + " " * 8, "         ·  ", " " * 12]


def test_nan_is_magenta_and_nothing_else_is():
    _, _, rows = drawn([[np.nan, 1.0], [0.0, -1.0]], 4, 2, (1, 1))
    magenta = PALETTE.color("nan")
    assert [segment.text for row in rows for segment in row if segment.style.bgcolor == magenta] == ["× "]


def test_zero_and_masked_cells_have_the_ground_of_the_panel():
    _, _, rows = drawn([[0.0, 1.0]], 4, 1, (0, 1))
    assert rows[0][0].style.bgcolor == PALETTE.color("panel")
    assert rows[0][0].text == "· "


def test_one_nan_takes_the_whole_half_block():
    array = np.ones((4, 64))
    array[3, 5] = np.nan
    _, _, rows = drawn(array, 64, 2)
    assert [text[5] for text in text_of(rows)] == [" ", "×"]


def test_equal_neighbours_are_one_segment():
    _, _, rows = drawn(np.ones((2, 64)), 64, 1)
    assert len(rows[0]) == 1
    _, _, rows = drawn(np.ones((1, 12)), 24, 1, (0, 11))
    assert [segment.text for segment in rows[0]] == [" " * 22, "[]"]


def test_a_wrapped_vector_ends_where_it_ends():
    plane = plane_of(np.ones(5), None, PanelState(), wrap=4)
    fit = fit_plane(plane, 16, 4)
    codes = shown_codes(plane, fit, ONE, PALETTE)
    outside = levels(PALETTE, "diverging") + codes_of.OUTSIDE
    assert (codes.code == outside).tolist() == [[False] * 4, [False, True, True, True]]


def test_only_what_is_shown_is_computed(monkeypatch):
    seen = []
    encode = codes_of.encode
    monkeypatch.setattr(codes_of, "encode", lambda array, *rest: seen.append(array.shape) or encode(array, *rest))
    drawn(np.ones((5000, 64)), 64, 10, (4000, 0))
    assert seen == [(20, 64)]


def test_codes_do_not_depend_on_the_theme():
    array = np.random.default_rng(0).normal(size=(6, 6))
    scale = scale_of(array)
    dark, light = (drawn(array, 12, 6, scale=scale, palette=Palette(theme))[1] for theme in ("dark", "light"))
    np.testing.assert_array_equal(dark.code, light.code)


@given(st.integers(0, 60), st.integers(0, 8), st.sampled_from(["", "○ not reached: no number here yet"]))
def test_a_dotted_field_has_its_size_and_says_why_if_it_fits(width, lines, words):
    rows = dotted_rows(width, lines, words, PALETTE)
    assert [row_width(row) for row in rows] == [width] * lines
    assert (words in "\n".join(text_of(rows))) == (words == "" or (lines > 0 and width >= len(words)))


def test_a_cursor_move_leaves_a_small_maps_rows_as_they_are():
    array = np.random.default_rng(0).normal(size=(12, 64))
    _, _, before = drawn(array, 64, 6, (0, 0))
    _, _, after = drawn(array, 64, 6, (7, 3))
    _, _, others = drawn(-array, 64, 6, (7, 3))
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert not any(a is b for a, b in zip(before, others, strict=True))
