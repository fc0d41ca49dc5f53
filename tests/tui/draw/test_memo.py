"""Answers are remembered by the array's identity, and only while it lives."""

import gc

import numpy as np

from tui.draw.memo import KEPT, once_per_array


def test_an_answer_is_worked_out_once_for_one_array_and_its_arguments():
    calls = []

    @once_per_array
    def total(array, masked, power):
        calls.append(power)
        return (array**power).sum()

    first, equal = np.ones(3), np.ones(3)
    assert [total(first, None, 1), total(first, None, 1), total(first, None, 2), total(equal, None, 1)] == [3] * 4
    assert calls == [1, 2, 1]


def test_arrays_are_not_kept_alive_and_answers_are_bounded():
    calls = []

    @once_per_array
    def size(array, masked):
        calls.append(array.size)
        return array.size

    arrays = [np.zeros(i + 1) for i in range(KEPT + 1)]
    for array in arrays:
        size(array, None)
    size(arrays[0], None)
    assert len(calls) == KEPT + 2
    for _ in range(3):  # a new array may get the address of a dead one
        array = np.zeros(7)
        calls.clear()
        assert size(array, None) == 7 and calls == [7]
        del array
        gc.collect()


def test_a_mask_that_got_the_address_of_a_dead_one_is_another():
    @once_per_array
    def hidden(array, masked):
        return 0 if masked is None else int(masked.sum())

    array, addresses = np.zeros(2), []
    while len(addresses) == len(set(addresses)) < 100:  # sooner or later an address comes again
        mask = np.arange(100) < len(addresses)
        assert hidden(array, mask) == len(addresses)
        addresses.append(id(mask))
        del mask
    assert len(addresses) > len(set(addresses))
