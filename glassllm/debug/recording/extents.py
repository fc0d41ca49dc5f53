"""How far the numbers of some arrays reach, seen as all are read through once, none being kept."""

from array import array
from collections.abc import Callable, Iterator

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.slices import Slice, Sliced

from .columns import NUMBER_KINDS
from .encoding import Json
from .indices import NO_INDEX, Extent, is_index
from .manifest import Manifest

LARGEST = 2**63 - 1  # what an integer beyond it counts as: no index either


class Extents:
    """First say which arrays are wanted, then look through their dtypes, then ask."""

    def __init__(self, manifest: Manifest) -> None:
        self._refs, self._columns = manifest.refs, manifest.columns
        self._named = array("q")
        self._wanted: Array  # arrays, in order
        self._found: Array  # of each the least, the largest, and how many are not 0

    def want(self, value: Json) -> None:
        self._named.append(self._array_of(value))

    def _array_of(self, value: Json) -> int:
        return int(self._columns.ref_arrays[self._refs.number(value)])

    def look(self, read: Callable[[str], Iterator[Array]]) -> Sliced[None]:
        """Read through all numbers, dtype by dtype."""
        self._wanted = np.unique(np.array(self._named, np.int64))
        self._found = np.tile(np.array([LARGEST, -LARGEST, 0]), (len(self._wanted), 1))
        starts, done, pace = self._refs.starts()[self._wanted], 0, Slice()
        ends = starts + self._columns.array_sizes[self._wanted].astype(np.int64)
        totals = self._refs.totals()
        for name in totals:
            among = np.flatnonzero(self._columns.array_kinds[self._wanted] == NUMBER_KINDS.index(name))
            for count in self._looking(read(name), among, starts, ends):
                done += count
                if pace.is_full(count):
                    yield done, sum(totals.values())

    def _looking(self, pieces: Iterator[Array], among: Array, starts: Array, ends: Array) -> Iterator[int]:
        at, waiting = 0, iter(among.tolist())
        wanted = next(waiting, None)
        for piece in pieces:
            end = at + len(piece)
            while wanted is not None and starts[wanted] < end:
                self._note(wanted, piece[max(starts[wanted] - at, 0) : ends[wanted] - at])
                if ends[wanted] > end:
                    break
                wanted = next(waiting, None)
            at = end
            yield len(piece)

    def _note(self, wanted: int, part: Array) -> None:
        if part.size and is_index(part.dtype):
            lowest, highest, count = self._found[wanted].tolist()
            lowest, highest = min(lowest, int(part.min())), max(highest, min(int(part.max()), LARGEST))
            self._found[wanted] = min(lowest, LARGEST), highest, count + np.count_nonzero(part)

    def of(self, value: Json) -> Extent:
        """Of a wanted array. Raises IndexError for other numbers than integers and booleans."""
        ref = self._refs.number(value)
        dtype, place = self._refs.dtype(ref), np.searchsorted(self._wanted, self._array_of(value))
        if not is_index(dtype):
            raise IndexError(NO_INDEX)
        return Extent(self._refs.shape(ref), dtype.kind == "b", *self._found[place].tolist())
