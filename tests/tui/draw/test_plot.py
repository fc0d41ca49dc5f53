"""Curves in braille: where a value lies, and that no extreme is lost."""

import math
from itertools import pairwise

import numpy as np
import pytest

from tui.draw.palette import Palette
from tui.draw.plot import BLANK, Plot, decades, ticks
from tui.draw.text import Span, row_width

PALETTE = Palette()


def drawn(plot):
    return ["".join(segment.text for segment in row) for row in plot.rows()]


def dots(rows):
    """(line, column) of every dot."""
    places = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1)]
    return {
        (4 * y + line, 2 * x + column)
        for y, row in enumerate(rows)
        for x, sign in enumerate(row)
        if BLANK < ord(sign) < BLANK + 256
        for bit, (line, column) in enumerate(places)
        if (ord(sign) - BLANK) >> bit & 1
    }


def test_a_straight_line_goes_from_corner_to_corner():
    plot = Plot(10, 5, 100, 0, 1, PALETTE)
    plot.add(np.arange(101.0), np.linspace(1, 0, 101), "text")
    found = dots(drawn(plot))
    assert (0, 0) in found
    assert (19, 19) in found
    assert {column for _, column in found} == set(range(20))


@pytest.mark.parametrize(("first", "last"), [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.0, 0.7)])
def test_points_far_apart_are_joined_without_a_gap(first, last):
    plot = Plot(10, 9, 100, 0, 1, PALETTE)
    plot.add(np.array([0.0, 100.0]), np.array([first, last]), "text")
    columns = [sorted(line for line, at in dots(drawn(plot)) if at == column) for column in range(20)]
    assert all(columns)
    for here, there in pairwise(columns):
        assert min(abs(a - b) for a in here for b in there) <= 1
    assert columns[-1][0 if last > first else -1] == round((1 - last) * 35)


def test_a_spike_of_one_step_is_seen_however_many_steps_there_are():
    values = np.zeros(100_000)
    values[54_321] = 1.0
    plot = Plot(20, 4, 100_000, 0, 1, PALETTE)
    plot.add(np.arange(100_000.0), values, "text")
    assert any(line == 0 for line, _ in dots(drawn(plot)))


@pytest.mark.parametrize("value", [-5.0, 0.0, 0.5, 1.0, 7.0])
def test_what_lies_outside_is_drawn_at_the_edge(value):
    plot = Plot(4, 3, 10, 0, 1, PALETTE)
    plot.add(np.array([5.0]), np.array([value]), "text")
    assert {line for line, _ in dots(drawn(plot))} == {round((1 - min(max(value, 0), 1)) * 11)}


def test_a_logarithmic_axis_gives_each_decade_the_same_room():
    plot = Plot(4, 10, 1, 0.01, 100, PALETTE, is_log=True)
    rows = [plot.row_of(10.0**power) for power in (2, 1, 0, -1, -2)]
    assert (rows[0], rows[-1]) == (0, 9)
    assert {b - a for a, b in pairwise(rows)} <= {2, 3}
    assert plot.row_of(1000) is None
    assert [plot.row_of(value) for value in (math.nan, math.inf, -math.inf)] == [None] * 3


def test_rows_are_as_wide_as_asked_with_lines_and_words_on_them():
    plot = Plot(30, 4, 10, 0, 1, PALETTE)
    plot.line(0.5)
    plot.add(np.arange(11.0), np.linspace(0, 1, 11), "pos")
    plot.write(20, 1, [Span("words")])
    assert [row_width(row) for row in plot.rows()] == [30] * 4
    assert "words" in drawn(plot)[1]


def test_in_ascii_a_curve_is_made_of_stars():
    plot = Plot(10, 2, 10, 0, 1, Palette(is_ascii=True))
    plot.add(np.arange(11.0), np.linspace(0, 1, 11), "pos")
    assert all(row.isascii() for row in drawn(plot))
    assert any("*" in row for row in drawn(plot))


@pytest.mark.parametrize(
    ("low", "high", "count", "expected"),
    [(0, 7, 4, [0, 2, 4, 6]), (1.4, 7, 3, [2, 4, 6]), (0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (3, 3, 4, [3])],
)
def test_ticks_are_round(low, high, count, expected):
    assert ticks(low, high, count) == pytest.approx(expected)


def test_decades_are_the_powers_of_ten_between():
    assert decades(0.09, 11) == pytest.approx([0.1, 1, 10])
    assert decades(0.1, 10) == pytest.approx([0.1, 1, 10])


def test_the_line_down_at_an_x_stands_where_nothing_else_does():
    plot = Plot(9, 3, 8, 0, 1, PALETTE)
    plot.add(np.array([4.0]), np.array([1.0]), "text")
    plot.now(4)
    plot.write(3, 2, [Span("words")])
    first, second, third = drawn(plot)
    assert first[4] not in " ┊"
    assert second == "    ┊    "
    assert third == "   words "
