"""A cell's numbers put into its op's rule, as text: the result comes last, behind an equals sign.

Functions whose name ends in `_numbers` write the forward rule, in `_gradients` what the arriving gradient
becomes. Makers of such functions (`pair`, `function`, `times`) serve families of ops.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.autograd.ops.elementwise import GELU_CUBIC, GELU_SLOPE, sigmoid
from glassllm.debug.numerals import Element, coordinates, counted, element, with_minus

from .case import Case, at, stretched

Text = Callable[[Case], str]
Number = Callable[[Case], float]
READABLE = (0.1, 1e4)  # sums of exponentials within these bounds are written without a shift
LISTED = 4  # so many copies are added up in words


# One number in, one out


def equals(text: Text) -> Text:
    return lambda case: f"= {text(case)} = {case.result()}"


def function(name: str, after: str = ")") -> Text:
    """`name` opens, `after` closes around the input: `ln(` … `)`, `|` … `|`."""
    return equals(lambda case: f"{name}{case.signed(case.input())}{after}")


def times(slope: Number) -> Text:
    """`g × slope`, the chain rule for a function of one number."""

    def text(case: Case) -> str:
        g, s = case.gradient(), slope(case)
        return f"= {case.signed(g)} × {case.signed(s)} = {case.signed(g * s)}"

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
    return f"= {case.signed(case.input())} to the power {exponent} = {case.result()}"


def power_slope(case: Case) -> float:
    exponent = case.attr("exponent")
    return float(exponent * case.input() ** (exponent - 1)) if exponent else 0.0


def clip_numbers(case: Case) -> str:
    bounds = (None if case.attrs.get(side) is None else case.attr(side) for side in ("low", "high"))
    low, high = ("none" if bound is None else case.signed(bound) for bound in bounds)
    return f"= {case.signed(case.input())} held between {low} and {high} = {case.result()}"


def clip_slope(case: Case) -> float:
    return float(case.input() == case.value())


# Two numbers in


def pair(sign: str) -> Text:
    return equals(lambda case: f"{case.signed(case.input(0))} {sign} {case.signed(case.input(1))}")


def add_numbers(case: Case) -> str:
    return f"= {case.signed(case.input(0))} {case.plus(case.input(1))} = {case.result()}"


def sub_numbers(case: Case) -> str:
    return f"= {case.signed(case.input(0))} {case.minus(case.input(1))} = {case.result()}"


def add_gradients(case: Case) -> str:
    return f"unchanged, to a and to b = {case.arrived()}"


def sub_gradients(case: Case) -> str:
    g = case.gradient()
    return f"a gets g = {case.signed(g)}   b gets −g = {case.signed(-g)}"


def mul_gradients(case: Case) -> str:
    g, a, b = case.gradient(), case.input(0), case.input(1)
    to_a, to_b = (f"{case.signed(g)} × {case.signed(x)} = {case.signed(g * x)}" for x in (b, a))
    return f"a gets {to_a}   b gets {to_b}"


def div_gradients(case: Case) -> str:
    g, b, y = case.gradient(), case.input(1), case.value()
    slope = g / b
    to_a = f"{case.signed(g)} / {case.signed(b)} = {case.signed(slope)}"
    to_b = f"{case.signed(-slope)} × y = {case.signed(-slope * y)}"
    return f"a gets {to_a}   b gets {to_b}"


def where_numbers(case: Case) -> str:
    is_first = bool(case.attr("condition"))
    return f"= {'a' if is_first else 'b'}, as the condition is {is_first} = {case.result()}"


def where_gradients(case: Case) -> str:
    taken, other = "ab" if case.attr("condition") else "ba"
    return f"{other} gets 0   {taken} gets g = {case.arrived()}"


# Moved, not computed


def moved(case: Case) -> str:
    return f"moved, not computed = {case.result()}"


def unchanged(case: Case) -> str:
    return f"unchanged = {case.arrived()}"


def concat_gradients(case: Case) -> str:
    """Which of the inputs the cell came from; they are counted from 1."""
    if case.attrs.get("axis", 0) is None:
        lengths, place = [x.size for x in case.inputs], case.cell[0]
    else:
        axis = int(case.attrs.get("axis", 0)) % case.y.ndim
        lengths, place = [x.shape[axis] for x in case.inputs], case.cell[axis]
    number = 1 + int(np.searchsorted(np.cumsum(lengths), place, side="right"))
    return f"unchanged, to input {number} = {case.arrived()}"


def embedding_numbers(case: Case) -> str:
    return f"= E{coordinates(_embedded(case))} = {case.result()}"


def embedding_gradients(case: Case) -> str:
    return f"∂L/∂E{coordinates(_embedded(case))} += {case.arrived()}"


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
    listed = " ".join([case.signed(copies[0]), *map(case.plus, copies[1:])])
    text = listed if repeats <= LISTED else f"Σ over the {repeats} copies"
    return f"= {text} = {case.signed(float(np.sum(copies)))}"


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
    return f"unchanged, to each of {reduced(case).size} = {case.arrived()}"


def mean_gradients(case: Case) -> str:
    return _shared(case, reduced(case).size, "")


def max_gradients(case: Case) -> str:
    values = reduced(case)
    is_first = (values == case.value()) | (values != values)
    return _shared(case, int(is_first.sum()), " NaN" if np.isnan(case.value()) else " largest")


def _shared(case: Case, n: int, which: str) -> str:
    g = case.gradient()
    return f"to each of {n}{which} = {case.signed(g)} / {n} = {case.signed(g / np.float64(n))}"


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


def _term(case: Case, slot: int, k: int) -> Element:
    return element(case.inputs[slot][_core(case, slot, k)])


def leading_term(products: Array) -> int:
    """The term that decides the sum: the first NaN, else the largest in size."""
    return int(np.argmax(np.where(np.isnan(products), np.inf, np.abs(products))))


def matmul_numbers(case: Case) -> str:
    a, b = terms(case)
    if not a.size:
        return f"= a sum of no terms = {case.result()}"
    products = a * b
    k = leading_term(products)
    rest = np.delete(products, k).sum()
    others = f" {case.plus(rest)} from the {counted(a.size - 1, 'other')}" if a.size > 1 else ""
    of_a, of_b = (case.signed(_term(case, slot, k)) for slot in (0, 1))
    return f"= {of_a} × {of_b} at k {k}{others} = {case.result()}"


def matmul_gradients(case: Case) -> str:
    a, b = terms(case)
    if not a.size:
        return "a sum of no terms sends nothing"
    k, g = leading_term(a * b), case.gradient()
    sent = []
    for name, slot, x in (("a", 0, _term(case, 1, k)), ("b", 1, _term(case, 0, k))):
        where = coordinates(_core(case, slot, k))
        sent.append(f"∂L/∂{name}{where} += {case.signed(g)} × {case.signed(x)} = {case.signed(g * x)}")
    return "   ".join(sent)


def rope_numbers(case: Case) -> str:
    return _turned(case, case.inputs[0], 1.0)


def rope_gradients(case: Case) -> str:
    return _turned(case, case.gradients(), -1.0)


def _turned(case: Case, x: Array, way: float) -> str:
    """One number of a pair of `x` that is turned by the cell's angle, or back where `way` is −1."""
    *front, column = case.cell
    angle = (*front, column // 2)
    cos, sin = (at(case.attrs[name], angle) for name in ("cos", "sin"))
    even, odd = (element(x[(*front, column // 2 * 2 + i)]) for i in (0, 1))
    here, other, turn = (odd, even, way * sin) if column % 2 else (even, odd, -way * sin)
    terms = f"{case.signed(here)} × {case.signed(cos)} {case.plus(other)} × {case.signed(turn)}"
    return f"= {terms} = {case.signed(here * cos + other * turn)}"


# Distributions


def softmax_numbers(case: Case) -> str:
    row, here, y = case.lane(case.inputs[0]), case.input(), case.result()
    top = row.max()
    if not np.isfinite(top):
        return f"= a row whose largest is {case.signed(top)} = {y}"
    total = np.exp(row).sum()
    if READABLE[0] <= total < READABLE[1]:
        return f"= exp({case.signed(here, 3)}) / {case.fixed(total, 3)} = {y}"
    total = np.exp(row - top).sum()
    return f"= exp({case.signed(here, 3)} {case.minus(top, 3)}) / {case.fixed(total, 3)} = {y}"


def softmax_gradients(case: Case) -> str:
    w, g = case.value(), case.gradient()
    mean = (case.lane(case.gradients()) * case.lane(case.y)).sum()
    return f"= {case.signed(w)} × ({case.signed(g)} {case.minus(mean)}) = {case.signed(w * (g - mean))}"


def log_softmax_numbers(case: Case) -> str:
    row = case.lane(case.inputs[0])
    total = row.max() + np.log(np.exp(row - row.max()).sum())
    return f"= {case.signed(case.input())} {case.minus(total)} = {case.result()}"


def log_softmax_gradients(case: Case) -> str:
    p, g, total = np.exp(case.value()), case.gradient(), case.lane(case.gradients()).sum()
    return f"= {case.signed(g)} {case.minus(p)} × {case.signed(total)} = {case.signed(g - p * total)}"


def cross_entropy_numbers(case: Case) -> str:
    n, loss = len(case.inputs[0]), case.value()
    perplexity = f"ln {case.fixed(np.exp(loss), 2)} = " if np.isfinite(loss) else ""
    return f"= mean of −log p over {counted(n, 'row')} = {perplexity}{case.signed(loss)}"


def cross_entropy_gradients(case: Case) -> str:
    """What the target of the first row gets; it speaks for the others."""
    targets = case.attrs["targets"]
    if not len(targets):
        return "no rows: sends nothing"
    row, n, g = np.asarray(case.inputs[0][0], np.float64), len(targets), case.gradient()
    p = (np.exp(row - row.max()) / np.exp(row - row.max()).sum())[targets[0]]
    slope = f"({case.signed(p)} − 1) × {case.signed(g)} / {n}"
    return f"at the target {coordinates((0, targets[0]))} = {slope} = {case.signed((p - 1) * g / n)}"


# Ops that people make


def result(case: Case) -> str:
    return f"= {case.result()}"


def arriving(case: Case) -> str:
    return f"g = {case.arrived()}"
