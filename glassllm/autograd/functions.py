"""The public functions: each takes Tensors, arrays or numbers and returns a Tensor.

Gradients go to Tensors only. Ids, targets, masks, exponents and tables are plain data, and a Tensor among them
is a TypeError that names `.data`.
"""

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .ops import Array, Op, Rule, elementwise, fused, language, matrix, reduce
from .ops import shape as shapes
from .tensor import Tensor, apply, constant, plain


def add(a: Any, b: Any) -> Tensor:
    return apply(elementwise.add, a, b)


def sub(a: Any, b: Any) -> Tensor:
    return apply(elementwise.sub, a, b)


def mul(a: Any, b: Any) -> Tensor:
    return apply(elementwise.mul, a, b)


def div(a: Any, b: Any) -> Tensor:
    return apply(elementwise.div, a, b)


def neg(a: Any) -> Tensor:
    return apply(elementwise.neg, a)


def power(a: Any, exponent: Any) -> Tensor:
    """a ** exponent, the exponent a constant. Where it is 0 the gradient is 0."""
    return apply(elementwise.power, a, exponent=constant(exponent, "the exponent"))


def matmul(a: Any, b: Any) -> Tensor:
    """The matrix product, of vectors and stacks of matrices too, as np.matmul."""
    return apply(matrix.matmul, a, b)


def exp(a: Any) -> Tensor:
    return apply(elementwise.exp, a)


def log(a: Any) -> Tensor:
    """The natural logarithm."""
    return apply(elementwise.log, a)


def sqrt(a: Any) -> Tensor:
    return apply(elementwise.sqrt, a)


def tanh(a: Any) -> Tensor:
    return apply(elementwise.tanh, a)


def relu(a: Any) -> Tensor:
    return apply(elementwise.relu, a)


def gelu(a: Any) -> Tensor:
    """The Gaussian error linear unit in its tanh form."""
    return apply(elementwise.gelu, a)


def abs(a: Any) -> Tensor:
    return apply(elementwise.abs, a)


def clip(a: Any, low: Any = None, high: Any = None) -> Tensor:
    """`a` held between constant bounds, None for no bound. The gradient passes from low to high inclusive."""
    return apply(elementwise.clip, a, low=constant(low, "a bound"), high=constant(high, "a bound"))


def sigmoid(a: Any) -> Tensor:
    return apply(elementwise.sigmoid, a)


def silu(a: Any) -> Tensor:
    """a · sigmoid(a)."""
    return apply(elementwise.silu, a)


def tsum(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return apply(reduce.tsum, a, axis=axis, keepdims=keepdims)


def mean(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return apply(reduce.mean, a, axis=axis, keepdims=keepdims)


def max(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element of each slice; ties share its gradient equally."""
    return apply(reduce.max, a, axis=axis, keepdims=keepdims)


def reshape(a: Any, shape: Any) -> Tensor:
    return apply(shapes.reshape, a, shape=shape)


def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes in a new order; None reverses them."""
    return apply(shapes.transpose, a, axes=axes)


def concat(tensors: Iterable[Any], axis: int | None = 0) -> Tensor:
    """Joined along an existing axis; None joins them flat."""
    return apply(shapes.concat, *tensors, axis=axis)


def where(condition: Any, a: Any, b: Any) -> Tensor:
    """`a` where the condition holds, `b` elsewhere."""
    return apply(shapes.where, a, b, condition=np.asarray(plain(condition, "a condition")))


def masked_fill(a: Any, mask: Any, value: Any) -> Tensor:
    """`a` with `value` where the mask is True."""
    return apply(shapes.where, value, a, condition=np.asarray(plain(mask, "a mask")))


def embedding(weight: Any, ids: Any) -> Tensor:
    """Rows of weight (V, d) by integer ids of any shape S -> S + (d,). Raises IndexError as NumPy does."""
    return apply(language.embedding, weight, ids=language.integers(plain(ids, "ids")))


def softmax(a: Any, axis: int = -1) -> Tensor:
    """e^a over its sum along the axis."""
    return apply(language.softmax, a, axis=axis)


def log_softmax(a: Any, axis: int = -1) -> Tensor:
    """The logarithm of softmax, without computing softmax first."""
    return apply(language.log_softmax, a, axis=axis)


def softmax_np(x: Any, axis: int = -1) -> Array:
    """Softmax as a plain array, no graph. A row of nothing but −inf gives NaN in that row only."""
    return language.softmax_np(data_of(x), axis)


def cross_entropy(logits: Any, targets: Any) -> Tensor:
    """Mean −log p[target] in nats, of logits (N, V) and N integer targets. No rows: NaN.

    Raises ValueError for targets of another shape or kind (one-hot, floats), IndexError for one out of range.
    """
    return apply(language.cross_entropy, logits, targets=language.integers(plain(targets, "targets")))


def cross_entropy_grad(logits: Any, targets: Any) -> Array:
    """The gradient of `cross_entropy` with respect to logits (N, V), a plain array: (softmax − one-hot) / N."""
    return language.cross_entropy_grad(data_of(logits), plain(targets, "targets"))


def rope(x: Any, cos: Any, sin: Any) -> Tensor:
    """Adjacent pairs of x (..., n, c) turned by the angles of the tables cos and sin, (n, c/2)."""
    cos, sin = np.asarray(plain(cos, "cos")), np.asarray(plain(sin, "sin"))
    return apply(language.rope, x, cos=cos, sin=sin)


def repeat_kv(x: Any, repeats: int) -> Tensor:
    """Each head of x (B, K, n, c) repeated next to itself -> (B, K·repeats, n, c)."""
    return apply(language.repeat_kv, x, repeats=operator.index(plain(repeats, "the number of repeats")))


def rms_norm(x: Any, gamma: Any, eps: float) -> Tensor:
    """x / √(mean(x²) + eps) · gamma over the last axis, in one op."""
    return apply(fused.rms_norm, x, gamma, eps=eps)


def feed_forward(x: Any, w1: Any, w3: Any, w2: Any) -> Tensor:
    """(silu(x·w1) · (x·w3))·w2, in one op."""
    return apply(fused.feed_forward, x, w1, w3, w2)


def project_heads(x: Any, weight: Any, heads: int, turn: Any = None) -> Tensor:
    """x·weight split in heads, each turned by its positions, in one op: (B, n, d), (d, H·c) -> (B, H, n, c).

    turn (n, H·c) holds cos and sin of each pair's angle side by side; None: nothing is turned.
    """
    attrs = {"heads": operator.index(plain(heads, "heads")), "turn": plain(turn, "turn")}
    return apply(fused.project_heads, x, weight, **attrs)


def causal_attention(q: Any, k: Any, v: Any) -> Tensor:
    """softmax(q·kᵀ/√c)·v, heads joined, in one op: q (B, H, n, c), k and v (B, K, m, c) -> (B, n, H·c).

    The queries are the last n of m positions, none sees a key ahead; each key head serves H/K query heads.
    """
    return apply(fused.causal_attention, q, k, v)


def fused_cross_entropy(logits: Any, targets: Any) -> Tensor:
    """`cross_entropy`, its exponentials kept for the way back."""
    return apply(fused.fused_cross_entropy, logits, targets=language.integers(plain(targets, "targets")))


def data_of(x: Any) -> Array:
    """The plain array of a Tensor, an array or a number."""
    return x.data if isinstance(x, Tensor) else np.asarray(x)


class Function:
    """A user's op, called like every function here; `rule` gives it its backward rule."""

    def __init__(self, forward: Callable[..., Any]):
        functools.update_wrapper(self, forward)
        self.op = Op(forward)

    @property
    def name(self) -> str:
        return self.op.name

    def rule(self, backward: Rule) -> Rule:
        """Decorator: `backward(g, y, *saved, *inputs, **attrs)` returns one gradient, or None, per input."""
        return self.op.rule(backward)

    def __call__(self, *inputs: Any, **attrs: Any) -> Tensor:
        return apply(self.op, *inputs, **{name: plain(value, name) for name, value in attrs.items()})

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def op(forward: Callable[..., Any]) -> Function:
    """Decorator: make a differentiable function of `forward`, which takes and returns plain arrays.

    It returns one result, or a tuple: the result, then what the rule will need.
    """
    return Function(forward)
