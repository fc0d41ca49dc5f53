"""Statistics of one array, exact and without a warning whatever it holds.

Every element is counted once: negative, zero, positive, NaN, ±Inf or masked.
"""

from dataclasses import fields
from operator import attrgetter

import numpy as np

from glassllm.autograd.ops import Array

from .snapshot import Health

COUNTED = [field.name for field in fields(Health)][2:]  # all but shape and dtype
MOMENTS = COUNTED.index("negative")  # so many of them are no counts
numbers_of = attrgetter(*COUNTED)
SAFE_EXPONENT = 400  # the squares of numbers up to 2**±400 neither overflow nor vanish in float64


def health_of(array: Array, masked: Array | None = None) -> Health:
    """The Health of `array`; an element marked `masked` counts as such while it is −inf.

    Moments are taken in float64 over the finite elements, and are NaN (the norm 0) where there are none.
    """
    x = np.asarray(array)
    finite = np.isfinite(x)
    hidden = 0 if masked is None else int(np.count_nonzero(masked & (x == -np.inf)))
    nan = int(np.count_nonzero(x != x))
    values = x[finite]
    negative, positive = int(np.count_nonzero(values < 0)), int(np.count_nonzero(values > 0))
    low, mean, high, std, norm = _moments(values.astype(np.float64))
    return Health(
        shape=x.shape,
        dtype=str(x.dtype),
        min=low,
        mean=mean,
        max=high,
        std=std,
        norm=norm,
        negative=negative,
        zero=values.size - negative - positive,
        positive=positive,
        nan=nan,
        inf=x.size - values.size - nan - hidden,
        masked=hidden,
        subnormal=_subnormal(values),
    )


def faults_of(array: Array, masked: Array | None = None) -> tuple[int, int]:
    """The NaNs and the ±Infs of `array` as `health_of` counts them, and nothing else."""
    x = np.asarray(array)
    if np.isfinite(x).all():
        return 0, 0
    hidden = 0 if masked is None else int(np.count_nonzero(masked & (x == -np.inf)))
    return int(np.count_nonzero(x != x)), int(np.count_nonzero(np.isinf(x))) - hidden


class HealthTable:
    """The Health of each row of a tape, as numbers."""

    def __init__(self) -> None:
        self._known = bytearray()
        self._moments = np.zeros((0, MOMENTS))
        self._counts = np.zeros((0, len(COUNTED) - MOMENTS), np.uint32)

    def __contains__(self, row: int) -> bool:
        return row < len(self._known) and bool(self._known[row])

    def get(self, row: int, array: Array) -> Health | None:
        """The Health of the row's array, if it was put here."""
        if row not in self:
            return None
        return Health(array.shape, str(array.dtype), *self._moments[row].tolist(), *self._counts[row].tolist())

    def put(self, row: int, rows: int, health: Health) -> None:
        """Keep one row's Health in a table of so many rows."""
        if len(self._known) < rows:
            more = rows - len(self._known)
            self._moments = np.pad(self._moments, ((0, more), (0, 0)))
            self._counts = np.pad(self._counts, ((0, more), (0, 0)))
            self._known.extend(bytes(more))
        numbers = numbers_of(health)
        self._moments[row], self._counts[row] = numbers[:MOMENTS], numbers[MOMENTS:]
        self._known[row] = True


def norm_of(array: Array) -> float:
    """√Σx² of all elements in float64, whatever their size; NaN and ±Inf come through."""
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.sqrt(np.sum(np.square(array, dtype=np.float64))))
    if 2.0**-SAFE_EXPONENT < norm < 2.0**SAFE_EXPONENT or not np.isfinite(array).all():
        return norm
    return _moments(np.asarray(array, np.float64).reshape(-1))[-1]


def _moments(values: Array) -> tuple[float, float, float, float, float]:
    """min, mean, max, std and norm of finite float64 values."""
    if not values.size:
        return np.nan, np.nan, np.nan, np.nan, 0.0
    low, high = float(values.min()), float(values.max())
    exponent = int(np.frexp(max(-low, high))[1])
    if abs(exponent) < SAFE_EXPONENT:
        exponent = 0
    scaled = np.ldexp(values, -exponent)  # by a power of two: nothing is rounded
    moments = (scaled.mean(), scaled.std(), np.sqrt(scaled @ scaled))
    with np.errstate(over="ignore"):
        mean, std, norm = (float(np.ldexp(m, exponent)) for m in moments)
    return low, min(max(mean, low), high), high, std, norm


def _subnormal(values: Array) -> int:
    if values.dtype.kind != "f":
        return 0
    return int(np.count_nonzero((np.abs(values) < np.finfo(values.dtype).tiny) & (values != 0)))
