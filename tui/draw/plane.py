"""How a tensor of any rank is laid on a page: two axes as rows and columns, the others held at the cell.

A vector is wrapped into rows. Nothing is copied: a plane's values are a view of the tensor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Literal

import numpy as np

from tui.draw.formats import USUAL, Format
from tui.draw.numbers import Array
from tui.draw.scale import Scale

Cell = tuple[int, ...]
TABS = ("value", "gradient", "contributions")


@dataclass(frozen=True, slots=True)
class PanelState:
    """How the selected tensor is looked at.

    `cell` is in the tensor's own axes, so it also says which slice is shown. `axes` are the ones drawn as rows and
    columns, None for the last two. `kept` are the scales of the page before, by map, for the same tensor.
    """

    tab: str = "value"
    cell: Cell = ()
    axes: tuple[int, int] | None = None
    scale: Literal["shared", "slice"] = "shared"
    focused: bool = False
    tabs: tuple[str, ...] = TABS
    format: Format = USUAL
    kept: tuple[tuple[str, Scale], ...] = ()


@dataclass(frozen=True, slots=True)
class Plane:
    """One slice as a matrix. `rows` and `columns` are axis numbers; a wrapped vector has them equal."""

    values: Array  # (R, C)
    masked: Array | None
    outside: Array | None  # (R, C), True where a wrapped vector has ended
    rows: int
    columns: int
    cell: Cell
    shape: tuple[int, ...]
    wrap: int = 0
    """Columns of a wrapped vector, else 0."""

    @property
    def row(self) -> int:
        return self.cell[0] // self.wrap if self.wrap else self.cell[self.rows]

    @property
    def column(self) -> int:
        return self.cell[0] % self.wrap if self.wrap else self.cell[self.columns]

    @property
    def held(self) -> tuple[int, ...]:
        """The axes that are not drawn, in order."""
        return tuple(i for i in range(len(self.shape)) if i not in (self.rows, self.columns))

    def hidden(self, row: int) -> Array:
        """True where a cell of the row is drawn as `·`: exactly 0, masked, or past the end."""
        values = self.values[row]
        hidden: Array = values == 0
        if self.masked is not None:
            hidden = hidden | self.masked[row] & ~np.isnan(values)
        if self.outside is not None:
            hidden = hidden | self.outside[row]
        return hidden

    def at(self, row: int, column: int) -> Cell:
        """The tensor's cell at a row and column, which are kept inside."""
        if self.wrap:
            return (min(max(row * self.wrap + column, 0), self.shape[0] - 1),)
        return clamp(
            tuple(
                row if i == self.rows else column if i == self.columns else at for i, at in enumerate(self.cell)
            ),
            self.shape,
        )


def plane_of(array: Array, masked: Array | None, state: PanelState, wrap: int = 32) -> Plane:
    """The plane of `array` that the state looks at; `wrap` is the row length for vectors. Rank 1 or more."""
    cell = clamp(state.cell, array.shape)
    if array.ndim == 1:
        return _wrapped(array, masked, cell, wrap)
    rows, columns = drawn_axes(array.ndim, state.axes)
    index = tuple(slice(None) if i in (rows, columns) else at for i, at in enumerate(cell))
    turn = rows > columns

    def matrix(of: Array) -> Array:
        if not of.size:
            return of.reshape(array.shape[rows], array.shape[columns])
        part: Array = of[index]
        return part.T if turn else part

    hidden = None if masked is None else matrix(np.broadcast_to(masked, array.shape))
    return Plane(matrix(array), hidden, None, rows, columns, cell, array.shape)


def _wrapped(array: Array, masked: Array | None, cell: Cell, wrap: int) -> Plane:
    wrap = max(1, min(wrap, array.size))
    missing = -array.size % wrap
    values = np.pad(array, (0, missing)).reshape(-1, wrap)
    outside = np.pad(np.zeros(array.shape, bool), (0, missing), constant_values=True).reshape(-1, wrap)
    hidden = (
        None if masked is None else np.pad(np.broadcast_to(masked, array.shape), (0, missing)).reshape(-1, wrap)
    )
    return Plane(values, hidden, outside, 0, 0, cell, array.shape, wrap)


def drawn_axes(rank: int, axes: tuple[int, int] | None) -> tuple[int, int]:
    """The axes asked for if this rank has them, else the last two."""
    if axes is not None and max(axes) < rank and axes[0] != axes[1]:
        return axes
    return rank - 2, rank - 1


def next_axes(rank: int, axes: tuple[int, int] | None, step: int = 1) -> tuple[int, int] | None:
    """The next choice of row and column axis, going through all ordered pairs; None below rank 2."""
    if rank < 2:
        return None
    default = (rank - 2, rank - 1)
    choices = [default, *(pair for pair in permutations(range(rank), 2) if pair != default)]
    return choices[(choices.index(drawn_axes(rank, axes)) + step) % len(choices)]


def clamp(cell: Sequence[int], shape: Sequence[int]) -> Cell:
    """A cell of another tensor as one of this shape: matched from the last axis backward, moved inside."""
    given = list(cell)[max(0, len(cell) - len(shape)) :]
    given = [0] * (len(shape) - len(given)) + given
    return tuple(max(0, min(i, size - 1)) for i, size in zip(given, shape, strict=True))


def slices(plane: Plane) -> list[Cell]:
    """One cell per slice of the tensor, in order, each at the plane's row and column."""
    sizes = [
        range(size) if i in plane.held else (at,)
        for i, (size, at) in enumerate(zip(plane.shape, plane.cell, strict=True))
    ]
    return list(product(*sizes))


def next_slice(plane: Plane, step: int) -> Cell:
    """The cell `step` slices on, the last held axis turning fastest, round again at the end."""
    sizes = [plane.shape[i] for i in plane.held]
    count = int(np.prod(sizes))
    if count < 2:
        return plane.cell
    here = int(np.ravel_multi_index([plane.cell[i] for i in plane.held], sizes))
    there = np.unravel_index((here + step) % count, sizes)
    cell = list(plane.cell)
    for axis, at in zip(plane.held, there, strict=True):
        cell[axis] = int(at)
    return tuple(cell)


def largest_cell(array: Array, masked: Array | None = None) -> Cell | None:
    """Where |x| is largest among finite, unmasked values; None if there are none."""
    sizes = np.where(np.isfinite(array), np.abs(array.astype(np.float64)), -1)
    if masked is not None:
        sizes = np.where(masked, -1, sizes)
    if not sizes.size or sizes.max() < 0:
        return None
    return tuple(int(i) for i in np.unravel_index(int(sizes.argmax()), array.shape))


def next_abnormal(array: Array, masked: Array | None, after: Cell | None) -> Cell | None:
    """The next NaN or Inf after a cell; the first after None, or after a finite cell with none behind it.

    None if all is finite, or if the cell is itself the last of them. A masked −inf is none.
    """
    wrong = ~np.isfinite(array)
    if masked is not None:
        wrong &= ~masked | np.isnan(array)
    places = np.flatnonzero(wrong)
    here = -1 if after is None else int(np.ravel_multi_index(after, array.shape)) if after else 0
    if not places.size or places[-1] == here:
        return None
    behind = places[places > here]
    place = behind[0] if behind.size else places[0]
    return tuple(int(i) for i in np.unravel_index(int(place), array.shape))
