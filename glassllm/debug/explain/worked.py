"""One cell of one op's result with its numbers put into the op's rule, forward and backward, as text.

Functions whose name ends in `_numbers` write the forward rule, in `_gradients` what the arriving gradient
becomes; each takes a `Case`. Makers of such functions (`pair`, `times`) serve families of ops.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array

Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One cell of one application of an op: the arrays, and where to look. `g` is None before it is complete."""

    y: Array
    inputs: tuple[Array, ...]
    attrs: dict[str, Any]
    cell: Cell
    g: Array | None = None

    def value(self) -> str:
        return signed(self.y[self.cell])

    def input(self, i: int = 0) -> float:
        """The element of input `i` that broadcasting puts at the cell."""
        return at(self.inputs[i], self.cell)

    def gradient(self) -> float:
        assert self.g is not None, "no gradient has arrived"
        return float(self.g[self.cell])


def signed(x: Any) -> str:
    """A cell as the screen writes it: sign always, four decimals, true minus; an exponent if large or tiny."""
    number = float(x)
    if np.isnan(number):
        return "NaN"
    if np.isinf(number):
        return "+Inf" if number > 0 else "−Inf"
    size = abs(number)
    text = f"{number:+.4f}" if size == 0 or 1e-4 <= size < 1e4 else f"{number:+.2e}".replace("e-0", "e-")
    return text.replace("e+0", "e").replace("-", "−")


def at(array: Array, cell: Cell) -> float:
    """The element of `array` that NumPy's broadcasting puts at `cell` of the result."""
    tail = cell[len(cell) - array.ndim :] if array.ndim else ()
    return float(array[tuple(0 if n == 1 else i for i, n in zip(tail, array.shape, strict=True))])


def equals(text: Callable[[Case], str]) -> Callable[[Case], str]:
    return lambda case: f"= {text(case)} = {case.value()}"


def pair(sign: str) -> Callable[[Case], str]:
    return equals(lambda c: f"{signed(c.input(0))} {sign} {signed(c.input(1))}")


def function(name: str) -> Callable[[Case], str]:
    return equals(lambda c: f"{name}({signed(c.input())})")


def times(slope: Callable[[Case], float]) -> Callable[[Case], str]:
    """`g × slope`, the chain rule for a function of one number."""

    def text(case: Case) -> str:
        s, g = slope(case), case.gradient()
        return f"= {signed(g)} × {signed(s)} = {signed(g * s)}"

    return text


def mul_gradients(case: Case) -> str:
    g, a, b = case.gradient(), case.input(0), case.input(1)
    return (
        f"a gets {signed(g)} × {signed(b)} = {signed(g * b)}   b gets {signed(g)} × {signed(a)} = {signed(g * a)}"
    )


def div_gradients(case: Case) -> str:
    g, a, b = case.gradient(), case.input(0), case.input(1)
    with np.errstate(all="ignore"):
        to_a, to_b = np.divide(g, b), -np.divide(g * a, b * b)
    return f"a gets {signed(g)} / {signed(b)} = {signed(to_a)}   b gets {signed(to_b)}"


def unchanged(case: Case) -> str:
    return f"= {signed(case.gradient())}, unchanged"


def same_value(case: Case) -> str:
    return f"= {case.value()}, moved and not computed"


def sigmoid(x: float) -> float:
    return float(0.5 * (1 + np.tanh(0.5 * x)))


def silu_slope(case: Case) -> float:
    s = sigmoid(case.input())
    return s * (1 + case.input() * (1 - s))


def gelu_slope(case: Case) -> float:
    x, k = case.input(), np.sqrt(2 / np.pi)
    t = np.tanh(k * (x + 0.044715 * x**3))
    return float(0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x))


def power_slope(case: Case) -> float:
    exponent = float(case.attrs["exponent"])
    with np.errstate(all="ignore"):
        return exponent * float(np.power(case.input(), exponent - 1)) if exponent else 0.0


def quotient(top: float, bottom: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.divide(top, bottom))


def axis_of(case: Case) -> int:
    return int(case.attrs.get("axis", -1)) % max(case.y.ndim, 1)


def lane(array: Array, case: Case) -> Array:
    """The row of `array` through the cell, along the op's axis."""
    axis = axis_of(case)
    index: tuple[Any, ...] = tuple(slice(None) if i == axis else n for i, n in enumerate(case.cell))
    return np.asarray(array[index], np.float64)


def softmax_numbers(case: Case) -> str:
    row, here = lane(case.inputs[0], case), case.input()
    top = row.max()
    if not np.isfinite(top):
        return f"= {case.value()}"
    shift = 0.0 if abs(top) < 30 else top  # the plain quotient while it can be read, the shifted one beyond
    less = f" − {top:.3f}" if shift else ""
    return (
        f"= exp({three(here)}{less.replace('-', '−')}) / {np.exp(row - shift).sum():.3f} = {case.value()}"
        if np.isfinite(here)
        else f"= exp(−∞) / {np.exp(row - shift).sum():.3f} = {case.value()}"
    )


def three(x: float) -> str:
    return f"{x:+.3f}".replace("-", "−")


def softmax_gradients(case: Case) -> str:
    assert case.g is not None
    w, g = float(case.y[case.cell]), case.gradient()
    mean = float(lane(case.g, case) @ lane(case.y, case))
    return f"= {signed(w)} × ({signed(g)} − {signed(mean)}) = {signed(w * (g - mean))}".replace("− +", "− ")


def log_softmax_numbers(case: Case) -> str:
    row = lane(case.inputs[0], case)
    with np.errstate(all="ignore"):
        lse = row.max() + np.log(np.exp(row - row.max()).sum())
    return f"= {signed(case.input())} − {signed(lse)} = {case.value()}"


def log_softmax_gradients(case: Case) -> str:
    assert case.g is not None
    p, g, total = float(np.exp(case.y[case.cell])), case.gradient(), float(lane(case.g, case).sum())
    return f"= {signed(g)} − {signed(p)} × {signed(total)} = {signed(g - p * total)}"


def terms(case: Case) -> tuple[Array, Array]:
    """The two vectors whose dot product is the cell of a matmul."""
    a, b = case.inputs
    cell = list(case.cell)
    column = cell.pop() if b.ndim > 1 else None
    row = cell.pop() if a.ndim > 1 else None
    left, right = batch(a, cell, 2), batch(b, cell, 2)
    left = left if row is None else left[row]
    right = right if column is None else right[:, column]
    return np.asarray(left, np.float64), np.asarray(right, np.float64)


def batch(array: Array, cell: list[int], core: int) -> Array:
    """The matrix of a stack that broadcasting puts at the batch coordinates `cell`."""
    if array.ndim <= core:
        return array
    stack = array.shape[: array.ndim - core]
    tail = cell[len(cell) - len(stack) :]
    return np.asarray(array[tuple(0 if n == 1 else i for i, n in zip(tail, stack, strict=True))])


def matmul_numbers(case: Case) -> str:
    a, b = terms(case)
    if not a.size:
        return f"= {case.value()}, a sum of no terms"
    products = a * b
    k = int(np.argmax(np.abs(np.nan_to_num(products))))
    rest = products.sum() - products[k]
    return (
        (f"= {signed(a[k])} × {signed(b[k])} (k {k}, the largest of {a.size}) + {signed(rest)} = {case.value()}")
        .replace("+ −", "− ")
        .replace("+ +", "+ ")
    )


def matmul_gradients(case: Case) -> str:
    return f"g here {signed(case.gradient())} joins row i of ∂L/∂a and column j of ∂L/∂b"


def reduced(case: Case) -> Array:
    """The elements of the input that the cell is made of."""
    x, axis = case.inputs[0], case.attrs.get("axis")
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % x.ndim for a in axes)
    kept = iter(case.cell)
    index: list[Any] = []
    for i in range(x.ndim):
        if i in axes:
            index.append(slice(None))
            if case.attrs.get("keepdims"):
                next(kept)
        else:
            index.append(next(kept))
    return np.asarray(x[tuple(index)])


def reduce_numbers(word: str) -> Callable[[Case], str]:
    return lambda case: f"= {word} of {reduced(case).size} values = {case.value()}"


def mean_gradients(case: Case) -> str:
    n, g = reduced(case).size, case.gradient()
    return f"= {signed(g)} / {n} = {signed(quotient(g, n))} to each of {n}"


def max_gradients(case: Case) -> str:
    values = reduced(case)
    ties = int((values == values.max()).sum()) if values.size else 0
    share = "" if ties < 2 else f", shared by {ties} that tie"
    return f"= {signed(case.gradient())} to the largest{share}; 0 to the others"


def where_numbers(case: Case) -> str:
    is_first = bool(at(np.asarray(case.attrs["condition"]), case.cell))
    return f"condition {is_first}: {'a' if is_first else 'b'} = {case.value()}"


def where_gradients(case: Case) -> str:
    is_first = bool(at(np.asarray(case.attrs["condition"]), case.cell))
    taken, other = ("a", "b") if is_first else ("b", "a")
    return f"{taken} gets {signed(case.gradient())}, {other} gets 0"


def clip_slope(case: Case) -> float:
    return float(case.input() == float(case.y[case.cell]))


def embedding_numbers(case: Case) -> str:
    token = int(np.asarray(case.attrs["ids"])[case.cell[:-1]])
    return f"= E[{token},{case.cell[-1]}] = {case.value()}"


def embedding_gradients(case: Case) -> str:
    token = int(np.asarray(case.attrs["ids"])[case.cell[:-1]])
    return f"{signed(case.gradient())} is added to row {token} of ∂L/∂E"


def rope_angles(case: Case) -> tuple[int, float, float, float, float]:
    """Which of the pair (0 or 1), the pair's two inputs, and its cosine and sine."""
    *front, n, c = case.cell
    pair, which = divmod(c, 2)
    x = case.inputs[0][(*front, n)]
    return (
        which,
        float(x[2 * pair]),
        float(x[2 * pair + 1]),
        float(np.asarray(case.attrs["cos"])[n, pair]),
        float(np.asarray(case.attrs["sin"])[n, pair]),
    )


def rope_numbers(case: Case) -> str:
    which, even, odd, cos, sin = rope_angles(case)
    if which:
        return f"= {signed(even)} × sin {signed(sin)} + {signed(odd)} × cos {signed(cos)} = {case.value()}"
    return f"= {signed(even)} × cos {signed(cos)} − {signed(odd)} × sin {signed(sin)} = {case.value()}"


def cross_entropy_numbers(case: Case) -> str:
    logits, targets = np.asarray(case.inputs[0], np.float64), np.asarray(case.attrs["targets"])
    n = len(targets)
    return (
        f"= mean of {n} −log p = {float(case.y):.4f} nats, perplexity {np.exp(float(case.y)):.2f}"
        if n
        else (f"= {case.value()}, the mean over no rows of {logits.shape[-1]} logits")
    )


def cross_entropy_gradients(case: Case) -> str:
    n = len(np.asarray(case.attrs["targets"]))
    return f"row i gets (softmax(rowᵢ) − one-hot(targetᵢ)) × {signed(case.gradient())} / {n}"


def no_numbers(case: Case) -> str:
    return f"= {case.value()}"


def gradient_only(case: Case) -> str:
    return f"g here {signed(case.gradient())}"
