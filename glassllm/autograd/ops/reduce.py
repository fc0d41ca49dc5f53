"""Ops that reduce axes: all of them, one, or a tuple, counted from either end as in NumPy."""

from typing import Any, TypeAlias

import numpy as np

from . import Array, op

Axis: TypeAlias = "int | tuple[int, ...] | None"  # None: all axes


def _restored(reduced: Array, axis: Axis, keepdims: bool) -> Array:
    """A reduction's result with the reduced axes back as ones, so that it broadcasts against the input."""
    return reduced if keepdims or axis is None else np.expand_dims(reduced, axis)


@op
def tsum(a: Array, *, axis: Axis = None, keepdims: bool = False) -> Any:
    return np.sum(a, axis=axis, keepdims=keepdims)


@tsum.rule
def _(g: Array, y: Array, a: Array, *, axis: Axis = None, keepdims: bool = False) -> tuple[Array]:
    return (np.broadcast_to(_restored(g, axis, keepdims), a.shape),)


@op
def mean(a: Array, *, axis: Axis = None, keepdims: bool = False) -> Any:
    return np.mean(a, axis=axis, keepdims=keepdims)


@mean.rule
def _(g: Array, y: Array, a: Array, *, axis: Axis = None, keepdims: bool = False) -> tuple[Array]:
    count = a.size // y.size if a.size else 1
    return (np.broadcast_to(_restored(g, axis, keepdims) / count, a.shape),)


@op
def max(a: Array, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The largest element of each slice; ties share its gradient equally."""
    return np.max(a, axis=axis, keepdims=keepdims)


@max.rule
def _(g: Array, y: Array, a: Array, *, axis: Axis = None, keepdims: bool = False) -> tuple[Array]:
    first = (a == _restored(y, axis, keepdims)) | (a != a)  # a NaN is its slice's maximum and equals nothing
    ties = np.sum(first, axis=axis, keepdims=True, dtype=g.dtype)
    return (np.where(first, _restored(g, axis, keepdims) / ties, 0),)
