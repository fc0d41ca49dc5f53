"""Cells where no ground is painted: shades with the sign in front, numbers below, and where signs have no room."""

import numpy as np
import pytest

from tui.draw.cells import CELL, levels
from tui.draw.heatmap import fit_plane, map_rows, shown_codes
from tui.draw.palette import Palette
from tui.draw.plane import PanelState, plane_of
from tui.draw.scale import Scale
from tui.draw.tensor_map import cell_numbers
from tui.draw.text import row_width

NONE, ANSI, ASCII = Palette("dark", "none"), Palette("dark", "16"), Palette("dark", "truecolor", is_ascii=True)
SIGNED, POSITIVE = Scale("diverging", 1.0), Scale("sequential", 1.0)
ARRAY = [[0.9, -0.5, 0.0], [np.nan, np.inf, -np.inf], [0.01, -0.01, -np.inf]]
MASKED = np.zeros((3, 3), bool)
MASKED[2, 2] = True


def drawn(array, width, height, palette, scale=SIGNED, cell=(2, 0), masked=None):
    plane = plane_of(np.asarray(array), masked, PanelState(cell=cell))
    fit = fit_plane(plane, width, height, palette.stack)
    codes = shown_codes(plane, fit, scale, palette)
    place = fit.place(plane.row, plane.column)
    numbers = cell_numbers(plane)[0] if fit.size == "large" else None
    return fit, map_rows(codes, fit, palette, scale.kind, place, numbers)


def text_of(rows):
    return ["".join(segment.text for segment in row) for row in rows]


@pytest.mark.parametrize("palette", [NONE, ANSI], ids=lambda p: p.colors)
def test_large_cells_have_a_shade_and_below_it_their_number(palette):
    fit, rows = drawn(ARRAY, 12, 6, palette, masked=MASKED)
    assert fit.size == "large"
    assert text_of(rows) == [
        "+██ −▒▒  ·  ",
        "+90 −50     ",
        " ×   ▲   ▼  ",
        "NaN +Inf−Inf",
        "+  ◂−    ·  ",
        "+1  −1      ",
    ]


def test_medium_cells_have_sign_and_shade():
    fit, rows = drawn(ARRAY, 6, 3, NONE, cell=(0, 1), masked=MASKED)
    assert fit.size == "medium"
    assert text_of(rows) == ["+█[]· ", "× ▲ ▼ ", "+ − · "]


def test_what_lies_beyond_the_scale_is_marked_where_there_is_room():
    beyond = [[1.5, -1.5, 0.9]]
    assert text_of(drawn(beyond, 12, 2, NONE, cell=(0, 2))[1])[0] == "+█+ −█- +██◂"
    assert text_of(drawn(beyond, 6, 1, NONE, cell=(0, 2))[1]) == ["++−-[]"]
    assert text_of(drawn([[1.5, 0.9, 0.9]], 12, 2, NONE, POSITIVE, cell=(0, 2))[1])[0] == "██+ ███ ███◂"
    assert "+" not in text_of(drawn(beyond, 3, 1, NONE)[1])[0]  # one column is shade


def test_data_of_one_sign_have_none_in_front():
    _, rows = drawn([[0.0, 0.1, 0.3], [0.5, 0.8, 1.0]], 12, 4, NONE, POSITIVE, cell=(1, 2))
    assert text_of(rows)[::2] == [" ·      ░░░ ", "▒▒▒ ▓▓▓ ███◂"]
    _, rows = drawn([[0.0, 0.1, 0.3], [0.5, 0.8, 1.0]], 6, 2, NONE, POSITIVE, cell=(1, 0))
    assert text_of(rows) == ["·   ░░", "[]▓▓██"]


def test_small_cells_have_a_character_each_and_negative_ones_a_line_below():
    array = np.tile([0.9, -0.9, 0.0, np.nan], (2, 16))
    fit, rows = drawn(array, 64, 2, NONE, cell=(0, 0))
    assert (fit.size, fit.lines, text_of(rows)) == ("small", 2, ["██·×" * 16] * 2)
    positive, negative, _, fault = rows[0][:4]
    assert (positive.style.underline, negative.style.underline, fault.style.reverse) == (None, True, True)


def test_with_16_colours_the_sign_has_a_colour_and_no_line():
    _, rows = drawn(np.tile([0.9, -0.9], (2, 32)), 64, 2, ANSI, cell=(0, 0))
    positive, negative = (segment.style for segment in rows[0][:2])
    assert (positive.color.name, negative.color.name) == ("bright_yellow", "bright_cyan")
    assert not negative.underline


def test_in_ascii_small_cells_are_tinted_blanks_and_nan_is_a_letter():
    array = np.tile([0.9, -0.9, np.nan, np.inf], (2, 16))
    fit, rows = drawn(array, 64, 4, ASCII, cell=(0, 0))
    assert (fit.lines, text_of(rows)) == (2, ["  N^" * 16] * 2)
    positive, negative = (segment.style.bgcolor for segment in rows[0][:2])
    assert {positive, negative} < set(ASCII.ramp("diverging")) and positive != negative


def test_in_ascii_the_cursor_is_in_brackets():
    _, rows = drawn([[1.0, -1.0]], 8, 2, ASCII, cell=(0, 1))
    assert text_of(rows) == ["    [  ]", "    [  ]"]


@pytest.mark.parametrize("palette", [NONE, ANSI, ASCII], ids=["none", "16", "ascii"])
@pytest.mark.parametrize(("width", "height"), [(48, 24), (24, 12), (12, 12), (12, 5)])
def test_rows_are_as_wide_as_the_map(palette, width, height):
    array = np.random.default_rng(0).normal(size=(12, 12))
    fit, rows = drawn(array, width, height, palette, cell=(5, 5))
    assert {row_width(row) for row in rows} == {fit.width} and len(rows) == fit.lines
    row, column = fit.place(5, 5)
    assert fit.at(column * CELL[fit.size][0], fit.line(row), 5, 5) == (5, 5)


def test_tiny_values_keep_their_sign_but_no_shade():
    """Zero has a sign of its own, so a flat ramp needs no step for it."""
    assert levels(NONE, "diverging") % 2 == 0
    _, rows = drawn([[1e-9, -1e-9]], 8, 2, NONE, cell=(0, 0))
    assert text_of(rows)[0] == "+  ◂−   "
