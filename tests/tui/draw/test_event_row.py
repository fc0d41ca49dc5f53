"""Events as one row: what is done, what is ahead, the marker, and the numbers of the blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.draw.event_row import event_row, last_of_each, per_cell

LAYERS = [None, None, 0, 0, 0, 0, 1, 1, 1, 1, None, None]


def text(*args) -> str:
    return "".join(span.text for span in event_row(*args, "fwd"))


@pytest.mark.parametrize(
    ("here", "done", "said"),
    [
        (0, 0, "▶─ 0 ─ 1 ───"),
        (5, 5, "━━ 0 ▶ 1 ───"),
        (3, 3, "━━ ▶ ─ 1 ───"),  # the marker stays visible
        (11, 11, "━━ 0 ━ 1 ━━▶"),
        (None, 12, "━━ 0 ━ 1 ━━━"),
        (None, 0, "── 0 ─ 1 ───"),
    ],
)
def test_what_is_done_is_heavy_and_what_is_ahead_light(here, done, said):
    assert text(LAYERS, here, done) == said


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ([0, 0, 1, 1, 1, 1, 1, 1], " 0 ─────"),  # of numbers that would overlap the first
        ([0, 0, 0, 1, 1, 1, 2, 2], " 0  1  2"),  # the last one cut at the end
        ([9, 10, 10, 10, 11, 11, 11, 11], " 9 ─ 11 "),
        ([None] * 4, "────"),
        ([], ""),
    ],
)
def test_a_block_is_numbered_where_it_begins_if_its_number_fits(layers, said):
    assert text(layers, None, 0) == said


def test_done_and_ahead_differ_in_colour_too():
    assert {span.fg for span in event_row(LAYERS, 5, 5, "bwd") if span.text.strip()} == {
        "bwd", "bright", "faint", "line",
    }  # fmt: skip


@given(st.integers(1, 2000), st.integers(1, 200))
def test_every_event_lies_in_one_cell_and_all_fit(total, room):
    each = per_cell(total, room)
    ends = last_of_each(total, each)
    assert len(ends) <= room
    assert ends[-1] == total - 1
    assert all(end // each == cell for cell, end in enumerate(ends))
