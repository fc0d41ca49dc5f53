"""Curve: one quantity over the steps of a run, thinned where the run is long, never cut.

Equal stretches of steps are counted, summed, and their extremes kept. Once there are too many, neighbours join
and each stretch is twice as long, so a spike stays visible however far the run goes.
"""

import math
from typing import Self

import numpy as np

from glassllm.autograd.ops import Array

CAPACITY = 2048  # stretches
ROWS = INDEX, COUNT, SUM, LOW, HIGH = range(5)


class Curve:
    """Values by step, steps rising. One that is NaN or Inf is not entered: a fault says so where it arises."""

    def __init__(self) -> None:
        self.stride = 1  # steps of a stretch
        self._size = 0
        self._bins: Array = np.empty((len(ROWS), CAPACITY))

    def add(self, step: int, value: float) -> None:
        """Enter the value of a step no earlier than those before."""
        if not math.isfinite(value):
            return
        if self._size == CAPACITY and step // self.stride > self._bins[INDEX, -1]:
            self._thin()
        index, last = step // self.stride, self._size - 1
        if last >= 0 and self._bins[INDEX, last] == index:
            _, count, total, low, high = self._bins[:, last]
            self._bins[COUNT:, last] = count + 1, total + value, min(low, value), max(high, value)
        else:
            self._bins[:, self._size] = index, 1, value, value, value
            self._size += 1

    def _thin(self) -> None:
        """Join the stretches two by two, until half of the room is free or all steps are in one."""
        while self._size > CAPACITY // 2:
            bins = self._bins[:, : self._size]
            self.stride *= 2
            index = bins[INDEX] // 2
            starts = np.flatnonzero(np.diff(index, prepend=-1))
            joined = [
                index[starts],
                np.add.reduceat(bins[COUNT], starts),
                np.add.reduceat(bins[SUM], starts),
                np.minimum.reduceat(bins[LOW], starts),
                np.maximum.reduceat(bins[HIGH], starts),
            ]
            self._size = len(starts)
            self._bins[:, : self._size] = joined

    def __len__(self) -> int:
        return self._size

    @property
    def table(self) -> Array:
        """(4, N) float64, a row each: first step of the stretch, mean, lowest, highest value."""
        bins = self._bins[:, : self._size]
        return np.stack([bins[INDEX] * self.stride, bins[SUM] / bins[COUNT], bins[LOW], bins[HIGH]])

    @property
    def bins(self) -> Array:
        """(5, N) float64 to save: index of the stretch, count, sum, lowest, highest value."""
        return self._bins[:, : self._size].copy()

    @classmethod
    def of(cls, stride: int, bins: Array) -> Self:
        """The curve of a stride and `bins`. ValueError for what no curve gives."""
        curve = cls()
        size = bins.shape[-1] if bins.ndim == 2 else 0
        if bins.shape != (len(ROWS), size) or size > CAPACITY or not np.isfinite(bins).all():
            raise ValueError(f"a curve is {len(ROWS)} rows of at most {CAPACITY} finite numbers")
        index = bins[INDEX]
        are_whole = bool((index == np.floor(index)).all() and (bins[COUNT] >= 1).all())
        if stride < 1 or not are_whole or (np.diff(index, prepend=-1) <= 0).any():
            raise ValueError("a curve has whole, rising steps")
        curve.stride, curve._size = stride, size
        curve._bins[:, :size] = bins
        return curve
