"""The matrix product, of vectors, matrices and broadcast stacks of matrices, as in np.matmul.

Where the right side is one matrix (a weight), the batch is folded into rows: one large product instead of many
small ones, forward and backward.
"""

import math
from typing import Any

import numpy as np

from . import Array, op


def _rows(a: Array) -> Array:
    """All axes but the last folded into one: (..., k) -> (rows, k)."""
    return a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def _times_matrix(a: Array, matrix: Array) -> Array:
    """(..., k) times (k, m) -> (..., m)."""
    rows: Array = _rows(a) @ matrix if a.ndim > 2 else a @ matrix
    return rows.reshape(*a.shape[:-1], matrix.shape[1])


@op
def matmul(a: Array, b: Array) -> Any:
    return _times_matrix(a, b) if b.ndim == 2 else np.matmul(a, b)


@matmul.rule
def _(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    row = a[np.newaxis] if a.ndim == 1 else a  # (..., n, k)
    column = b[:, np.newaxis] if b.ndim == 1 else b  # (..., k, m)
    if b.ndim == 1:
        g = g[..., np.newaxis]
    if a.ndim == 1:
        g = g[..., np.newaxis, :]  # (..., n, m)
    if column.ndim == 2:
        to_a, to_b = _times_matrix(g, column.T), _rows(row).T @ _rows(g)
    else:
        to_a, to_b = g @ column.mT, row.mT @ g
    return to_a, to_b[..., 0] if b.ndim == 1 else to_b
