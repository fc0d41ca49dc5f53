"""Any rank lies on the page, and a cell on the page is a cell of the tensor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.draw.plane import (
    PanelState,
    clamp,
    drawn_axes,
    largest_cell,
    next_abnormal,
    next_axes,
    next_slice,
    plane_of,
    slices,
)

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)


@given(shapes, st.data())
def test_a_plane_shows_the_tensors_own_values(shape, data):
    array = np.arange(np.prod(shape)).reshape(shape)
    cell = data.draw(st.tuples(*(st.integers(0, size - 1) for size in shape)))
    axes = data.draw(st.sampled_from([None, *_all_axes(len(shape))]))
    plane = plane_of(array, array % 3 == 0, PanelState(cell=cell, axes=axes), wrap=3)
    assert plane.values[plane.row, plane.column] == array[cell]
    assert plane.masked[plane.row, plane.column] == (array[cell] % 3 == 0)
    for row in range(plane.values.shape[0]):
        for column in range(plane.values.shape[1]):
            if plane.outside is None or not plane.outside[row, column]:
                assert array[plane.at(row, column)] == plane.values[row, column]


def _all_axes(rank):
    seen = []
    axes = next_axes(rank, None)
    while axes is not None and axes not in seen:
        seen.append(axes)
        axes = next_axes(rank, axes)
    return seen


@pytest.mark.parametrize(("rank", "choices"), [(1, 0), (2, 2), (3, 6), (4, 12)])
def test_axes_go_through_all_ordered_pairs(rank, choices):
    assert len(_all_axes(rank)) == choices


def test_axes_of_another_rank_fall_back_to_the_last_two():
    assert drawn_axes(3, (2, 3)) == (1, 2)
    assert drawn_axes(3, (2, 0)) == (2, 0)


@pytest.mark.parametrize(
    ("cell", "shape", "expected"),
    [
        ((1, 8, 7), (4, 12, 16), (1, 8, 7)),
        ((1, 8, 7), (12, 64), (8, 7)),
        ((8, 17), (4, 12, 12), (0, 8, 11)),
        ((), (3, 3), (0, 0)),
        ((5,), (), ()),
        ((5, 5), (0, 3), (0, 2)),
    ],
)
def test_a_cell_moves_on_to_another_tensor(cell, shape, expected):
    assert clamp(cell, shape) == expected


@given(shapes.filter(lambda s: len(s) > 1))
def test_stepping_slices_visits_each_once_and_returns(shape):
    plane = plane_of(np.zeros(shape), None, PanelState())
    seen = [plane.cell]
    while (cell := next_slice(plane_of(np.zeros(shape), None, PanelState(cell=seen[-1])), 1)) != plane.cell:
        seen.append(cell)
    assert seen == slices(plane)


def test_the_next_abnormal_cell_is_found_in_order_and_masks_are_left_alone():
    array = np.array([[0.0, np.nan, -np.inf], [np.inf, 1.0, -np.inf]])
    masked = np.isneginf(array)
    first = next_abnormal(array, masked, (0, 0))
    second = next_abnormal(array, masked, first)
    assert (first, second, next_abnormal(array, masked, second)) == ((0, 1), (1, 0), None), "the last of them"
    assert next_abnormal(array, masked, (1, 1)) == next_abnormal(array, masked, None) == first
    assert [next_abnormal(np.array(np.nan), None, after) for after in (None, ())] == [(), None]
    assert next_abnormal(np.zeros(3), None, (0,)) is None


def test_the_largest_cell_is_finite_and_unmasked():
    array = np.array([[1.0, np.inf], [-5.0, 9.0]])
    assert largest_cell(array, array == 9) == (1, 0)
    assert largest_cell(np.full(2, np.nan)) is None
    assert largest_cell(np.zeros((0, 3))) is None
