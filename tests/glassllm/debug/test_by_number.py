"""A sequence by its length and `at` answers as a list of the same items does."""

import pytest

from glassllm.debug.by_number import ByNumber

ITEMS = [i * i for i in range(5)]


class Squares(ByNumber[int]):
    def __len__(self):
        return len(ITEMS)

    def at(self, i):
        assert 0 <= i < len(ITEMS), f"expected a number from 0 to {len(ITEMS)}, got {i}"
        return i * i


@pytest.mark.parametrize("key", [0, 4, -1, -5, slice(1, 3), slice(None, None, -2), slice(-2, 99), slice(9, 12)])
def test_it_is_indexed_as_a_list_is(key):
    assert Squares()[key] == ITEMS[key]


@pytest.mark.parametrize("key", [5, -6])
def test_outside_there_is_nothing(key):
    with pytest.raises(IndexError):
        Squares()[key]


def test_it_ends():
    assert list(Squares()) == ITEMS and list(reversed(Squares())) == ITEMS[::-1] and 9 in Squares()
