"""Ops that work on each element alone, or on pairs of elements matched by broadcasting.

The shape of every result is the broadcast of the input shapes. Rules return gradients of that shape; the graph
sums them back. A rule that has a side not taken selects with `where`: 0·inf would let its NaN through.
"""

import math
from typing import Any

import numpy as np

from . import BOTH, Array, Wanted, op

Bound = Any  # a number, an array, or None for no bound


@op
def add(a: Array, b: Array) -> Array:
    return np.add(a, b)


@add.rule
def _(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return g, g


@op
def sub(a: Array, b: Array) -> Array:
    return np.subtract(a, b)


@sub.rule
def _(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return g, -g


@op
def mul(a: Array, b: Array) -> Array:
    return np.multiply(a, b)


@mul.rule
def _(g: Array, y: Array, a: Array, b: Array, *, wanted: Wanted = BOTH) -> tuple[Array | None, Array | None]:
    return g * b if wanted[0] else None, g * a if wanted[1] else None


@op
def div(a: Array, b: Array) -> Array:
    return np.divide(a, b)


@div.rule
def _(g: Array, y: Array, a: Array, b: Array, *, wanted: Wanted = BOTH) -> tuple[Array, Array | None]:
    slope = g / b
    return slope, -slope * y if wanted[1] else None


@op
def neg(a: Array) -> Array:
    return np.negative(a)


@neg.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (-g,)


@op
def power(a: Array, *, exponent: Any) -> Any:
    """a ** exponent, the exponent a constant: a number or an array."""
    return a**exponent


@power.rule
def _(g: Array, y: Array, a: Array, *, exponent: Any) -> tuple[Array]:
    if np.ndim(exponent) == 0:
        return (g * exponent * a ** (exponent - 1) if exponent else np.zeros_like(g),)
    flat = exponent == 0
    steep = np.where(flat, 1, exponent)
    return (np.where(flat, 0, g * steep * a ** (steep - 1)),)


@op
def exp(a: Array) -> Array:
    return np.exp(a)


@exp.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (g * y,)


@op
def log(a: Array) -> Array:
    return np.log(a)


@log.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (g / a,)


@op
def sqrt(a: Array) -> Array:
    return np.sqrt(a)


@sqrt.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (0.5 * g / y,)


@op
def abs(a: Array) -> Array:
    return np.absolute(a)


@abs.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (np.where(a > 0, g, np.where(a < 0, -g, 0)),)


@op
def clip(a: Array, *, low: Bound = None, high: Bound = None) -> Array:
    """`a` held between two constant bounds; on a bound the gradient still passes."""
    return np.clip(a, low, high)


@clip.rule
def _(g: Array, y: Array, a: Array, *, low: Bound = None, high: Bound = None) -> tuple[Array]:
    return (np.where(y == a, g, 0),)


@op
def relu(a: Array) -> Array:
    return np.maximum(a, 0)


@relu.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (np.where(a > 0, g, 0),)


@op
def tanh(a: Array) -> Array:
    return np.tanh(a)


@tanh.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (g * (1 - y * y),)


GELU_SLOPE = math.sqrt(2 / math.pi)
GELU_CUBIC = 0.044715


@op
def gelu(a: Array) -> tuple[Array, Array, Array]:
    """½·a·(1 + tanh(√(2/π)·(a + 0.044715·a³))), the tanh form of Hendrycks and Gimpel, 2016."""
    near = np.clip(a, -50.0, 50.0)  # the tanh is ±1 long before: its argument need not overflow
    t = np.tanh(GELU_SLOPE * near * (1 + GELU_CUBIC * near * near))
    return 0.5 * a * (1 + t), t, near


@gelu.rule
def _(g: Array, y: Array, t: Array, near: Array, a: Array) -> tuple[Array]:
    inner = GELU_SLOPE * (1 + 3 * GELU_CUBIC * near * near)
    return (g * (0.5 * (1 + t) + 0.5 * near * (1 - t * t) * inner),)


@op
def sigmoid(a: Array) -> Any:
    """1 / (1 + e⁻ᵃ), with exponents that are never positive: nothing overflows."""
    return np.exp(np.minimum(a, 0)) / (1 + np.exp(-1.0 * np.abs(a)))


@sigmoid.rule
def _(g: Array, y: Array, a: Array) -> tuple[Array]:
    return (g * y * (1 - y),)


@op
def silu(a: Array) -> tuple[Array, Array]:
    """a·sigmoid(a), to the last subnormal float32."""
    s = sigmoid(a)
    near = np.maximum(a, -1e4)  # below, all is 0: at -inf too
    y = np.asarray(near * s)
    far = near < -80  # here sigmoid loses its digits before the product does: eᵃ in two normal factors
    if far.any():
        tail = near[far]
        y[far] = tail * math.exp(-44) * np.exp(tail + 44)
    return y, s


@silu.rule
def _(g: Array, y: Array, s: Array, a: Array) -> tuple[Array]:
    return (g * (s + y * (1 - s)),)
