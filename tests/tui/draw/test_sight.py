"""Rows in sight: as many as fit, and the chosen one among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.draw.sight import in_sight


@pytest.mark.parametrize(("here", "shown"), [(0, range(6)), (2, range(6)), (7, range(4, 10)), (15, range(10, 16))])
def test_the_chosen_one_is_in_the_middle_where_the_ends_allow(here, shown):
    assert in_sight(16, here, 6) == shown


@given(st.integers(1, 500), st.data(), st.integers(-3, 60))
def test_as_many_as_fit_are_shown_and_the_chosen_one_is_one_of_them(count, data, room):
    here = data.draw(st.integers(0, count - 1))
    shown = in_sight(count, here, room)
    assert here in shown
    assert len(shown) == min(count, max(room, 1))
    assert 0 <= shown.start <= shown.stop <= count


def test_of_none_none_are():
    assert list(in_sight(0, 0, 5)) == []
