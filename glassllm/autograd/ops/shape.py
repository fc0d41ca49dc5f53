"""Ops that move and choose elements and compute nothing."""

from itertools import accumulate
from typing import Any

import numpy as np

from . import BOTH, Array, Wanted, op


@op
def reshape(a: Array, *, shape: Any) -> Array:
    return np.reshape(a, shape)


@reshape.rule
def _(g: Array, y: Array, a: Array, *, shape: Any) -> tuple[Array]:
    return (g.reshape(a.shape),)


@op
def transpose(a: Array, *, axes: tuple[int, ...] | None = None) -> Array:
    return np.transpose(a, axes)


@transpose.rule
def _(g: Array, y: Array, a: Array, *, axes: tuple[int, ...] | None = None) -> tuple[Array]:
    if axes is None:
        return (np.transpose(g),)
    back = [0] * a.ndim
    for i, axis in enumerate(axes):
        back[axis] = i
    return (np.transpose(g, back),)


@op
def getitem(a: Array, *, index: Any) -> Array:
    """a[index], with anything NumPy indexes with."""
    taken: Array = a[index]
    return taken


@getitem.rule
def _(g: Array, y: Array, a: Array, *, index: Any) -> tuple[Array]:
    out = np.zeros(a.shape, g.dtype)
    if _may_repeat(index):
        np.add.at(out, index, g)
    else:
        out[index] = g
    return (out,)


def _may_repeat(index: Any) -> bool:
    """Whether an index can name an element twice: only arrays and lists of integers can."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, (list, tuple, np.ndarray)) and np.asarray(part).dtype != bool for part in parts)


@op
def concat(*arrays: Array, axis: int | None = 0) -> Array:
    """The arrays joined along an existing axis; None joins them flat."""
    return np.concatenate(arrays, axis=axis)


@concat.rule
def _(g: Array, y: Array, *arrays: Array, axis: int | None = 0) -> tuple[Array, ...]:
    if axis is None:
        ends = accumulate(a.size for a in arrays)
        return tuple([g[end - a.size : end].reshape(a.shape) for a, end in zip(arrays, ends, strict=True)])
    before = (slice(None),) * (axis % g.ndim)
    ends = accumulate(a.shape[axis] for a in arrays)
    return tuple([g[*before, end - a.shape[axis] : end] for a, end in zip(arrays, ends, strict=True)])


@op
def where(a: Array, b: Array, *, condition: Any) -> Array:
    """`a` where the condition holds, `b` elsewhere; the gradient goes to the side taken."""
    return np.where(condition, a, b)


@where.rule
def _(
    g: Array, y: Array, a: Array, b: Array, *, condition: Any, wanted: Wanted = BOTH
) -> tuple[Array | None, Array | None]:
    return np.where(condition, g, 0) if wanted[0] else None, np.where(condition, 0, g) if wanted[1] else None
