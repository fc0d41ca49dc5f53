"""How a case reads its arrays, and how numbers stand inside a sum."""

import numpy as np
import pytest

from glassllm.debug.explain.case import Case, at, stretched


@pytest.mark.parametrize(
    ("x", "added", "taken"),
    [
        (0.5, "+ 0.5000", "− 0.5000"),
        (-0.5, "− 0.5000", "− (−0.5000)"),
        (0.0, "+ 0", "− 0"),
        (np.nan, "+ NaN", "− NaN"),
        (np.inf, "+ Inf", "− Inf"),
        (-np.inf, "− Inf", "− (−Inf)"),
        (-2e-7, "− 2e−7", "− (−2e−7)"),
    ],
)
def test_signs_inside_a_sum(x, added, taken):
    case = Case(np.zeros(()), (), {}, ())
    assert (case.plus(x), case.minus(x)) == (added, taken)


@pytest.mark.parametrize("shape", [(), (3,), (1,), (2, 3), (2, 1), (1, 3), (4, 2, 3), (4, 1, 1)])
def test_broadcasting_finds_the_element(shape):
    array = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
    whole = np.broadcast_to(array, (4, 2, 3))
    for cell in np.ndindex(whole.shape):
        assert at(array, cell) == whole[cell] == array[stretched(shape, cell)]
