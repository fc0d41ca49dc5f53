"""Arrays as a recording holds them: all numbers of a dtype in one member, each distinct array once.

A ref says which array, with which shape, and which axes run fastest in memory, as sums of floats depend on that.
"""

import hashlib
import math
from array import array as numbers_of
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from glassllm.autograd.graph import gradient_dtype
from glassllm.autograd.ops import Array
from glassllm.config import Shape
from glassllm.files import brief

from .columns import LARGEST_SIZE, NUMBER_KINDS, Columns, first_wrong
from .encoding import Fault, Json
from .texts import Numbered

DTYPES = [np.dtype(name) for name in NUMBER_KINDS]
KIND_OF = {dtype: kind for kind, dtype in enumerate(DTYPES)}
MOST_AXES = 32
LONGEST_LIST = 700  # characters of a shape, or of an order of axes
MOST_SHAPES = 40_000  # distinct ones
HELD = 4096  # shapes ready after they were looked at


# Writing


class Pools:
    """The arrays to write, and the refs that stand for them."""

    def __init__(self, texts: Numbered) -> None:
        self.members: dict[str, list[Array]] = {}  # of each dtype, flat
        self._texts = texts
        self._kinds, self._sizes = numbers_of("B"), numbers_of("q")
        self._of_content: dict[tuple[int, int, bytes], int] = {}
        self._refs: dict[tuple[int, int, int], int] = {}
        self._known: dict[int, tuple[Array, int]] = {}  # holds the array, so that its id stays its own

    def ref(self, array: Array) -> int:
        """The number of `array`: equal for equal numbers, shapes and orders in memory.

        Raises Fault for a dtype that a recording cannot hold.
        """
        if id(array) not in self._known:
            self._known[id(array)] = (array, self._enter(array))
        return self._known[id(array)][1]

    def _enter(self, array: Array) -> int:
        kind = KIND_OF.get(array.dtype.newbyteorder("="))
        if kind is None:
            raise Fault(f"{array.dtype} numbers cannot be recorded")
        axes = memory_order(array)
        flat = np.asarray(array.transpose(axes), DTYPES[kind], order="C").reshape(-1)
        content = hashlib.blake2b(flat.view(np.uint8).data, digest_size=16).digest()
        stored = self._of_content.setdefault((kind, flat.size, content), len(self._sizes))
        if stored == len(self._sizes):
            self._kinds.append(kind)
            self._sizes.append(flat.size)
            self.members.setdefault(NUMBER_KINDS[kind], []).append(flat)
        as_it_stands = axes == tuple(range(array.ndim))
        shape, order = _text(array.shape), "" if as_it_stands else _text(axes)
        ref = (stored, self._texts.number(shape), self._texts.number(order))
        return self._refs.setdefault(ref, len(self._refs))

    def columns(self) -> dict[str, Any]:
        refs = np.array(list(self._refs), np.int64).reshape(-1, 3)
        return {
            "ref_arrays": refs[:, 0],
            "ref_shapes": refs[:, 1],
            "ref_axes": refs[:, 2],
            "array_kinds": self._kinds,
            "array_sizes": self._sizes,
        }


def _text(sizes: Shape) -> str:
    return f"[{','.join(map(str, sizes))}]"


def memory_order(array: Array) -> tuple[int, ...]:
    """The axes from slowest to fastest; as they stand where the array is not dense in any order."""
    as_it_stands = tuple(range(array.ndim))
    if array.flags.c_contiguous:
        return as_it_stands
    by_stride = tuple(sorted(as_it_stands, key=lambda axis: -array.strides[axis]))
    return by_stride if array.transpose(by_stride).flags.c_contiguous else as_it_stands


# Reading


def shape_of(text: str) -> Shape:
    shape = _integers(text)
    if len(shape) > MOST_AXES or math.prod(max(n, 1) for n in shape) > LARGEST_SIZE:
        raise Fault("a shape is absurdly large")
    return shape


def _integers(text: str) -> tuple[int, ...]:
    """`[2,3]`"""
    is_list = len(text) < LONGEST_LIST and text[:1] + text[-1:] == "[]"
    inner = text[1:-1].split(",") if is_list and len(text) > 2 else []
    if not is_list or not all(n.isascii() and n.isdecimal() and len(n) < 20 for n in inner):
        raise Fault(f"must be a list of sizes, got {brief(text)}")
    return tuple(map(int, inner))


class Refs:
    """The refs of a recording. Raises Fault where one does not fit its array."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._texts = texts = columns.texts
        self.kinds = columns.array_kinds[columns.ref_arrays]
        self.shape_at = lru_cache(HELD)(lambda text: shape_of(texts.at(text)))
        self._check()

    def __len__(self) -> int:
        return len(self._columns.ref_arrays)

    def shape(self, ref: int) -> Shape:
        return self.shape_at(int(self._columns.ref_shapes[ref]))

    def dtype(self, ref: int) -> "np.dtype[Any]":
        return DTYPES[int(self.kinds[ref])]

    def number(self, value: Json) -> int:
        """A ref, as attributes name it."""
        if type(value) is not int or not 0 <= value < len(self):
            raise Fault(f"there is no array {brief(value)}")
        return value

    def blank(self, value: Json) -> Array:
        """An array that takes no memory, where its numbers are not needed."""
        ref = self.number(value)
        return np.broadcast_to(np.zeros((), self.dtype(ref)), self.shape(ref))

    def alike(self, some: Array, others: Array) -> Array:
        """Which of the refs have the shapes and dtypes of the others."""
        shapes = self._columns.ref_shapes
        return np.asarray((shapes[some] == shapes[others]) & (self.kinds[some] == self.kinds[others]))

    def sizes(self, refs: Array) -> Array:
        return self._columns.array_sizes[self._columns.ref_arrays[refs]].astype(np.int64)

    def gradient_bytes(self) -> Array:
        """Of each ref, what a gradient of it takes."""
        found: Array = self._columns.array_sizes[self._columns.ref_arrays].astype(np.int64)
        found *= np.array([gradient_dtype(dtype).itemsize for dtype in DTYPES])[self.kinds]
        return found

    def nbytes(self) -> int:
        """What all arrays take."""
        totals = self.totals()
        return sum(totals[name] * np.dtype(name).itemsize for name in totals)

    def totals(self) -> Mapping[str, int]:
        """How many numbers there are of each dtype."""
        kinds, sizes = self._columns.array_kinds, self._columns.array_sizes
        found = np.zeros(len(DTYPES), np.int64)
        np.add.at(found, kinds, sizes.astype(np.int64, copy=False))
        return {NUMBER_KINDS[kind]: int(found[kind]) for kind in np.unique(kinds)}

    def starts(self) -> Array:
        """Where each array starts among the numbers of its dtype."""
        kinds, sizes = self._columns.array_kinds, self._columns.array_sizes.astype(np.int64)
        found = np.empty(len(sizes), np.int64)
        for kind in np.unique(kinds):
            among = kinds == kind
            found[among] = np.cumsum(sizes[among]) - sizes[among]
        return found

    def _check(self) -> None:
        """Every shape has as many elements as its array, and axes are an order of its own."""
        columns = self._columns
        shapes = np.unique(columns.ref_shapes)
        if len(shapes) > MOST_SHAPES:
            raise Fault(f"it has {len(shapes)} shapes, more than {MOST_SHAPES}")
        counts = np.zeros(len(self._texts), np.int64)
        counts[shapes] = [math.prod(self.shape_at(text)) for text in shapes.tolist()]
        if (ref := first_wrong(counts[columns.ref_shapes] != columns.array_sizes[columns.ref_arrays])) is not None:
            stored, size = columns.ref_arrays[ref], self.sizes(np.array([ref]))[0]
            raise Fault(f"array {stored} of {size} elements cannot have the shape {self.shape(ref)}")
        lengths = np.diff(columns.text_starts)[columns.ref_axes]
        moved = np.flatnonzero(lengths)
        for ref in moved[np.unique(_pairs(columns, moved), return_index=True)[1]].tolist():
            axes = self.axes(ref)
            if sorted(axes) != list(range(len(self.shape(ref)))):
                raise Fault(
                    f"array {columns.ref_arrays[ref]} has axes that are no order of {len(self.shape(ref))}"
                )

    def axes(self, ref: int) -> tuple[int, ...]:
        """From slowest to fastest in memory; none: as they stand."""
        text = self._texts.at(self._columns.ref_axes[ref])
        return _integers(text) if text else ()


def _pairs(columns: Columns, refs: Array) -> Array:
    return columns.ref_shapes[refs].astype(np.int64) << 32 | columns.ref_axes[refs].astype(np.int64)


class Views:
    """The arrays that refs stand for: read-only views into the numbers of their dtypes, each made once."""

    def __init__(self, refs: Refs, columns: Columns, numbers: Mapping[str, Array]) -> None:
        self._refs = refs
        self._stored = columns.ref_arrays
        self._starts = refs.starts()
        self._numbers = [numbers.get(name) for name in NUMBER_KINDS]
        self._made: list[Array | None] = [None] * len(refs)

    def __call__(self, ref: int) -> Array:
        made = self._made[ref]
        if made is None:
            made = self._made[ref] = self._view(ref)
        return made

    def _view(self, ref: int) -> Array:
        refs, shape = self._refs, self._refs.shape(ref)
        numbers: Array | None = self._numbers[refs.kinds[ref]]
        assert numbers is not None, f"no numbers of {refs.dtype(ref)}"
        start = self._starts[self._stored[ref]]
        flat: Array = numbers[start : start + math.prod(shape)]
        axes = refs.axes(ref)
        if not axes:
            return flat.reshape(shape)
        return flat.reshape([shape[axis] for axis in axes]).transpose(np.argsort(axes))
