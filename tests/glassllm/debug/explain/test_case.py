"""How a case reads its arrays, and how numbers are written: as the panels above write them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassllm.debug.explain.case import at, coordinates, minus, plus, signed, stretched
from tui.draw.numbers import cell as panel_cell


@given(st.floats(width=64))
@example(0.0)
@example(-0.0)
@example(9999.99999)
@example(1e-3)
@example(0.00099999)
@example(5e-324)
def test_a_cell_is_written_as_the_panels_write_it(x):
    assert signed(x) == panel_cell(x)


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
    assert (plus(x), minus(x)) == (added, taken)


def test_fewer_places():
    assert (signed(3.1, 3), signed(0.02, 3), signed(0.004, 3)) == ("+3.100", "+0.020", "+4e−3")


def test_coordinates_are_written_without_spaces():
    assert (coordinates((8, 7)), coordinates(())) == ("[8,7]", "[]")


@pytest.mark.parametrize("shape", [(), (3,), (1,), (2, 3), (2, 1), (1, 3), (4, 2, 3), (4, 1, 1)])
def test_broadcasting_finds_the_element(shape):
    array = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
    whole = np.broadcast_to(array, (4, 2, 3))
    for cell in np.ndindex(whole.shape):
        assert at(array, cell) == whole[cell] == array[stretched(shape, cell)]
