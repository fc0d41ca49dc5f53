"""Arrays and attributes as JSON, and back.

The numbers of an array lie in a member of the file, once for all arrays of the same numbers; where an array has
another shape than its member, or other axes running fastest in memory, its reference says so. The order in memory
is kept because sums of floats depend on it.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.config import Shape
from glassllm.files import brief

Json = Any  # what json.loads makes

KINDS = {np.dtype(name).str for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")}
LARGEST_DIMENSION = 2**40
LARGEST_INTEGER = 2**63 - 1
DEEPEST = 16
MOST_AXES = 32


class Fault(ValueError):
    """What is wrong with a recording, in one line that does not name the file."""


@dataclass(frozen=True, slots=True)
class Ref:
    """An array: the member with its numbers, its shape, and its axes from slowest to fastest in memory."""

    member: int
    shape: Shape
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """What the manifest says of a member: its numbers lie in C order."""

    dtype: np.dtype[Any]
    shape: Shape

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


ArrayOf = Callable[[Ref], Array]
StandIn = Callable[[Ref], Any]  # an array, or what stands for one where its numbers are not needed


# Writing


class Members:
    """The arrays to write, each distinct one once, and the references that name them."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._of_content: dict[tuple[str, int, bytes], int] = {}
        self._known: dict[int, tuple[Array, Json]] = {}  # holds the array, so that its id stays its own

    def ref(self, array: Array) -> Json:
        """What stands for `array` in the manifest: equal for equal numbers, shapes and orders in memory.

        Raises Fault for a dtype that a recording cannot hold.
        """
        if id(array) not in self._known:
            self._known[id(array)] = (array, self._enter(array))
        return self._known[id(array)][1]

    def _enter(self, array: Array) -> Json:
        native = array.dtype.newbyteorder("=")
        if native.str not in KINDS:
            raise Fault(f"{array.dtype} numbers cannot be recorded")
        axes = memory_order(array)
        dense = np.asarray(array.transpose(axes), native, order="C")
        content = hashlib.blake2b(dense.reshape(-1).view(np.uint8).data, digest_size=16).digest()
        member = self._of_content.setdefault((native.str, dense.size, content), len(self.arrays))
        if member == len(self.arrays):
            self.arrays.append(dense)
        if axes != tuple(range(array.ndim)):
            return [member, list(array.shape), list(axes)]
        return member if self.arrays[member].shape == array.shape else [member, list(array.shape)]


def memory_order(array: Array) -> tuple[int, ...]:
    """The axes from slowest to fastest; as they stand where the array is not dense in any order."""
    as_it_stands = tuple(range(array.ndim))
    if array.flags.c_contiguous:
        return as_it_stands
    by_stride = tuple(sorted(as_it_stands, key=lambda axis: -array.strides[axis]))
    return by_stride if array.transpose(by_stride).flags.c_contiguous else as_it_stands


def encode(value: Any, members: Members) -> Json:
    """An attribute as JSON: numbers, text, None, slices, Ellipsis, arrays, and lists and tuples of them.

    Raises Fault for anything else.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": members.ref(np.asarray(value))}
    if value is ...:
        return {"ellipsis": True}
    if isinstance(value, slice):
        return {"slice": [encode(part, members) for part in (value.start, value.stop, value.step)]}
    if type(value) in (list, tuple):
        parts = [encode(part, members) for part in value]
        return parts if isinstance(value, list) else {"tuple": parts}
    raise Fault(f"{brief(value)} cannot be recorded")


# Reading


def read_member(value: Json) -> Member:
    """`["<f4", [2, 3]]`"""
    if not isinstance(value, list) or len(value) != 2:
        raise Fault(f"must be a dtype and a shape, got {brief(value)}")
    if not isinstance(value[0], str) or value[0] not in KINDS:
        raise Fault(f"its dtype is {brief(value[0])}")
    return Member(np.dtype(value[0]), read_shape(value[1]))


def read_shape(value: Json) -> Shape:
    if not isinstance(value, list) or len(value) > MOST_AXES or not all(type(n) is int and n >= 0 for n in value):
        raise Fault(f"a shape must be a list of sizes, got {brief(value)}")
    if math.prod(max(n, 1) for n in value) > LARGEST_DIMENSION:
        raise Fault("a shape is absurdly large")
    return tuple(value)


def read_ref(value: Json, members: list[Member]) -> Ref:
    """`3`, `[3, [2, 5]]` or `[3, [2, 5], [1, 0]]`"""
    parts = value if isinstance(value, list) else [value]
    if not 1 <= len(parts) <= 3 or type(parts[0]) is not int or not 0 <= parts[0] < len(members):
        raise Fault(f"there is no array {brief(parts[0]) if parts else 'without a number'}")
    stored = members[parts[0]].shape
    shape = read_shape(parts[1]) if len(parts) > 1 else stored
    if math.prod(shape) != math.prod(stored):
        raise Fault(f"array {parts[0]} of shape {stored} cannot have the shape {shape}")
    as_it_stands = list(range(len(shape)))
    axes = parts[2] if len(parts) > 2 else as_it_stands
    if not isinstance(axes, list) or any(type(a) is not int for a in axes) or sorted(axes) != as_it_stands:
        raise Fault(f"array {parts[0]} has axes that are no order of {len(shape)}")
    return Ref(parts[0], shape, tuple(axes))


def as_seen(stored: Array, ref: Ref) -> Array:
    """The array that `ref` means, a view of its member."""
    dense = stored.reshape([ref.shape[axis] for axis in ref.axes])
    return dense.transpose(np.argsort(ref.axes)) if ref.axes else dense


def number(value: Json) -> float | None:
    """A float as `encode` writes it, or None."""
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, dict) and list(value) == ["float"] and value["float"] in ("nan", "inf", "-inf"):
        return float(value["float"])
    raise Fault(f"must be a number, got {brief(value)}")


def decode(value: Json, members: list[Member], array_of: StandIn, depth: int = 0) -> Any:
    """The attribute that `encode` wrote. Raises Fault for anything else."""
    if depth > DEEPEST:
        raise Fault("an attribute is nested too deeply")
    if value is None or isinstance(value, (bool, str, int, float)):
        return value
    if isinstance(value, list):
        return [decode(part, members, array_of, depth + 1) for part in value]
    (tag, content), *others = value.items() or [("", None)]
    if others:
        raise Fault(f"an attribute has the tags {brief(', '.join(value))}")
    if tag == "array":
        return array_of(read_ref(content, members))
    if tag == "ellipsis" and content is True:
        return ...
    if tag == "float":
        return number(value)
    if tag == "tuple" and isinstance(content, list):
        return tuple(decode(part, members, array_of, depth + 1) for part in content)
    if tag == "slice" and isinstance(content, list) and len(content) == 3:
        return slice(*(decode(part, members, array_of, depth + 1) for part in content))
    raise Fault(f"an attribute has the unknown tag {brief(tag)}")
