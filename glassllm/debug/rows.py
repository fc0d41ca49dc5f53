"""A tape's rows, kept as columns: a hundred thousand of them take little more than their arrays do."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array, Op

from .by_number import ByNumber
from .snapshot import Kind, Origin, Row

KINDS: tuple[Kind, ...] = ("node", "leaf", "note")
KIND = 3  # the bits of flags that hold the number of the kind
TRACKED, PARAMETER = 4, 8  # the bits above it
HELD = 4096  # rows held ready after they were looked at


class Rows(ByNumber[Row]):
    """Rows by number. One is put together when it is looked at; a column answers for all of them at once."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.scopes: list[str] = []
        self.arrays: list[Array] = []
        self.events = array("i")
        self.numbers = array("i")
        self._flags = bytearray()
        self._inputs = array("i")  # of all rows, one behind the other
        self._ends = array("i", [0])  # of each row's inputs there
        self._ops: list[Op | None] = []
        self._attrs: list[dict[str, Any]] = []
        self._saved: list[tuple[Any, ...]] = []
        self._made_at: list[tuple[Origin, ...]] = []
        self._masked: dict[int, Array] = {}
        self._held: dict[int, Row] = {}
        self._uses = Uses(self._inputs, self._ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def at(self, i: int) -> Row:
        if (row := self._held.get(i)) is not None:
            return row
        if len(self._held) >= HELD:
            self._held.clear()
        return self._held.setdefault(i, self._made(i))

    def __iter__(self) -> Iterator[Row]:
        return map(self._made, range(len(self)))

    def _made(self, i: int) -> Row:
        flags = self._flags[i]
        return Row(
            i,
            KINDS[flags & KIND],
            self.names[i],
            self.scopes[i],
            self.arrays[i],
            self.numbers[i],
            self.events[i],
            tuple(self.inputs(i)),
            self._ops[i],
            self._attrs[i],
            self._saved[i],
            self._masked.get(i),
            bool(flags & TRACKED),
            bool(flags & PARAMETER),
            self._made_at[i],
        )

    # Columns

    def kind(self, i: int) -> Kind:
        return KINDS[self._flags[i] & KIND]

    def masked(self, i: int) -> Array | None:
        return self._masked.get(i)

    def is_tracked(self, i: int) -> bool:
        return bool(self._flags[i] & TRACKED)

    def is_parameter(self, i: int) -> bool:
        return bool(self._flags[i] & PARAMETER)

    def inputs(self, i: int) -> Sequence[int]:
        return self._inputs[self._ends[i] : self._ends[i + 1]]

    def users(self, i: int) -> list[int]:
        """The rows that use a row, in order."""
        return self.uses(i).users()

    def uses(self, i: int) -> "UsesOf":
        """(row, input slot) of each use of a row, in order."""
        if self._uses.rows != len(self):
            self._uses = Uses(self._inputs, self._ends)
        return UsesOf(self._uses, i)

    # Growing

    def append(self, row: Row) -> None:
        self.names.append(row.name)
        self.scopes.append(row.scope)
        self.arrays.append(row.array)
        self.events.append(row.event)
        self.numbers.append(row.number)
        self._flags.append(_flags(row))
        self._ops.append(row.op)
        self._attrs.append(row.attrs)
        self._saved.append(row.saved)
        self._made_at.append(row.made_at)
        if row.masked is not None:
            self._masked[row.id] = row.masked
        self._inputs.extend(row.inputs)
        self._ends.append(len(self._inputs))

    def put(self, i: int, scope: str) -> None:
        """Say which scope a row stands in."""
        self.scopes[i] = scope
        self._held.pop(i, None)

    def __setitem__(self, i: int, row: Row) -> None:
        """Put another row in the place of one; its inputs are the same."""
        assert (row.id, row.inputs) == (i, tuple(self.inputs(i))), f"row {i} cannot become {row.id}"
        self.names[i], self.scopes[i], self.arrays[i] = row.name, row.scope, row.array
        self.events[i], self.numbers[i], self._flags[i] = row.event, row.number, _flags(row)
        self._ops[i], self._attrs[i], self._saved[i], self._made_at[i] = row.op, row.attrs, row.saved, row.made_at
        if row.masked is not None:
            self._masked[i] = row.masked
        self._held.pop(i, None)


def _flags(row: Row) -> int:
    return KINDS.index(row.kind) + TRACKED * row.tracked + PARAMETER * row.parameter


class Uses:
    """The inputs of all rows, sorted by the row they take."""

    def __init__(self, inputs: "array[int]", ends: "array[int]"):
        self.rows = len(ends) - 1
        self.ends = ends
        sources = np.array(inputs, np.int64)
        self.order = array("i", np.argsort(sources, kind="stable").astype(np.int32).tobytes())
        counts = np.bincount(sources, minlength=self.rows)
        self.first = array("i", np.concatenate([[0], np.cumsum(counts)]).astype(np.int32).tobytes())


class UsesOf(ByNumber[tuple[int, int]]):
    """The uses of one row, each looked up when it is asked for."""

    def __init__(self, uses: Uses, row: int):
        self._uses = uses
        self._places = range(uses.first[row], uses.first[row + 1])

    def __len__(self) -> int:
        return len(self._places)

    def users(self) -> list[int]:
        """The rows that use it, each once."""
        edges = self._uses.order[self._places.start : self._places.stop]
        found: list[int] = np.unique(np.searchsorted(self._uses.ends, edges, "right") - 1).tolist()
        return found

    def at(self, i: int) -> tuple[int, int]:
        edge = self._uses.order[self._places[i]]
        row = bisect_right(self._uses.ends, edge) - 1
        return row, edge - self._uses.ends[row]
