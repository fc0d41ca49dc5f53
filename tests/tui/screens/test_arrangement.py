"""Which panels a terminal gets: columns that fill it exactly, and rows that leave in order."""

import pytest

from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.messages import EngineFailed, Request
from tui.screens.arrangement import SMALLEST, arrange
from tui.screens.fault import fault_rows


@pytest.mark.parametrize("height", [18, 24, 36, 60])
def test_columns_and_gutters_fill_every_width(height):
    for width in range(60, 301):
        place = arrange(width, height)
        columns = [c for c in (place.events, place.graph, place.tensor) if c]
        if place.single:
            assert set(columns) == {width}
        else:
            assert sum(columns) + len(columns) - 1 == width
            assert min(columns) >= 30
        assert not place.is_too_small


@pytest.mark.parametrize(
    ("size", "columns"),
    [((160, 45), (34, 50, 74)), ((120, 36), (32, 38, 48)), ((80, 24), (30, 0, 49)), ((240, 60), (34, 54, 150))],
)
def test_the_sizes_people_have(size, columns):
    place = arrange(*size)
    assert (place.events, place.graph, place.tensor) == columns


def test_rows_leave_in_order_the_rule_the_tokens_the_track():
    kept = [
        (p.rules > 0, p.has_tokens, p.has_track) for p in (arrange(79, height) for height in range(24, 17, -1))
    ]
    assert kept == [
        (True, True, True), (True, True, True), (True, True, True), (False, True, True), (False, False, True),
        (False, False, False), (False, False, False),
    ]  # fmt: skip
    assert (arrange(120, 36).rules, arrange(120, 35).rules) == (2, 1)


def test_below_the_smallest_size_nothing_is_arranged():
    width, height = SMALLEST
    assert arrange(width - 1, height).is_too_small
    assert arrange(width, height - 1).is_too_small


@pytest.mark.parametrize("text", ["no words", "", "日本" * 200, "a\x1b[31mb\nc"])
def test_a_fault_is_as_wide_as_asked_and_its_words_are_safe(text, tmp_path):
    failed = EngineFailed(Request(1, "step"), text, "", "ValueError")
    for width in range(40, 101, 3):
        for path in (None, tmp_path / "log"):
            rows = fault_rows(failed, path, width, Palette())
            assert {row_width(row) for row in rows} == {width}
            assert not any("\x1b" in segment.text for row in rows for segment in row)
