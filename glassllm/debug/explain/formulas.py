"""Each op's rule, forward and backward, as a person writes it: one table keyed by op name.

`y` is the op's result, `g` the gradient that arrives at it, `x`, `a`, `b` its inputs. Backward lines say what
goes to the first input, or to each where that differs.
"""

from dataclasses import dataclass

import numpy as np

from . import worked
from .case import Case
from .worked import Text, function, pair, reduce_numbers, times


@dataclass(frozen=True, slots=True)
class Formula:
    """`words` say what the op does; `written` and `chained` put a case's numbers into the two rules."""

    words: str
    forward: str
    backward: str
    written: Text
    chained: Text

    def numbers(self, case: Case) -> str:
        """The forward rule with the cell's numbers, its result last."""
        with np.errstate(all="ignore"):
            return self.written(case)

    def gradients(self, case: Case) -> str:
        """What becomes of the cell's gradient; needs `case.g`."""
        with np.errstate(all="ignore"):
            return self.chained(case)


MOVED = "moves values, computes nothing"
AXIS = "over the axis"
FUSED = "several ops in one"
WHOLE = "the rules of all its parts"
FORMULAS: dict[str, Formula] = {
    # Two numbers
    "add": Formula("sum", "y = a + b", "∂L/∂a = ∂L/∂b = g", worked.add_numbers, worked.add_gradients),
    "sub": Formula("difference", "y = a − b", "∂L/∂a = g   ∂L/∂b = −g", worked.sub_numbers, worked.sub_gradients),
    "mul": Formula("product", "y = a ⊙ b", "∂L/∂a = g ⊙ b   ∂L/∂b = g ⊙ a", pair("×"), worked.mul_gradients),
    "div": Formula("quotient", "y = a / b", "∂L/∂a = g / b   ∂L/∂b = −g a / b²", pair("/"), worked.div_gradients),
    "where": Formula(
        "choice",
        "y = a where the condition holds, else b",
        "g goes to the side taken, 0 to the other",
        worked.where_numbers,
        worked.where_gradients,
    ),
    # One number
    "neg": Formula("sign turned", "y = −x", "∂L/∂x = −g", function("−(", ")"), times(lambda case: -1.0)),
    "power": Formula("power", "y = xᵖ", "∂L/∂x = g ⊙ p xᵖ⁻¹", worked.power_numbers, times(worked.power_slope)),
    "exp": Formula("exponential", "y = eˣ", "∂L/∂x = g ⊙ y", function("exp("), times(Case.value)),
    "log": Formula(
        "natural logarithm", "y = ln x", "∂L/∂x = g / x", function("ln("), times(lambda case: 1 / case.input())
    ),
    "sqrt": Formula(
        "square root", "y = √x", "∂L/∂x = g / 2y", function("√(", ")"), times(lambda case: 0.5 / case.value())
    ),
    "abs": Formula(
        "magnitude",
        "y = |x|",
        "∂L/∂x = g ⊙ sign x",
        function("|", "|"),
        times(lambda case: float(np.sign(np.nan_to_num(case.input())))),
    ),
    "clip": Formula(
        "held in bounds",
        "y = min(max(x, low), high)",
        "∂L/∂x = g where x is inside, else 0",
        worked.clip_numbers,
        times(worked.clip_slope),
    ),
    "relu": Formula(
        "rectifier",
        "y = max(x, 0)",
        "∂L/∂x = g where x > 0, else 0",
        function("max(", ", 0)"),
        times(lambda case: float(case.input() > 0)),
    ),
    "tanh": Formula(
        "hyperbolic tangent",
        "y = tanh x",
        "∂L/∂x = g ⊙ (1 − y²)",
        function("tanh("),
        times(lambda case: 1 - case.value() ** 2),
    ),
    "gelu": Formula(
        "tanh form",
        "y = ½x(1 + tanh(√(2/π)(x + .0447x³)))",
        "∂L/∂x = g ⊙ y′(x)",
        function("gelu("),
        times(worked.gelu_slope),
    ),
    "sigmoid": Formula(
        "logistic", "y = 1 / (1 + e⁻ˣ)", "∂L/∂x = g ⊙ y(1 − y)", function("σ("), times(worked.sigmoid_slope)
    ),
    "silu": Formula(
        "x · sigmoid(x)",
        "y = x σ(x)",
        "∂L/∂x = g ⊙ σ(x)(1 + x(1 − σ(x)))",
        function("silu("),
        times(worked.silu_slope),
    ),
    # Moved
    "reshape": Formula(MOVED, "y = x, another shape", "∂L/∂x = g, shaped back", worked.moved, worked.unchanged),
    "transpose": Formula(MOVED, "y = xᵀ, axes in another order", "∂L/∂x = gᵀ", worked.moved, worked.unchanged),
    "getitem": Formula(MOVED, "y = x[index]", "∂L/∂x[index] += g, 0 elsewhere", worked.moved, worked.unchanged),
    "concat": Formula(
        MOVED,
        "y = inputs one after another",
        "each input gets its part of g",
        worked.moved,
        worked.concat_gradients,
    ),
    "repeat_kv": Formula(
        "each head next to itself",
        "y = heads repeated",
        "∂L/∂x = Σ g over the copies",
        worked.moved,
        worked.repeat_gradients,
    ),
    "embedding": Formula(
        "row look-up", "y = E[id]", "∂L/∂E[id] += g", worked.embedding_numbers, worked.embedding_gradients
    ),
    # Many numbers
    "tsum": Formula(AXIS, "y = Σ x", "∂L/∂x = g, to every term", reduce_numbers("sum"), worked.sum_gradients),
    "mean": Formula(
        AXIS, "y = Σ x / n", "∂L/∂x = g / n, to every term", reduce_numbers("mean"), worked.mean_gradients
    ),
    "max": Formula(
        AXIS,
        "y = max x",
        "∂L/∂x = g at the largest, shared by ties",
        reduce_numbers("largest"),
        worked.max_gradients,
    ),
    "matmul": Formula(
        "matrix product",
        "yᵢⱼ = Σₖ aᵢₖ bₖⱼ",
        "∂L/∂a = g bᵀ   ∂L/∂b = aᵀ g",
        worked.matmul_numbers,
        worked.matmul_gradients,
    ),
    "rope": Formula(
        "rotates pairs by position",
        "(x₀, x₁) turned by the angle m θᵢ",
        "g turned back by the same angle",
        worked.rope_numbers,
        worked.rope_gradients,
    ),
    # Distributions
    "softmax": Formula(
        AXIS,
        "wᵢⱼ = exp(sᵢⱼ) / Σₖ exp(sᵢₖ)",
        "∂L/∂s = w ⊙ (g − Σⱼ gⱼwⱼ)",
        worked.softmax_numbers,
        worked.softmax_gradients,
    ),
    "log_softmax": Formula(
        AXIS,
        "yᵢⱼ = sᵢⱼ − ln Σₖ exp(sᵢₖ)",
        "∂L/∂s = g − softmax(s) Σⱼ gⱼ",
        worked.log_softmax_numbers,
        worked.log_softmax_gradients,
    ),
    "cross_entropy": Formula(
        "mean over positions",
        "L = −mean log p[target]",
        "∂L/∂s = (softmax(s) − one-hot) g / N",
        worked.cross_entropy_numbers,
        worked.cross_entropy_gradients,
    ),
    # Several in one, whose parts only the composed model shows
    "rms_norm": Formula(FUSED, "y = x / √(mean(x²) + ε) · γ", WHOLE, worked.result, worked.arriving),
    "feed_forward": Formula(FUSED, "y = (silu(x W1) ⊙ x W3) W2", WHOLE, worked.result, worked.arriving),
    "fused_cross_entropy": Formula(FUSED, "L = −mean log p[target]", WHOLE, worked.result, worked.arriving),
    "project_heads": Formula(FUSED, "rope(x W, split in heads)", WHOLE, worked.result, worked.arriving),
    "causal_attention": Formula(FUSED, "y = softmax(q kᵀ / √c) v", WHOLE, worked.result, worked.arriving),
}
BY_HAND = Formula("hand-made op", "y = f(inputs)", "its own rule", worked.result, worked.arriving)


def formula(name: str) -> Formula:
    """The op's entry; a general one for ops that people made."""
    return FORMULAS.get(name, BY_HAND)
