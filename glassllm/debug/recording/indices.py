"""Indices, ids and targets: what has to lie in range, told from how far their numbers reach.

An `Extent` says that of an array, however large; so a stranger's arrays of indices are checked piece by piece as
they are read, and the shape of an indexing is found without taking anything.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array, Op
from glassllm.autograd.ops.language import integers
from glassllm.config import Shape

INDEXED = ("embedding", "cross_entropy", "fused_cross_entropy", "getitem")
"""Ops with attributes that have to lie in range."""
NO_INDEX = "an index must hold integers or booleans"


@dataclass(frozen=True, slots=True)
class Extent:
    """An array of integers or booleans without its numbers: the least, the largest, and how many are not 0."""

    shape: Shape
    is_mask: bool
    lowest: int = 0
    highest: int = 0
    count: int = 0

    @property
    def axes(self) -> int:
        """How many axes of an array it chooses from."""
        return len(self.shape) if self.is_mask else 1

    @property
    def chosen(self) -> Shape:
        """The shape of what it chooses, if it chooses alone and whole numbers."""
        return (self.count,) if self.is_mask else self.shape

    def check(self, sizes: Sequence[int]) -> None:
        """Raise IndexError where it does not lie within axes of these sizes."""
        if self.is_mask and self.shape != tuple(sizes):
            raise IndexError(f"a mask of shape {self.shape} for axes of {tuple(sizes)}")
        if not self.is_mask and 0 not in self.shape:
            for index in (self.lowest, self.highest):
                if not -sizes[0] <= index < sizes[0]:
                    raise IndexError(f"index {index} is out of bounds for an axis of {sizes[0]}")


def extent_of(values: Any) -> Extent:
    """That of numbers at hand. Raises IndexError for other numbers than integers and booleans."""
    if isinstance(values, Extent):
        return values
    array = numbers_of(values)
    if not is_index(array.dtype):
        raise IndexError(NO_INDEX)
    found = (int(array.min()), int(array.max()), int(np.count_nonzero(array))) if array.size else ()
    return Extent(array.shape, array.dtype.kind == "b", *found)


def is_index(dtype: "np.dtype[Any]") -> bool:
    """Whether numbers of this dtype can choose."""
    return dtype.kind in "iub"


def numbers_of(values: Any) -> Array:
    """`values` as an array, a list of nothing as one of integers. Raises TypeError for lists of anything else.

    NumPy would make an array of texts too, each as large as the longest.
    """
    if not isinstance(values, np.ndarray) and not all(
        isinstance(x, (int, np.integer, np.bool_)) for x in _flat(values)
    ):
        raise TypeError(NO_INDEX)
    return integers(values)


def _flat(values: Any) -> Iterator[Any]:
    """What stands in lists of lists."""
    if isinstance(values, (list, tuple)):
        for value in values:
            yield from _flat(value)
    else:
        yield values


def check_values(op: Op, shapes: Sequence[Shape], attrs: dict[str, Any], y: Shape) -> None:
    """Whether ids, targets and indices lie in range, and an index makes the shape `y`: an IndexError if not.

    Attributes that are arrays may be given as their Extents.
    """
    if op.name == "embedding":
        ids, rows = extent_of(attrs["ids"]), shapes[0][0]
        if not _is_within(ids, -rows, rows):
            raise IndexError(f"ids from {ids.lowest} to {ids.highest} for {rows} rows")
    elif op.name in ("cross_entropy", "fused_cross_entropy"):
        targets, classes = extent_of(attrs["targets"]), shapes[0][1]
        if not _is_within(targets, 0, classes):
            raise IndexError(f"targets from {targets.lowest} to {targets.highest} for {classes} classes")
    elif op.name == "getitem":
        found = indexed_shape(shapes[0], attrs["index"])
        if found != y:
            raise IndexError(f"an index that makes {found}, not {y}")


def _is_within(extent: Extent, start: int, stop: int) -> bool:
    return 0 in extent.shape or start <= extent.lowest <= extent.highest < stop


def parts_of(chosen: Any) -> tuple[Any, ...]:
    """An index, part by part."""
    return chosen if isinstance(chosen, tuple) else (chosen,)


def is_array(part: Any) -> bool:
    """Whether NumPy takes this part of an index for an array: a boolean is one without axes."""
    return isinstance(part, (list, tuple, bool, np.ndarray, Extent))


def blank(shape: Shape) -> Array:
    """An array of this shape that takes no memory."""
    return np.broadcast_to(np.int8(0), shape)


def indexed_shape(shape: Shape, chosen: Any) -> Shape:
    """The shape of an array of this shape, indexed. Raises an IndexError for what lies out of range, as NumPy does
    unless nothing is taken.
    """
    parts = [extent_of(part) if is_array(part) else part for part in parts_of(chosen)]
    extents = [part for part in parts if isinstance(part, Extent)]
    # NumPy judges the parts that are no arrays, each array of indices standing for the start of its axes
    judged: Array = blank(shape)[_replaced(parts, lambda extent: [slice(0, 1)] * extent.axes)]
    if not extents:
        return judged.shape
    joint = np.broadcast_shapes(*(extent.chosen for extent in extents))
    kept = _kept(parts, shape)
    place = _place_of(len(joint), parts, len(shape))
    return (*kept[:place], *joint, *kept[place:])


def _replaced(parts: Sequence[Any], stand_in: Callable[[Extent], list[Any]]) -> tuple[Any, ...]:
    """The index with something else in the place of each array."""
    return tuple(p for part in parts for p in (stand_in(part) if isinstance(part, Extent) else [part]))


def _kept(parts: Sequence[Any], shape: Shape) -> Shape:
    """The sizes that slices and None leave. Raises IndexError where an array goes beyond its axes."""
    kept: list[int] = []
    at = 0
    for i, part in enumerate(parts):
        if isinstance(part, Extent):
            part.check(shape[at : at + part.axes])
            at += part.axes
        elif part is None:
            kept.append(1)
        elif part is ...:
            end = len(shape) - sum(map(_axes, parts[i + 1 :]))
            kept += shape[at:end]
            at = end
        else:
            kept += [len(range(*part.indices(shape[at])))] if isinstance(part, slice) else []
            at += 1
    return (*kept, *shape[at:])


def _axes(part: Any) -> int:
    """How many axes a part of an index names; an Ellipsis names those that no other does."""
    return part.axes if isinstance(part, Extent) else 0 if part is None or part is ... else 1


def _place_of(joint: int, parts: Sequence[Any], axes: int) -> int:
    """Where among the kept axes NumPy puts the `joint` ones of arrays: seen on an array of one element."""
    if not joint:
        return 0
    marked = np.zeros((2, *[1] * (joint - 1)), np.intp)
    plain = [part if part is None or part is ... or isinstance(part, Extent) else _whole(part) for part in parts]
    trial = _replaced(plain, lambda extent: [marked] * max(extent.axes, 1))
    without_axes = sum(isinstance(part, Extent) and not part.axes for part in parts)
    found: Array = np.zeros([1] * (axes + without_axes), np.int8)[trial]
    return found.shape.index(2)


def _whole(part: Any) -> Any:
    """A slice or a number that fits an axis of one."""
    return slice(None) if isinstance(part, slice) else 0
