"""Users' arrays as they were when the run used them: copied while that is cheap, checksummed beyond.

What the engine makes is never written again; a user's array may be, at any time and without a word.
"""

import zlib

import numpy as np

from glassllm.autograd.ops import Array

COPIED_BYTES = 64 << 20  # of users' arrays in all


class Kept:
    """The users' arrays of one recording, by row."""

    def __init__(self, copied_bytes: int = COPIED_BYTES) -> None:
        self._left = copied_bytes
        self._owners: set[int] = set()  # ids of the arrays whose memory is a user's
        self._theirs: dict[int, Array] = {}
        self._copies: dict[int, Array] = {}
        self._checksums: dict[int, int] = {}

    def of_user(self, row: int, array: Array) -> Array:
        """What to keep of a user's array: a read-only copy, or beyond the limit the array itself."""
        self._owners.add(id(_owner(array)))
        self._theirs[row] = array  # held, so that its id stays its own
        if array.nbytes > self._left:
            self._checksums[row] = _checksum(array)
            return array
        self._left -= array.nbytes
        copy = self._copies[row] = np.array(array)
        copy.flags.writeable = False
        return copy

    def of_engine(self, row: int, array: Array) -> Array:
        """What to keep of an op's result: itself, unless it looks into a user's memory as a reshape may."""
        return self.of_user(row, array) if id(_owner(array)) in self._owners else array

    def is_stale(self, row: int) -> bool:
        """Whether a user wrote into the array of this row since the run used it."""
        if row in self._copies:
            theirs, copy = self._theirs[row], self._copies[row]
            return not bool(np.all((theirs == copy) | ((theirs != theirs) & (copy != copy))))
        return row in self._checksums and _checksum(self._theirs[row]) != self._checksums[row]


def _owner(array: Array) -> Array:
    """The array whose memory this one looks into."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _checksum(array: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)
