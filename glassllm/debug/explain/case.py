"""One cell of one application of an op, and how its numbers are written.

Numbers are read as float64 scalars: a division by zero or an overflow gives Inf or NaN as it does in the arrays.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.numerals import PLACES, USUAL_PEN, Element, Pen, element

Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The op's arrays and attributes, and the cell of `y` to look at. `g` is None before it is complete.

    `pen` is how numbers are written.
    """

    y: Array
    inputs: tuple[Array, ...]
    attrs: dict[str, Any]
    cell: Cell
    g: Array | None = None
    pen: Pen = USUAL_PEN

    def value(self) -> Element:
        return at(self.y, self.cell)

    def input(self, i: int = 0) -> Element:
        """The element of input `i` that broadcasting puts at the cell."""
        return at(self.inputs[i], self.cell)

    def attr(self, name: str) -> Element:
        """The element of a constant that broadcasting puts at the cell."""
        return at(np.asarray(self.attrs[name]), self.cell)

    def gradient(self) -> Element:
        return at(self.gradients(), self.cell)

    def gradients(self) -> Array:
        assert self.g is not None, "no gradient has arrived"
        return self.g

    def axis(self) -> int:
        """The op's axis, counted from the first."""
        return int(self.attrs.get("axis", -1)) % max(self.y.ndim, 1)

    def lane(self, array: Array) -> Array:
        """The row of `array` through the cell, along the op's axis."""
        index = [slice(None) if i == self.axis() else n for i, n in enumerate(self.cell)]
        return np.asarray(array[tuple(index)], np.float64)

    # Words

    def result(self) -> str:
        """The cell's value, written."""
        return self.signed(self.value())

    def arrived(self) -> str:
        """The cell's gradient, written."""
        return self.signed(self.gradient())

    def signed(self, x: float, places: int = PLACES) -> str:
        return self.pen.signed(x, places)

    def fixed(self, x: float, places: int) -> str:
        return self.pen.fixed(x, places)

    def plus(self, x: float, places: int = PLACES) -> str:
        """The number as the next term of a sum: `+ 0.5000`, `− 0.5000`."""
        text = self.signed(x, places)
        return f"{text[0]} {text[1:]}" if text[0] in "+−" else f"+ {text}"

    def minus(self, x: float, places: int = PLACES) -> str:
        """The number taken away: `− 0.5000`, `− (−0.5000)`."""
        text = self.signed(x, places)
        return f"− ({text})" if text.startswith("−") else f"− {text.removeprefix('+')}"


def at(array: Array, cell: Cell) -> Element:
    """The element of `array` that NumPy's broadcasting puts at `cell` of the result."""
    return element(array[stretched(array.shape, cell)])


def stretched(shape: tuple[int, ...], cell: Cell) -> Cell:
    """Where broadcasting takes the element at `cell` from, in an array of `shape`."""
    tail = cell[len(cell) - len(shape) :]
    return tuple(0 if n == 1 else i for i, n in zip(tail, shape, strict=True))
