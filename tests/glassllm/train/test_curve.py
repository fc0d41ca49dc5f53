"""Curves: thinned, never cut, with the same numbers whenever they are saved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassllm.train import Curve
from glassllm.train.curve import CAPACITY


def filled(values, every=1):
    curve = Curve()
    for i, value in enumerate(values):
        curve.add(i * every, value)
    return curve


def test_a_short_one_holds_every_value():
    curve = filled([3.0, 1.0, 2.0], every=5)
    assert curve.table.tolist() == [[0, 5, 10], *[[3, 1, 2]] * 3] and len(curve) == 3


@pytest.mark.parametrize("count", [CAPACITY, CAPACITY + 1, 5 * CAPACITY])
@pytest.mark.parametrize("every", [1, 100])
def test_a_long_one_is_thinned_not_cut(count, every):
    values = np.random.default_rng(0).normal(size=count)
    values[count // 3] = 99.0  # a spike
    steps, mean, low, high = filled(values, every).table
    assert CAPACITY / 4 < len(steps) <= CAPACITY and steps[0] == 0
    assert steps[-1] <= (count - 1) * every < steps[-1] + 2 * (steps[-1] - steps[-2])
    assert high.max() == 99.0 and low.min() == values.min()
    assert (low <= mean + 1e-12).all() and (mean <= high + 1e-12).all()
    assert len(set(np.diff(steps))) <= (1 if every == 1 else 3)


def test_each_stretch_is_the_mean_of_its_steps():
    values = np.arange(4.0 * CAPACITY)
    curve = filled(values)
    stretches = values.reshape(-1, curve.stride)
    assert curve.stride == 4 and np.array_equal(curve.table[1], stretches.mean(axis=1))


def test_what_is_not_finite_is_left_out():
    assert filled([1.0, np.nan, np.inf, -np.inf, 2.0]).table[0].tolist() == [0, 4]


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3 * CAPACITY), st.integers(1, 200))
def test_saved_anywhere_it_goes_on_as_if_it_had_not_been(cut, more):
    values = np.random.default_rng(cut).normal(size=cut + more)
    whole, part = filled(values), filled(values[:cut])
    resumed = Curve.of(part.stride, part.bins)
    for i in range(cut, cut + more):
        resumed.add(i, values[i])
    assert resumed.stride == whole.stride and np.array_equal(resumed.bins, whole.bins)


@pytest.mark.parametrize(
    "stride, bins",
    [
        (1, np.zeros((4, 2))),
        (1, np.zeros(5)),
        (1, np.ones((5, CAPACITY + 1))),
        (1, np.ones((5, 2))),
        (0, np.ones((5, 1))),
        (1, np.full((5, 1), np.inf)),
        (1, np.full((5, 1), 0.5)),
        (1, -np.ones((5, 1))),
    ],
)
def test_what_no_curve_gives_is_refused(stride, bins):
    with pytest.raises(ValueError, match="a curve"):
        Curve.of(stride, bins)
