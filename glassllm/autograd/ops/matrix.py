"""The matrix product, of vectors, matrices and broadcast stacks of matrices, as in np.matmul.

Where the right side is one matrix (a weight), the batch is folded into rows: one large product instead of many
small ones, forward and backward.
"""

import math
from typing import Any

import numpy as np

from . import BOTH, Array, Wanted, op


def _rows(a: Array) -> Array:
    """All axes but the last folded into one: (..., k) -> (rows, k)."""
    return a if a.ndim == 2 else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def times_matrix(a: Array, matrix: Array) -> Array:
    """(..., k) times (k, m) -> (..., m)."""
    if math.prod(a.shape[:-2]) == 1:
        product: Array = a @ matrix
        return product
    rows: Array = _rows(a) @ matrix
    return rows.reshape(*a.shape[:-1], matrix.shape[1])


def to_matrix(a: Array, g: Array, matrix: Array) -> Array:
    """The gradient aᵀ·g of a matrix, lying in memory as the matrix does: adding and updating stay fast."""
    rows, arriving = _rows(a), _rows(g)
    is_turned = matrix.flags.f_contiguous and not matrix.flags.c_contiguous
    return (arriving.T @ rows).T if is_turned else rows.T @ arriving


@op
def matmul(a: Array, b: Array) -> Any:
    return times_matrix(a, b) if b.ndim == 2 else np.matmul(a, b)


@matmul.rule
def _(g: Array, y: Array, a: Array, b: Array, *, wanted: Wanted = BOTH) -> tuple[Array | None, Array | None]:
    row = a[np.newaxis] if a.ndim == 1 else a  # (..., n, k)
    column = b[:, np.newaxis] if b.ndim == 1 else b  # (..., k, m)
    if b.ndim == 1:
        g = g[..., np.newaxis]
    if a.ndim == 1:
        g = g[..., np.newaxis, :]  # (..., n, m)
    is_matrix = column.ndim == 2
    to_a = to_b = None
    if wanted[0]:
        to_a = times_matrix(g, column.T) if is_matrix else g @ column.mT
    if wanted[1]:
        to_b = to_matrix(row, g, column) if is_matrix else row.mT @ g
        to_b = to_b[..., 0] if b.ndim == 1 else to_b
    return to_a, to_b
