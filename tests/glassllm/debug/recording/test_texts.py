"""Texts in two arrays are the texts they were, by numbers of any kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassllm.debug.recording.encoding import Fault
from glassllm.debug.recording.texts import Numbered, Texts, line_of, packed

texts = st.lists(st.text(st.characters(), max_size=6), max_size=9)


@given(texts)
def test_they_come_back(texts):
    assert list(Texts(*packed(texts))) == texts


@pytest.mark.parametrize("kind", [int, np.uint8, np.int64])
def test_by_numbers_of_any_kind(kind):
    held = Texts(*packed(map(str, range(256))))
    assert [held.at(kind(i)) for i in range(256)] == list(map(str, range(256)))


def test_bytes_that_are_none():
    held = Texts(np.array([97, 255], np.uint8), np.array([0, 1, 2]))
    assert held[0] == "a"
    with pytest.raises(Fault, match="text 1: 'utf-8' codec can't decode"):
        held[1]


@given(texts)
def test_each_has_one_number(texts):
    numbered = Numbered()
    numbers = [numbered.number(text) for text in texts]
    assert [list(numbered)[number] for number in numbers] == texts
    assert len(list(numbered)) == len({*texts})


@given(st.text())
def test_a_line_may_be_shown(text):
    assert line_of(text).isprintable() and len(line_of(text)) <= 300
