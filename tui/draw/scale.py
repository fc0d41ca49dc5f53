"""From numbers to small integers: the scale of a map, the code of a cell, the pooling of many cells into one.

A code below `levels` is a step of the ramp. Above stand the cells that no ramp may show: what is not a number,
what was masked, what is exactly 0, what has not been computed. Goldens compare codes, never colours.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tui.draw.colors import Ramp
from tui.draw.numbers import Array

NAN, PLUS_INF, MINUS_INF, MASKED, UNREACHED, ZERO, OUTSIDE = range(7)  # counted from `levels` on
SPECIAL = 7
SAMPLE = 1 << 16  # beyond this many values a percentile is taken of an even sample


@dataclass(frozen=True, slots=True)
class Scale:
    """−limit to limit (diverging), or 0 to limit (sequential). What lies beyond is drawn in the last colour."""

    kind: Ramp
    limit: float

    @property
    def low(self) -> float:
        return -self.limit if self.kind == "diverging" else 0.0

    def keeps(self, fresh: "Scale") -> bool:
        """Whether data whose own scale is `fresh` can still be read on this one."""
        return self.kind == fresh.kind and self.limit / 4 <= fresh.limit <= self.limit


class Codes(NamedTuple):
    """What each cell is, and where a value lies beyond the scale: −1 below, +1 above, else 0."""

    code: Array  # (rows, columns) uint8
    beyond: Array  # (rows, columns) int8


def scale_of(array: Array, masked: Array | None = None, signed: bool | None = None) -> Scale:
    """The scale that holds 99.5 % of |x| over finite, unmasked values other than 0.

    `signed` None: diverging if any of them is negative. Data without such values get a limit of 1.
    """
    values = sample(array, masked)
    if signed is None:
        signed = bool((values < 0).any())
    sizes = np.abs(values)
    limit = percentile(sizes, 99.5) if sizes.size else 1.0
    return Scale("diverging" if signed else "sequential", limit or float(sizes.max()))


def percentile(values: Array, q: float) -> float:
    """The q-th percentile of a vector, between two values in proportion.

    np.percentile gives the same, but first imports all of numpy.ma, which the first frame would wait for.
    """
    at = q / 100 * (values.size - 1)
    lower, upper = math.floor(at), math.ceil(at)
    below, above = np.partition(values, (lower, upper))[[lower, upper]]
    return float(below + (above - below) * (at - lower))


def sample(array: Array, masked: Array | None = None) -> Array:
    """Finite, unmasked values other than 0 as float64: all, or about `SAMPLE` of them evenly spaced."""
    stride = max(1, array.size // SAMPLE)
    stride += stride > 1 and stride % 2 == 0  # an odd stride visits every column
    values = array.reshape(-1)[::stride].astype(np.float64)
    keep = np.isfinite(values) & (values != 0)
    if masked is not None:
        keep &= ~np.broadcast_to(masked, array.shape).reshape(-1)[::stride]
    kept: Array = values[keep]
    return kept


def encode(array: Array, masked: Array | None, scale: Scale, levels: int, outside: Array | None = None) -> Codes:
    """The codes of a 2-D array. A masked NaN stays a NaN; `outside` marks cells that are no part of the tensor."""
    values = array.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        share = np.clip(values / scale.limit, -1, 1)
        beyond = (values > scale.limit).astype(np.int8) - (values < scale.low)
    if scale.kind == "diverging":
        share = (share + 1) / 2
    special = [(ZERO, values == 0)]
    if not np.isfinite(values).all():
        share = np.nan_to_num(share)
        special += [
            (PLUS_INF, np.isposinf(values)),
            (MINUS_INF, np.isneginf(values)),
            (NAN, np.isnan(values)),
        ]
    if masked is not None:
        special.append((MASKED, masked & ~np.isnan(values)))
    if outside is not None:
        special.append((OUTSIDE, outside))
    code = np.rint(np.clip(share, 0, 1) * (levels - 1)).astype(np.uint8)
    for which, where in special:
        code[where] = levels + which
    return Codes(code, np.where(code < levels, beyond, 0).astype(np.int8))


def pool(array: Array, masked: Array | None, rows: int, columns: int) -> tuple[Array, Array | None]:
    """Blocks of rows×columns as one cell: the value with the largest |x| and its sign; any NaN makes it NaN.

    A block is masked where all of it is. Ties go to the positive value.
    """
    if rows == columns == 1 or not array.size:
        return array, masked
    seen = array if masked is None else np.where(masked & ~np.isnan(array), 0, array)
    high = _reduce(np.maximum, seen, rows, columns)
    low = _reduce(np.minimum, seen, rows, columns)
    pooled = np.where(np.abs(low) > high, low, high)
    return pooled, None if masked is None else _reduce(np.logical_and, masked, rows, columns)


def _reduce(function: np.ufunc, array: Array, rows: int, columns: int) -> Array:
    """Columns first: several times faster on rows that lie together in memory."""
    across: Array = function.reduceat(array, range(0, array.shape[1], columns), axis=1)
    down: Array = function.reduceat(across, range(0, array.shape[0], rows), axis=0)
    return down
