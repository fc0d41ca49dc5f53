import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glassllm.debug.health import faults_of, health_of, norm_of

NAN, INF = np.nan, np.inf
TINY = np.finfo(np.float32).tiny


@pytest.mark.parametrize(
    ("values", "negative", "zero", "positive", "nan", "inf", "masked", "subnormal"),
    [
        ([-1, 0, 2, 3], 1, 1, 2, 0, 0, 0, 0),
        ([-0.0, 0.0], 0, 2, 0, 0, 0, 0, 0),
        ([NAN, INF, -INF, 1], 0, 0, 1, 1, 2, 0, 0),
        ([NAN, NAN], 0, 0, 0, 2, 0, 0, 0),
        ([TINY / 2, -TINY / 2, TINY], 1, 0, 2, 0, 0, 0, 2),
        ([], 0, 0, 0, 0, 0, 0, 0),
    ],
)
def test_every_element_is_counted_once(values, negative, zero, positive, nan, inf, masked, subnormal):
    health = health_of(np.array(values, np.float32))
    assert (health.negative, health.zero, health.positive) == (negative, zero, positive)
    assert (health.nan, health.inf, health.masked, health.subnormal) == (nan, inf, masked, subnormal)


def test_masked_counts_only_where_it_is_minus_inf():
    health = health_of(np.array([-INF, -INF, NAN, 2.0]), np.array([True, False, True, True]))
    assert (health.masked, health.inf, health.nan, health.positive) == (1, 1, 1, 1)
    assert (health.min, health.max, health.mean) == (2, 2, 2)


def test_moments_without_a_finite_element_are_nan():
    health = health_of(np.array([NAN, INF]))
    assert all(math.isnan(m) for m in (health.min, health.mean, health.max, health.std))
    assert health.norm == 0


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-320])
def test_moments_at_the_ends_of_float64(scale):
    health = health_of(np.array([3.0, 4.0]) * scale)
    assert health.norm == pytest.approx(5 * scale, rel=1e-2)
    assert health.mean == pytest.approx(3.5 * scale, rel=1e-2)


@pytest.mark.parametrize("array", [np.array(2.5), np.arange(6).reshape(2, 3), np.array([True, False])])
def test_any_rank_and_dtype(array):
    health = health_of(array)
    assert (health.shape, health.dtype) == (array.shape, str(array.dtype))
    assert health.mean == pytest.approx(array.mean())


FLOATS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@given(FLOATS)
def test_exact_and_silent_for_whatever_it_is_given(array):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        health = health_of(array)
    assert health.negative + health.zero + health.positive + health.nan + health.inf == array.size
    finite = array[np.isfinite(array)].astype(np.float64)
    if finite.size:
        assert (health.min, health.max) == (finite.min(), finite.max())
        assert health.min <= health.mean <= health.max
        with np.errstate(all="ignore"):
            small = finite.size and np.abs(finite).max() < 1e100 and (np.abs(finite).max() > 1e-100)
        if small:
            assert health.norm == pytest.approx(np.linalg.norm(finite.ravel()), rel=1e-9)
            assert health.std == pytest.approx(finite.std(), rel=1e-9, abs=1e-12 * health.norm)


def test_a_norm_lets_nan_and_inf_through():
    assert norm_of(np.array([3.0, 4.0], np.float32)) == 5
    assert math.isnan(norm_of(np.array([NAN, 1])))
    assert norm_of(np.array([1e38, INF], np.float32)) == INF
    assert norm_of(np.array([1e300, INF])) == INF
    assert math.isnan(norm_of(np.array([-1e300, INF, NAN])))


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-540, 1.0, 2.0**540, 2.0**1000])
def test_a_norm_is_right_where_squares_overflow_or_vanish(scale):
    assert norm_of(np.array([[3.0], [-4.0]]) * scale) == 5 * scale == health_of(np.array([3.0, -4.0]) * scale).norm
    assert norm_of(np.array(scale)) == scale
    assert norm_of(np.zeros(0)) == norm_of(np.zeros(3)) == 0


@pytest.mark.parametrize(
    ("values", "masked"),
    [
        ([1.0, 2.0], None),
        ([], None),
        ([NAN, INF, -INF, 1.0], None),
        ([-INF, -INF, NAN, INF], [True, False, True, True]),
        ([3, -1], None),
    ],
)
def test_faults_are_counted_alone_as_with_all_else(values, masked):
    array, masked = np.array(values), None if masked is None else np.array(masked)
    health = health_of(array, masked)
    assert faults_of(array, masked) == (health.nan, health.inf)
