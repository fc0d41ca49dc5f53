"""Every kind of cell has its code, no array is too odd, and pooling loses no spike and no NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tui.draw import scale
from tui.draw.scale import Scale, encode, percentile, pool, scale_of

L = 63
anything = st.floats(width=32) | st.sampled_from([0.0, np.nan, np.inf, -np.inf])
planes = arrays.arrays(np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=anything)


def test_planted_cells_have_their_codes():
    array = np.array([[-2, -1, 0, 1, 2], [np.nan, np.inf, -np.inf, -np.inf, np.nan]], np.float32)
    masked = np.zeros(array.shape, bool)
    masked[1, 3:] = True
    code, beyond = encode(array, masked, Scale("diverging", 1.0), L)
    assert code.tolist() == [
        [0, 0, L + scale.ZERO, L - 1, L - 1],
        [L + scale.NAN, L + scale.PLUS_INF, L + scale.MINUS_INF, L + scale.MASKED, L + scale.NAN],
    ]
    assert beyond.tolist() == [[-1, 0, 0, 0, 1], [0, 0, 0, 0, 0]]


def test_a_sequential_scale_runs_from_zero_and_a_diverging_one_has_zero_in_the_middle():
    values = np.array([[1e-9, 0.25, 0.5, 1.0]])
    assert encode(values, None, Scale("sequential", 1.0), 64).code.tolist() == [[0, 16, 32, 63]]
    assert encode(values, None, Scale("diverging", 1.0), 63).code[0, 0] == 31


def test_what_is_outside_the_tensor_is_no_zero():
    outside = np.array([[False, True]])
    assert encode(np.zeros((1, 2)), None, Scale("sequential", 1.0), 9, outside).code.tolist() == [
        [9 + scale.ZERO, 9 + scale.OUTSIDE]
    ]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros((3, 3)), Scale("sequential", 1.0)),
        (np.full((3, 3), 2.0), Scale("sequential", 2.0)),
        (np.full((3, 3), -2.0), Scale("diverging", 2.0)),
        (np.full((3, 3), np.nan), Scale("sequential", 1.0)),
        (np.zeros((0, 3)), Scale("sequential", 1.0)),
        (np.array([True, False]), Scale("sequential", 1.0)),
        (np.array(7), Scale("sequential", 7.0)),
    ],
)
def test_scales_of_odd_arrays(array, expected):
    assert scale_of(array) == expected


def test_a_scale_leaves_out_the_mask_and_the_top_half_percent():
    array = np.ones((100, 10))
    array[0, 0], array[1, 1] = 50, -np.inf
    masked = array == -np.inf
    assert scale_of(array, masked) == Scale("sequential", 1.0)
    assert scale_of(array, masked, signed=True) == Scale("diverging", 1.0)


def test_a_sampled_scale_is_near_the_whole_ones():
    array = np.random.default_rng(0).normal(size=(2048, 256))
    assert scale_of(array).limit == pytest.approx(np.percentile(np.abs(array), 99.5), rel=0.05)


@given(arrays.arrays(np.float64, st.integers(1, 400), elements=st.floats(0, 1e300)))
def test_percentiles_are_numpys(values):
    assert percentile(values, 99.5) == pytest.approx(np.percentile(values, 99.5), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("fresh", "kept"),
    [
        (Scale("diverging", 0.9), True),
        (Scale("diverging", 1.1), False),
        (Scale("diverging", 0.1), False),
        (Scale("sequential", 0.9), False),
    ],
)
def test_a_scale_is_kept_until_data_leave_it(fresh, kept):
    assert Scale("diverging", 1.0).keeps(fresh) is kept


@given(planes, st.integers(2, 64))
def test_every_cell_of_every_array_has_a_code(array, levels):
    own = scale_of(array)
    code, beyond = encode(array, None, own, levels)
    assert own.limit > 0
    assert code.max() < levels + scale.SPECIAL
    np.testing.assert_array_equal(code == levels + scale.NAN, np.isnan(array))
    np.testing.assert_array_equal(code == levels + scale.ZERO, array == 0)
    assert not beyond[~np.isfinite(array)].any()


@given(planes, st.integers(1, 4), st.integers(1, 4))
def test_pooling_keeps_the_largest_value_and_any_nan(array, rows, columns):
    pooled, _ = pool(array, None, rows, columns)
    for i in range(pooled.shape[0]):
        for j in range(pooled.shape[1]):
            block = array[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            if np.isnan(block).any():
                assert np.isnan(pooled[i, j])
            else:
                assert pooled[i, j] in block
                assert abs(pooled[i, j]) == np.abs(block).max()


def test_pooling_looks_past_the_mask():
    array = np.array([[-np.inf, 2.0, -np.inf, -np.inf]])
    pooled, masked = pool(array, np.isneginf(array), 1, 2)
    assert (pooled[0, 0], masked.tolist()) == (2.0, [[False, True]])
