"""Users' arrays as they were when the run used them: copied while that is cheap, checksummed beyond.

What the engine makes is never written again; a user's array may be, at any time and without a word.
"""

import zlib
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array

from .snapshot import Staleness

COPIED_BYTES = 64 << 20  # of users' arrays in all


class Kept:
    """The users' arrays of one recording, by row."""

    def __init__(self, copied_bytes: int = COPIED_BYTES) -> None:
        self._left = copied_bytes
        self._owners: set[int] = set()  # ids of the arrays whose memory is a user's
        self._theirs: dict[int, Array] = {}
        self._copies: dict[int, Array] = {}
        self._checksums: dict[int, int] = {}
        self._own: dict[int, tuple[Array, Array]] = {}  # by id: a user's array and what is kept of it
        self.rewritten: set[int] = set()  # rows that an op of the run took after a user wrote into them

    def of_user(self, row: int, array: Array) -> Array:
        """What to keep of a user's array: a read-only copy, or beyond the limit the array itself."""
        self._owners.add(id(owner(array)))
        self._theirs[row] = array  # held, so that its id stays its own
        copy = self._copied(array)
        if copy is array:
            self._checksums[row] = _checksum(array)
        else:
            self._copies[row] = copy
        return copy

    def _copied(self, array: Array) -> Array:
        """A read-only copy, or beyond the limit the array itself."""
        copy = array
        if array.nbytes <= self._left:
            self._left -= array.nbytes
            copy = np.array(array)
            copy.flags.writeable = False
        self._own[id(array)] = array, copy
        return copy

    def known(self, value: Any) -> Any:
        """What is kept of a user's array; anything else as it is.

        One that the user has written into since it was last used is kept once more, as it is now.
        """
        array, copy = self._own.get(id(value), (value, value))
        return copy if array is copy or is_same(array, copy) else self._copied(value)

    def own(self, value: Any) -> Any:
        """What to keep of an op's input, attribute or saved value, whose arrays a user might write into."""
        if isinstance(value, np.ndarray):
            return self.known(value) if id(value) in self._own else self._copied(value)
        if type(value) in (tuple, list):
            return type(value)(map(self.own, value))
        return value

    def of_engine(self, row: int, array: Array) -> Array:
        """What to keep of an op's result: itself, unless it looks into a user's memory as a reshape may."""
        return self.of_user(row, array) if id(owner(array)) in self._owners else array

    def staleness(self, row: int) -> Staleness:
        """Whether a user wrote into the array of this row, and since when; reads all of it."""
        if row in self.rewritten:
            return "between"
        if row in self._copies:
            return "" if is_same(self._theirs[row], self._copies[row]) else "since"
        is_lost = row in self._checksums and _checksum(self._theirs[row]) != self._checksums[row]
        return "lost" if is_lost else ""

    def lost(self) -> list[int]:
        """The rows beyond the limit that a user wrote into since: what they were is not known any more."""
        return [row for row in self._checksums if self.staleness(row) == "lost"]


def is_same(array: Array, copy: Array) -> bool:
    """Whether all numbers are equal; NaN is as good as NaN."""
    if array is copy:
        return True
    if array.shape != copy.shape:
        return False
    equal = array == copy
    return bool(equal.all()) or bool((equal | ((array != array) & (copy != copy))).all())


def owner(array: Array) -> Array:
    """The array whose memory this one looks into."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _checksum(array: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)
