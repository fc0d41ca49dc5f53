"""The shelf: what was opened stays to go back to, the first for good, others while there is room."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from tui.screens import shelf as module
from tui.screens.shelf import Shelf, arrays_of


def session(size=4):
    x = Tensor(np.ones(size), requires_grad=True)
    return Session.of((x * x).sum())


@pytest.fixture
def shelf():
    made = Shelf()
    for name in ("tiny.npz", "step 3", "token 13"):
        made.put(name, session())
    return made


def test_without_a_name_it_is_the_one_before():
    shelf, first, second = Shelf(), session(), session()
    shelf.put("tiny.npz", first)
    with pytest.raises(CommandError, match=r"nothing was opened before; there is tiny\.npz alone"):
        shelf.take()
    shelf.put("step 3", second)
    assert [shelf.take(), shelf.take(), shelf.take()] == [first, second, first]


@pytest.mark.parametrize("words", ["tiny", "tiny.npz", "step", "token 13"])
def test_the_beginning_of_a_name_is_enough(shelf, words):
    assert shelf.take(words) is shelf.take(next(name for name in shelf.names if name.startswith(words)))


@pytest.mark.parametrize("words", ["step 4", "t", "x"])
def test_a_name_that_is_none_or_several_is_refused_with_those_there_are(shelf, words):
    with pytest.raises(CommandError, match=r"tiny\.npz, step 3, token 13"):
        shelf.take(words)


def test_of_more_than_four_the_one_not_shown_for_longest_goes_but_not_the_first(shelf):
    shelf.put("step 9", session())
    shelf.take("step 3")
    shelf.put("step 10", session())
    assert set(shelf.names) == {"tiny.npz", "step 3", "step 9", "step 10"}


def test_the_same_name_again_takes_its_place(shelf):
    newer = session()
    shelf.put("step 3", newer)
    assert len(shelf.names) == 3
    assert shelf.take("step 3") is newer


def test_of_large_ones_only_the_newest_stays_beside_the_first(monkeypatch):
    monkeypatch.setattr(module, "ROOM", 20_000)
    shelf = Shelf()
    for name in ("first", "a", "b"):
        shelf.put(name, session(1000))
    assert shelf.names == ("first", "b")
    assert shelf.take() is shelf.take("first")


def test_memory_counts_each_array_once_by_what_owns_it():
    made = session(1000)
    for _ in made.last():
        pass
    arrays = {id(array): array for array in arrays_of(made)}
    assert all(array.base is None or not isinstance(array.base, np.ndarray) for array in arrays.values())
    assert 16_000 <= sum(array.nbytes for array in arrays.values()) < 60_000
