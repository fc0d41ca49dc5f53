"""Ops a language model is made of: looking tokens up, distributions, the loss, and parts of attention."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import Array, op


@op
def embedding(weight: Array, *, ids: Array) -> Array:
    """Rows of `weight` (V, d) by ids of any shape S -> S + (d,). Raises IndexError as NumPy does."""
    if ids.dtype.kind not in "iu":
        raise IndexError(f"ids must be integers, got {ids.dtype}")
    taken: Array = weight[ids]
    return taken


@embedding.rule
def _(g: Array, y: Array, weight: Array, *, ids: Array) -> tuple[Array]:
    vocabulary, width = weight.shape
    places = ids.astype(np.intp).reshape(-1, 1) * width + np.arange(width)
    out = np.zeros(vocabulary * width, g.dtype)  # flat: five times as fast as by rows
    np.add.at(out, places.ravel(), g.ravel())
    return (out.reshape(weight.shape),)


def _below_maximum(x: Array, axis: int) -> Array:
    """x minus each row's own maximum: the largest becomes 0, so exp cannot overflow; all −inf gives NaN."""
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        below: Array = x - np.max(x, axis=axis, keepdims=True)
    return below


def softmax_np(x: ArrayLike, axis: int = -1) -> Array:
    """Softmax of a plain array along one axis. A row of nothing but −inf gives NaN in that row only."""
    e: Array = np.exp(_below_maximum(np.asarray(x), axis))
    e /= e.sum(axis=axis, keepdims=True)
    return e


@op
def softmax(a: Array, *, axis: int = -1) -> Array:
    return softmax_np(a, axis)


@softmax.rule
def _(g: Array, y: Array, a: Array, *, axis: int = -1) -> tuple[Array]:
    gy = g * y
    return (gy - y * gy.sum(axis=axis, keepdims=True),)


@op
def log_softmax(a: Array, *, axis: int = -1) -> Any:
    below = _below_maximum(a, axis)
    return below - np.log(np.exp(below).sum(axis=axis, keepdims=True))


@log_softmax.rule
def _(g: Array, y: Array, a: Array, *, axis: int = -1) -> tuple[Array]:
    return (g - np.exp(y) * g.sum(axis=axis, keepdims=True),)


def class_ids(logits: Array, targets: Any) -> Array:
    """`targets` as N integers below V, for logits (N, V).

    Raises ValueError for other shapes and for targets that are no integers, IndexError for one out of range.
    """
    ids = integers(targets)
    if logits.ndim != 2:
        raise ValueError(f"logits must have shape (N, V), got {logits.shape}")
    if ids.dtype.kind not in "iu" or ids.shape != logits.shape[:1]:
        raise ValueError(
            f"targets must be {len(logits)} integers, one per row of logits; got shape {ids.shape} of {ids.dtype}"
        )
    if ids.size and not 0 <= ids.min() <= ids.max() < logits.shape[1]:
        raise IndexError(f"targets must lie in 0..{logits.shape[1] - 1}, got {ids.min()}..{ids.max()}")
    return ids


def integers(values: Any) -> Array:
    """np.asarray, except that a list of nothing is a list of integers."""
    array = np.asarray(values)
    return array if array.size or isinstance(values, np.ndarray) else array.astype(np.intp)


@op
def cross_entropy(logits: Array, *, targets: Any) -> Any:
    """Mean of −log p[target] over the rows of logits (N, V), in nats. No rows: NaN."""
    ids = class_ids(logits, targets)
    below = _below_maximum(logits, -1)
    losses = np.log(np.exp(below).sum(axis=-1)) - below[np.arange(len(ids)), ids]  # (N,)
    return losses.mean() if ids.size else np.full((), np.nan, losses.dtype)


@cross_entropy.rule
def _(g: Array, y: Array, logits: Array, *, targets: Any) -> tuple[Array]:
    return (g * cross_entropy_grad(logits, targets),)


def cross_entropy_grad(logits: ArrayLike, targets: Any) -> Array:
    """The gradient of the mean cross-entropy with respect to logits (N, V): (softmax − one-hot) / N."""
    logits = np.asarray(logits)
    ids = class_ids(logits, targets)
    p: Array = softmax_np(logits)
    p[np.arange(len(ids)), ids] -= 1
    p /= len(ids)
    return p


def _rotated(x: Array, cos: Array, sin: Array) -> Array:
    """Each adjacent pair of x (..., n, c) turned by its angle: a product with cos + i·sin, (n, c/2)."""
    number = np.result_type(x.dtype, np.complex64)
    turn = np.asarray(cos + 1j * sin, number)
    pairs = side_by_side(x.astype(turn.real.dtype, copy=False)).view(number)  # (..., n, c/2)
    return side_by_side(pairs * np.broadcast_to(turn, pairs.shape)).view(turn.real.dtype)


def side_by_side(a: Array) -> Array:
    """`a` with the last axis contiguous in memory, as a change of view needs; the other axes lie as they lay."""
    return a if a.strides[-1] == a.itemsize else np.ascontiguousarray(a)


@op
def rope(x: Array, *, cos: Array, sin: Array) -> Array:
    """Rotary position embedding (Su et al., 2021) of x (..., n, c) by tables (n, c/2), adjacent pairs."""
    return _rotated(x, cos, sin)


@rope.rule
def _(g: Array, y: Array, x: Array, *, cos: Array, sin: Array) -> tuple[Array]:
    return (_rotated(g, cos, -sin),)


@op
def repeat_kv(x: Array, *, repeats: int) -> Array:
    """Each of K heads repeated next to itself: (B, K, n, c) -> (B, K·repeats, n, c)."""
    return np.repeat(x, repeats, axis=1)


@repeat_kv.rule
def _(g: Array, y: Array, x: Array, *, repeats: int) -> tuple[Array]:
    batch, heads, n, c = x.shape
    return (g.reshape(batch, heads, repeats, n, c).sum(axis=2),)
