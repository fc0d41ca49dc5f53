"""Each op's rule, forward and backward, as a person writes it: one table keyed by op name.

`y` is the op's result, `g` the gradient that arrives at it, `x`, `a`, `b` its inputs. Backward lines say what
goes to the first input, or to each where that differs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .worked import (
    Case,
    clip_slope,
    cross_entropy_gradients,
    cross_entropy_numbers,
    div_gradients,
    embedding_gradients,
    embedding_numbers,
    equals,
    function,
    gelu_slope,
    gradient_only,
    log_softmax_gradients,
    log_softmax_numbers,
    matmul_gradients,
    matmul_numbers,
    max_gradients,
    mean_gradients,
    mul_gradients,
    no_numbers,
    pair,
    power_slope,
    quotient,
    reduce_numbers,
    rope_numbers,
    same_value,
    signed,
    silu_slope,
    softmax_gradients,
    softmax_numbers,
    times,
    unchanged,
    where_gradients,
    where_numbers,
)


@dataclass(frozen=True, slots=True)
class Formula:
    """`words` say what the op does; the callables put a case's numbers into the rule."""

    words: str
    forward: str
    backward: str
    numbers: Callable[[Case], str]
    gradients: Callable[[Case], str]


MOVED = "moves values, computes nothing"
FORMULAS: dict[str, Formula] = {
    "add": Formula("sum", "y = a + b", "∂L/∂a = ∂L/∂b = g", pair("+"), unchanged),
    "sub": Formula("difference", "y = a − b", "∂L/∂a = g   ∂L/∂b = −g", pair("−"), unchanged),
    "mul": Formula("product", "y = a ⊙ b", "∂L/∂a = g ⊙ b   ∂L/∂b = g ⊙ a", pair("×"), mul_gradients),
    "div": Formula("quotient", "y = a / b", "∂L/∂a = g / b   ∂L/∂b = −g a / b²", pair("/"), div_gradients),
    "neg": Formula("sign turned", "y = −x", "∂L/∂x = −g", function("−"), times(lambda c: -1.0)),
    "power": Formula(
        "power",
        "y = xᵖ",
        "∂L/∂x = g ⊙ p xᵖ⁻¹",
        equals(lambda c: f"{signed(c.input())} to the {c.attrs['exponent']}"),
        times(power_slope),
    ),
    "exp": Formula("exponential", "y = eˣ", "∂L/∂x = g ⊙ y", function("exp"), times(lambda c: float(c.y[c.cell]))),
    "log": Formula(
        "natural logarithm",
        "y = ln x",
        "∂L/∂x = g / x",
        function("ln"),
        times(lambda c: quotient(1, c.input())),
    ),
    "sqrt": Formula(
        "square root",
        "y = √x",
        "∂L/∂x = g / 2y",
        function("√"),
        times(lambda c: quotient(0.5, float(c.y[c.cell]))),
    ),
    "tanh": Formula(
        "hyperbolic tangent",
        "y = tanh x",
        "∂L/∂x = g ⊙ (1 − y²)",
        function("tanh"),
        times(lambda c: 1 - float(c.y[c.cell]) ** 2),
    ),
    "relu": Formula(
        "rectifier",
        "y = max(x, 0)",
        "∂L/∂x = g where x > 0, else 0",
        function("relu"),
        times(lambda c: float(c.input() > 0)),
    ),
    "gelu": Formula(
        "tanh form",
        "y = ½x(1 + tanh(√(2/π)(x + .0447x³)))",
        "∂L/∂x = g ⊙ y′(x)",
        function("gelu"),
        times(gelu_slope),
    ),
    "abs": Formula(
        "magnitude", "y = |x|", "∂L/∂x = g ⊙ sign x", function("abs"), times(lambda c: float(np.sign(c.input())))
    ),
    "clip": Formula(
        "kept in bounds",
        "y = min(max(x, low), high)",
        "∂L/∂x = g where x is inside, else 0",
        function("clip"),
        times(clip_slope),
    ),
    "sigmoid": Formula(
        "logistic",
        "y = 1 / (1 + e⁻ˣ)",
        "∂L/∂x = g ⊙ y(1 − y)",
        function("σ"),
        times(lambda c: float(c.y[c.cell]) * (1 - float(c.y[c.cell]))),
    ),
    "silu": Formula(
        "x · sigmoid(x)", "y = x σ(x)", "∂L/∂x = g ⊙ σ(x)(1 + x(1 − σ(x)))", function("silu"), times(silu_slope)
    ),
    "tsum": Formula("over the axis", "y = Σ x", "∂L/∂x = g, to every term", reduce_numbers("sum"), unchanged),
    "mean": Formula(
        "over the axis", "y = Σ x / n", "∂L/∂x = g / n, to every term", reduce_numbers("mean"), mean_gradients
    ),
    "max": Formula(
        "over the axis",
        "y = max x",
        "∂L/∂x = g at the largest, shared by ties",
        reduce_numbers("max"),
        max_gradients,
    ),
    "reshape": Formula(MOVED, "y = x, another shape", "∂L/∂x = g, shaped back", same_value, unchanged),
    "transpose": Formula(MOVED, "y = xᵀ, axes in another order", "∂L/∂x = gᵀ", same_value, unchanged),
    "getitem": Formula(MOVED, "y = x[index]", "∂L/∂x[index] += g, 0 elsewhere", same_value, unchanged),
    "concat": Formula(
        MOVED, "y = inputs one after another", "each input gets its part of g", same_value, unchanged
    ),
    "where": Formula(
        "choice",
        "y = a where the condition holds, else b",
        "g goes to the side taken, 0 to the other",
        where_numbers,
        where_gradients,
    ),
    "matmul": Formula(
        "matrix product", "yᵢⱼ = Σₖ aᵢₖ bₖⱼ", "∂L/∂a = g bᵀ   ∂L/∂b = aᵀ g", matmul_numbers, matmul_gradients
    ),
    "embedding": Formula("row look-up", "y = E[id]", "∂L/∂E[id] += g", embedding_numbers, embedding_gradients),
    "softmax": Formula(
        "over the axis",
        "wᵢⱼ = exp(sᵢⱼ) / Σₖ exp(sᵢₖ)",
        "∂L/∂s = w ⊙ (g − Σⱼ gⱼwⱼ)",
        softmax_numbers,
        softmax_gradients,
    ),
    "log_softmax": Formula(
        "over the axis",
        "yᵢⱼ = sᵢⱼ − ln Σₖ exp(sᵢₖ)",
        "∂L/∂s = g − softmax(s) Σⱼ gⱼ",
        log_softmax_numbers,
        log_softmax_gradients,
    ),
    "cross_entropy": Formula(
        "mean over positions",
        "L = −mean log p[target]",
        "∂L/∂s = (softmax(s) − one-hot) g / N",
        cross_entropy_numbers,
        cross_entropy_gradients,
    ),
    "rope": Formula(
        "rotates pairs by position",
        "(x₀, x₁) turned by the angle m θᵢ",
        "g turned back by the same angle",
        rope_numbers,
        gradient_only,
    ),
    "repeat_kv": Formula(
        "each head next to itself",
        "y = heads repeated",
        "∂L/∂x = Σ g over the copies",
        same_value,
        gradient_only,
    ),
}
CUSTOM = Formula("hand-made op", "y = f(inputs)", "its own rule", no_numbers, gradient_only)


def formula(name: str) -> Formula:
    """The op's entry; a general one for ops that people made."""
    return FORMULAS.get(name, CUSTOM)
