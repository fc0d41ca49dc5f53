"""A contribution's share of its sum, and pages of numbers that are not finite or have no squares."""

from itertools import product

import numpy as np
import pytest

from tui.draw.contributions import share_of
from tui.draw.palette import Palette
from tui.draw.plane import PanelState
from tui.draw.tensor_page import tensor_page
from tui.draw.text import row_width

ODD = [np.nan, np.inf, -np.inf, 1.7e308, -1e300, 1e-320, 5e-324, 0.0]
TABS = ("value", "gradient", "contributions")


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_shares_add_up_to_one_at_any_scale(scale):
    some, rest = scale * np.array([3.0, -1.0]), scale * np.array([-1.0, 2.0])
    assert share_of(some, some + rest) == pytest.approx(1.0)
    assert share_of(rest, some + rest) == pytest.approx(0.0)
    assert share_of(np.zeros(2), np.zeros(2)) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_share_is_no_number_where_a_part_or_the_sum_is_none(bad):
    assert np.isnan(share_of(np.array([bad, 1.0]), np.array([bad, 1.0])))
    assert np.isnan(share_of(np.array([2.0, 1.0]), np.array([bad, 1.0])))


@pytest.mark.parametrize("number", ODD)
def test_every_page_of_odd_numbers_is_whole(snapshots, number):
    for tab, size, shape in product(TABS, [(49, 17), (76, 40)], [(), (3,), (2, 3), (40, 60)]):
        value = np.full(shape, number)
        some = np.where(np.arange(value.size).reshape(shape) % 2, value, 1.0)
        snapshot = snapshots(value, some, edges=3, delivered=2, contributions=(some, value, None))
        page = tensor_page(snapshot, PanelState(tab=tab, cell=(0,) * len(shape)), *size, Palette())
        assert [row_width(row) for row in page.rows] == [size[0]] * size[1], (tab, size, shape)


def text_of(page) -> list[str]:
    return ["".join(segment.text for segment in row) for row in page.rows]


@pytest.mark.parametrize("size", [(76, 40), (49, 17)])
def test_the_slice_is_said_under_the_maps_of_contributions(snapshots, size):
    value = np.arange(60.0).reshape(5, 3, 4)
    snapshot = snapshots(value, value, contributions=(value,))
    page = tensor_page(snapshot, PanelState(tab="contributions", cell=(2, 0, 0)), *size, Palette())
    assert any("axis 0 ‹3/5›" in line for line in text_of(page))


@pytest.mark.parametrize("height", range(16, 30))
def test_slices_beside_each_other_leave_the_scale_readable(snapshots, height):
    value = np.linspace(-1.0, 1.0, 2 * 6 * 6 * 3 * 3).reshape(2, 6, 6, 3, 3)
    page = tensor_page(snapshots(value), PanelState(cell=(0, 0, 1, 0, 0)), 49, height, Palette())
    lines = text_of(page)
    assert not any("…" in line for line in lines), "\n".join(lines)
