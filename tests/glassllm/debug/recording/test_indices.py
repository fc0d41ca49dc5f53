"""The shape of an indexing without the indices: as NumPy finds it with them, and refused where NumPy refuses."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassllm.autograd.ops import OPS
from glassllm.debug.recording.indices import Extent, check_values, indexed_shape

sizes = st.integers(0, 4)
places = st.integers(-4, 4)
slices = st.builds(slice, st.none() | places, st.none() | places, st.sampled_from([None, 1, 2, -1]))
arrays = st.builds(
    lambda values, shape: np.resize(np.array(values), shape),
    st.lists(places, min_size=1, max_size=4),
    st.sampled_from([(), (1,), (2,), (0,), (2, 1), (1, 3)]),
)
lists = st.lists(st.integers(0, 2), max_size=3)
parts = st.one_of(places, slices, st.none(), st.just(...), st.booleans(), arrays, lists)


@st.composite
def indexings(draw):
    """A shape, and an index that may have a mask of some of its axes."""
    shape = tuple(draw(st.lists(sizes, max_size=4)))
    chosen = draw(st.lists(parts, max_size=4))
    if shape and draw(st.booleans()):
        axes = draw(st.integers(1, min(2, len(shape))))
        bits = draw(st.lists(st.booleans(), min_size=1, max_size=5))
        chosen.insert(draw(st.integers(0, len(chosen))), np.resize(np.array(bits), shape[:axes]))
    return shape, tuple(chosen)


@given(indexings())
def test_the_shape_is_the_one_numpy_makes(indexing):
    shape, chosen = indexing
    try:
        wanted = np.zeros(shape)[chosen].shape
    except (IndexError, ValueError):
        with pytest.raises((IndexError, ValueError)):
            indexed_shape(shape, chosen)
        return
    try:
        assert indexed_shape(shape, chosen) == wanted
    except IndexError:
        assert not math.prod(wanted), "only where nothing is taken it is stricter than NumPy"


def test_what_is_indexed_may_be_of_any_size():
    """A billion places, of which none is looked at."""
    far = Extent((10**9,), is_mask=False, lowest=-5, highest=4, count=1)
    assert indexed_shape((5, 7), (far, slice(0, 3))) == (10**9, 3)
    check_values(OPS["embedding"], [(5, 7)], {"ids": far}, (10**9, 7))
    with pytest.raises(IndexError, match="index -5 is out of bounds for an axis of 4"):
        indexed_shape((4, 7), (far, slice(0, 3)))
    with pytest.raises(IndexError, match="ids from -5 to 4 for 4 rows"):
        check_values(OPS["embedding"], [(4, 7)], {"ids": far}, (10**9, 7))


@pytest.mark.parametrize(
    "chosen", [["x" * 10**6, ""], [[1], ["a"]], [1.5], np.array([1.5]), np.array(["a"]), [None]]
)
def test_only_integers_and_booleans_choose(chosen):
    with pytest.raises((IndexError, TypeError), match="an index must hold integers or booleans"):
        indexed_shape((3,), chosen)
