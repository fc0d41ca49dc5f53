"""A cell's numbers put into its op's rule, as text: the result comes last, behind an equals sign.

Functions whose name ends in `_numbers` write the forward rule, in `_gradients` what the arriving gradient
becomes. Makers of such functions (`pair`, `function`, `times`) serve families of ops.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.autograd.ops.elementwise import GELU_CUBIC, GELU_SLOPE, sigmoid
from glassllm.debug.numerals import coordinates, counted, signed, with_minus

from .case import Case, at, minus, plus, stretched

Text = Callable[[Case], str]
Number = Callable[[Case], float]
READABLE = (0.1, 1e4)  # sums of exponentials within these bounds are written without a shift
LISTED = 4  # so many copies are added up in words


# One number in, one out


def equals(text: Text) -> Text:
    return lambda case: f"= {text(case)} = {signed(case.value())}"


def function(name: str, after: str = ")") -> Text:
    """`name` opens, `after` closes around the input: `ln(` … `)`, `|` … `|`."""
    return equals(lambda case: f"{name}{signed(case.input())}{after}")


def times(slope: Number) -> Text:
    """`g × slope`, the chain rule for a function of one number."""

    def text(case: Case) -> str:
        g, s = case.gradient(), slope(case)
        return f"= {signed(g)} × {signed(s)} = {signed(g * s)}"

    return text


def sigmoid_slope(case: Case) -> float:
    return case.value() * (1 - case.value())


def silu_slope(case: Case) -> float:
    s = sigmoid(case.input())
    return float(s + case.value() * (1 - s))


def gelu_slope(case: Case) -> float:
    x = np.clip(case.input(), -50, 50)
    t = np.tanh(GELU_SLOPE * x * (1 + GELU_CUBIC * x * x))
    inner = GELU_SLOPE * (1 + 3 * GELU_CUBIC * x * x)
    return float(0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner)


def power_numbers(case: Case) -> str:
    exponent = with_minus(f"{case.attr('exponent'):g}")
    return f"= {signed(case.input())} to the power {exponent} = {signed(case.value())}"


def power_slope(case: Case) -> float:
    exponent = case.attr("exponent")
    return float(exponent * case.input() ** (exponent - 1)) if exponent else 0.0


def clip_numbers(case: Case) -> str:
    low, high = ("none" if case.attrs.get(side) is None else signed(case.attr(side)) for side in ("low", "high"))
    return f"= {signed(case.input())} held between {low} and {high} = {signed(case.value())}"


def clip_slope(case: Case) -> float:
    return float(case.input() == case.value())


# Two numbers in


def pair(sign: str) -> Text:
    return equals(lambda case: f"{signed(case.input(0))} {sign} {signed(case.input(1))}")


def add_numbers(case: Case) -> str:
    return f"= {signed(case.input(0))} {plus(case.input(1))} = {signed(case.value())}"


def sub_numbers(case: Case) -> str:
    return f"= {signed(case.input(0))} {minus(case.input(1))} = {signed(case.value())}"


def add_gradients(case: Case) -> str:
    return f"unchanged, to a and to b = {signed(case.gradient())}"


def sub_gradients(case: Case) -> str:
    g = case.gradient()
    return f"a gets g = {signed(g)}   b gets −g = {signed(-g)}"


def mul_gradients(case: Case) -> str:
    g, a, b = case.gradient(), case.input(0), case.input(1)
    to_a, to_b = (f"{signed(g)} × {signed(x)} = {signed(g * x)}" for x in (b, a))
    return f"a gets {to_a}   b gets {to_b}"


def div_gradients(case: Case) -> str:
    g, b, y = case.gradient(), case.input(1), case.value()
    slope = g / b
    return (
        f"a gets {signed(g)} / {signed(b)} = {signed(slope)}   b gets {signed(-slope)} × y = {signed(-slope * y)}"
    )


def where_numbers(case: Case) -> str:
    is_first = bool(case.attr("condition"))
    return f"= {'a' if is_first else 'b'}, as the condition is {is_first} = {signed(case.value())}"


def where_gradients(case: Case) -> str:
    taken, other = "ab" if case.attr("condition") else "ba"
    return f"{other} gets 0   {taken} gets g = {signed(case.gradient())}"


# Moved, not computed


def moved(case: Case) -> str:
    return f"moved, not computed = {signed(case.value())}"


def unchanged(case: Case) -> str:
    return f"unchanged = {signed(case.gradient())}"


def concat_gradients(case: Case) -> str:
    """Which of the inputs the cell came from; they are counted from 1."""
    if case.attrs.get("axis", 0) is None:
        lengths, place = [x.size for x in case.inputs], case.cell[0]
    else:
        axis = int(case.attrs.get("axis", 0)) % case.y.ndim
        lengths, place = [x.shape[axis] for x in case.inputs], case.cell[axis]
    number = 1 + int(np.searchsorted(np.cumsum(lengths), place, side="right"))
    return f"unchanged, to input {number} = {signed(case.gradient())}"


def embedding_numbers(case: Case) -> str:
    return f"= E{coordinates(_embedded(case))} = {signed(case.value())}"


def embedding_gradients(case: Case) -> str:
    return f"∂L/∂E{coordinates(_embedded(case))} += {signed(case.gradient())}"


def _embedded(case: Case) -> tuple[int, int]:
    """Row and column of the weight that the cell was looked up at."""
    *place, column = case.cell
    return int(case.attrs["ids"][tuple(place)]) % len(case.inputs[0]), column


def repeat_gradients(case: Case) -> str:
    """What the input's head gets: the sum over its copies, this one among them."""
    repeats = int(case.attrs["repeats"])
    batch, head, *rest = case.cell
    first = head // repeats * repeats
    copies = [at(case.gradients(), (batch, head, *rest)) for head in range(first, first + repeats)]
    listed = " ".join([signed(copies[0]), *map(plus, copies[1:])])
    text = listed if repeats <= LISTED else f"Σ over the {repeats} copies"
    return f"= {text} = {signed(float(np.sum(copies)))}"


# Many numbers in


def reduce_numbers(word: str) -> Text:
    return equals(lambda case: f"{word} of {counted(reduced(case).size, 'value')}")


def reduced(case: Case) -> Array:
    """The elements of the input that the cell is made of."""
    x, axis = case.inputs[0], case.attrs.get("axis")
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {i % x.ndim for i in axes}
    index: list[Any] = list(case.cell)
    for i in sorted(gone):
        index[i : i + bool(case.attrs.get("keepdims"))] = [slice(None)]
    return np.asarray(x[tuple(index)])


def sum_gradients(case: Case) -> str:
    return f"unchanged, to each of {reduced(case).size} = {signed(case.gradient())}"


def mean_gradients(case: Case) -> str:
    return _shared(case, reduced(case).size, "")


def max_gradients(case: Case) -> str:
    values = reduced(case)
    is_first = (values == case.value()) | (values != values)
    return _shared(case, int(is_first.sum()), " NaN" if np.isnan(case.value()) else " largest")


def _shared(case: Case, n: int, which: str) -> str:
    g = case.gradient()
    return f"to each of {n}{which} = {signed(g)} / {n} = {signed(g / np.float64(n))}"


def terms(case: Case) -> tuple[Array, Array]:
    """The two vectors whose dot product is the cell of a matmul."""
    a, b = (x[_core(case, slot, slice(None))] for slot, x in enumerate(case.inputs))
    return np.asarray(a, np.float64), np.asarray(b, np.float64)


def _core(case: Case, slot: int, k: Any) -> tuple[Any, ...]:
    """Coordinates in input `slot` of the term (or slice of terms) k that the cell of a matmul is made of."""
    a, b = case.inputs
    cell = list(case.cell)
    column = [cell.pop()] if b.ndim > 1 else []
    row = [cell.pop()] if a.ndim > 1 else []
    batch = stretched(case.inputs[slot].shape[:-2], tuple(cell))
    return (*batch, *row, k) if slot == 0 else (*batch, k, *column)


def leading_term(products: Array) -> int:
    """The term that decides the sum: the first NaN, else the largest in size."""
    return int(np.argmax(np.where(np.isnan(products), np.inf, np.abs(products))))


def matmul_numbers(case: Case) -> str:
    a, b = terms(case)
    if not a.size:
        return f"= a sum of no terms = {signed(case.value())}"
    products = a * b
    k = leading_term(products)
    rest = np.delete(products, k).sum()
    others = f" {plus(rest)} from the {counted(a.size - 1, 'other')}" if a.size > 1 else ""
    return f"= {signed(a[k])} × {signed(b[k])} at k {k}{others} = {signed(case.value())}"


def matmul_gradients(case: Case) -> str:
    a, b = terms(case)
    if not a.size:
        return "a sum of no terms sends nothing"
    k, g = leading_term(a * b), case.gradient()
    to_a, to_b = (
        f"∂L/∂{name}{coordinates(_core(case, slot, k))} += {signed(g)} × {signed(x[k])} = {signed(g * x[k])}"
        for name, slot, x in (("a", 0, b), ("b", 1, a))
    )
    return f"{to_a}   {to_b}"


def rope_numbers(case: Case) -> str:
    return _turned(case, case.inputs[0], 1.0)


def rope_gradients(case: Case) -> str:
    return _turned(case, case.gradients(), -1.0)


def _turned(case: Case, x: Array, way: float) -> str:
    """One number of a pair of `x` that is turned by the cell's angle, or back where `way` is −1."""
    *front, column = case.cell
    angle = (*front, column // 2)
    cos, sin = (at(case.attrs[name], angle) for name in ("cos", "sin"))
    even, odd = (np.float64(x[(*front, column // 2 * 2 + i)]) for i in (0, 1))
    here, other, turn = (odd, even, way * sin) if column % 2 else (even, odd, -way * sin)
    result = here * cos + other * turn
    return f"= {signed(here)} × {signed(cos)} {plus(other)} × {signed(turn)} = {signed(result)}"


# Distributions


def softmax_numbers(case: Case) -> str:
    row, here, y = case.lane(case.inputs[0]), case.input(), signed(case.value())
    top = row.max()
    if not np.isfinite(top):
        return f"= a row whose largest is {signed(top)} = {y}"
    total = np.exp(row).sum()
    if READABLE[0] <= total < READABLE[1]:
        return f"= exp({signed(here, 3)}) / {total:.3f} = {y}"
    return f"= exp({signed(here, 3)} {minus(top, 3)}) / {np.exp(row - top).sum():.3f} = {y}"


def softmax_gradients(case: Case) -> str:
    w, g = case.value(), case.gradient()
    mean = (case.lane(case.gradients()) * case.lane(case.y)).sum()
    return f"= {signed(w)} × ({signed(g)} {minus(mean)}) = {signed(w * (g - mean))}"


def log_softmax_numbers(case: Case) -> str:
    row = case.lane(case.inputs[0])
    total = row.max() + np.log(np.exp(row - row.max()).sum())
    return f"= {signed(case.input())} {minus(total)} = {signed(case.value())}"


def log_softmax_gradients(case: Case) -> str:
    p, g, total = np.exp(case.value()), case.gradient(), case.lane(case.gradients()).sum()
    return f"= {signed(g)} {minus(p)} × {signed(total)} = {signed(g - p * total)}"


def cross_entropy_numbers(case: Case) -> str:
    n, loss = len(case.inputs[0]), case.value()
    perplexity = f"ln {np.exp(loss):.2f} = " if np.isfinite(loss) else ""
    return f"= mean of −log p over {counted(n, 'row')} = {perplexity}{signed(loss)}"


def cross_entropy_gradients(case: Case) -> str:
    """What the target of the first row gets; it speaks for the others."""
    targets = case.attrs["targets"]
    if not len(targets):
        return "no rows: sends nothing"
    row, n, g = np.asarray(case.inputs[0][0], np.float64), len(targets), case.gradient()
    p = (np.exp(row - row.max()) / np.exp(row - row.max()).sum())[targets[0]]
    where = coordinates((0, targets[0]))
    return f"at the target {where} = ({signed(p)} − 1) × {signed(g)} / {n} = {signed((p - 1) * g / n)}"


# Ops that people make


def result(case: Case) -> str:
    return f"= {signed(case.value())}"


def arriving(case: Case) -> str:
    return f"g = {signed(case.gradient())}"
