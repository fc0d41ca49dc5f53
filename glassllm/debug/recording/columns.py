"""The columns of a recording: what it says of its rows, arrays and texts, as arrays of numbers from 0 on.

A hundred thousand rows are then a few short members of the file, whose sizes are known before any is read, and
checked all at once: every number in them points to something that exists.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self, get_type_hints

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.rows import KIND, KINDS, PARAMETER, TRACKED

from .encoding import Fault
from .texts import Texts

PLACE, CUSTOM = 16, 32  # flags beside those of rows: a leaf that may take a gradient, an op without a rule here
FLAGS = 64
NODE, LEAF, NOTE = range(len(KINDS))
assert len(KINDS) <= KIND + 1 == TRACKED < PARAMETER < PLACE, "flags have a bit each, above the kind"

COLUMN_BYTES = 7 << 20  # of all columns: what refusing may take, but for a moment's needs
MOST = {"row": 1 << 18, "input": 1 << 19, "text": 1 << 18, "word": 1 << 18}  # what is looked at one by one
LARGEST_SIZE = 1 << 40
LARGEST_NUMBER = 1 << 31
NUMBER_KINDS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                "float16", "float32", "float64")  # fmt: skip
"""Dtypes that a recording holds, and the members with all numbers of each."""


class Each(NamedTuple):
    """A column with a number for each of one group: which of another, or one below a limit."""

    per: str
    of: str | int


class Starts(NamedTuple):
    """A column that says where what belongs to each of one group starts in another, and where that ends."""

    per: str
    of: str


@dataclass(frozen=True)
class Columns:
    """Each column is a member of the file. A group's size is the length of its first column."""

    flags: Annotated[Array, Each("row", FLAGS)]  # the number of the kind, and bits
    names: Annotated[Array, Each("row", "text")]
    scopes: Annotated[Array, Each("row", "text")]
    attrs: Annotated[Array, Each("row", "text")]  # JSON
    origins: Annotated[Array, Each("row", "text")]  # JSON
    arrays: Annotated[Array, Each("row", "ref")]
    results: Annotated[Array, Each("row", "ref")]  # what the op made: not so where a user wrote into it
    input_starts: Annotated[Array, Starts("row", "input")]
    saved_starts: Annotated[Array, Starts("row", "saved")]
    sources: Annotated[Array, Each("input", "row")]
    taken: Annotated[Array, Each("input", "ref")]  # what the op was given
    carried: Annotated[Array, Each("input", 2)]  # whether a gradient is sent there
    saved: Annotated[Array, Each("saved", "ref")]
    leaves: Annotated[Array, Each("leaf", "row")]  # that take a gradient, in order
    created: Annotated[Array, Each("created", "row")]  # tracked nodes, oldest first; none: as rows
    event_rows: Annotated[Array, Each("event", "row")]
    event_steps: Annotated[Array, Each("event", "text")]
    event_layers: Annotated[Array, Each("event", LARGEST_NUMBER)]  # from 1; 0: of no layer
    senders: Annotated[Array, Each("sender", "row")]  # custom ops, in each traversal those that a gradient reached
    sent: Annotated[Array, Each("sent", LARGEST_NUMBER)]  # refs from 1, for each input; 0: nothing
    ref_arrays: Annotated[Array, Each("ref", "array")]  # a ref: an array as it is seen
    ref_shapes: Annotated[Array, Each("ref", "text")]  # JSON
    ref_axes: Annotated[Array, Each("ref", "text")]  # JSON, slowest first; empty: as they stand
    array_kinds: Annotated[Array, Each("array", len(NUMBER_KINDS))]
    array_sizes: Annotated[Array, Each("array", LARGEST_SIZE)]
    text_bytes: Annotated[Array, Each("byte", 256)]
    text_starts: Annotated[Array, Starts("text", "byte")]
    word_bytes: Annotated[Array, Each("word byte", 256)]  # the vocabulary
    word_starts: Annotated[Array, Starts("word", "word byte")]

    @classmethod
    def made(cls, columns: Mapping[str, Any]) -> Self:
        """Each as small unsigned integers as can be."""
        return cls(**{name: _smallest(np.asarray(columns[name], np.int64)) for name in COLUMNS})

    @classmethod
    def read(cls, read: Callable[[str], Array]) -> Self:
        """Raises Fault where one does not fit the others."""
        made = cls(**{name: read(name) for name in COLUMNS})
        made.check()
        return cls(**{name: _signed(getattr(made, name)) for name in COLUMNS})

    def check(self) -> None:
        """Raise Fault where one does not fit the others."""
        counts: dict[str, int] = {}
        for name, said in COLUMNS.items():
            length = len(getattr(self, name)) - isinstance(said, Starts)
            if length != counts.setdefault(said.per, length):
                raise Fault(f"{name} has {length} entries, there are {counts[said.per]} of {said.per}")
        for group, most in MOST.items():
            if counts[group] > most:
                raise Fault(f"it has {counts[group]} of {group}, more than {most}")
        for name, said in COLUMNS.items():
            numbers = getattr(self, name)
            limit = counts[said.of] if isinstance(said.of, str) else said.of
            if isinstance(said, Starts):
                _check_starts(name, numbers, limit)
            elif len(numbers) and numbers.max() >= limit:
                i = int(np.argmax(numbers >= limit))
                raise Fault(f"{name}, number {i}: must be an integer from 0 to {limit - 1}, got {numbers[i]}")

    def __len__(self) -> int:
        return len(self.flags)

    @property
    def kinds(self) -> Array:
        return self.flags & KIND

    def has(self, flag: int) -> Array:
        """Which rows have a flag."""
        return np.asarray((self.flags & flag) != 0)

    def owners(self) -> Array:
        """The node of each input."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.input_starts))

    @property
    def tracked(self) -> Array:
        """The tracked rows that are nodes, oldest first."""
        if len(self.created):
            return self.created
        return np.flatnonzero(self.has(TRACKED) & (self.kinds == NODE)).astype(np.int32)

    @property
    def texts(self) -> Texts:
        return Texts(self.text_bytes, self.text_starts)

    @property
    def words(self) -> Texts:
        return Texts(self.word_bytes, self.word_starts)


COLUMNS: dict[str, Each | Starts] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Columns, include_extras=True).items()
}


def _signed(numbers: Array) -> Array:
    """Where they have 64 bits: with others of less, unsigned ones would become floats."""
    return numbers.view(np.int64) if numbers.dtype == np.uint64 else numbers


def _smallest(numbers: Array) -> Array:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _check_starts(name: str, numbers: Array, end: int) -> None:
    if not len(numbers) or numbers[0] != 0 or numbers[-1] != end or (numbers[1:] < numbers[:-1]).any():
        raise Fault(f"{name} must rise from 0 to {end}")


def first_wrong(wrong: Array) -> int | None:
    """The first place that is wrong; None where none is."""
    return int(wrong.argmax()) if wrong.any() else None
