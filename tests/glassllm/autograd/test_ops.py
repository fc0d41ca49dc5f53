"""What holds for every op: its numbers, its gradient, its dtype, and that it leaves alone what it is given."""

import numpy as np
import pytest

from glassllm.autograd.ops import OPS
from glassllm.autograd.tensor import Tensor, apply
from tests.glassllm.autograd.samples import SAMPLES, cases, label

CASES = list(cases())
every_case = pytest.mark.parametrize(("op", "sample"), CASES, ids=[label(case) for case in CASES])


# The same functions once more, written another way ------------------------------------------------------------


def sums(a, axis=None, keepdims=False):
    """The sum, one element at a time."""
    axes = range(a.ndim) if axis is None else [i % a.ndim for i in np.atleast_1d(axis).astype(int)]
    out = np.zeros([1 if i in axes else n for i, n in enumerate(a.shape)])
    for place in np.ndindex(a.shape):
        out[tuple(0 if i in axes else p for i, p in enumerate(place))] += a[place]
    return out if keepdims else out.squeeze(tuple(axes))


def mean(a, axis=None, keepdims=False):
    return sums(a, axis, keepdims) / sums(np.ones(a.shape), axis, keepdims)


def power(a, exponent):
    return np.where(a < 0, np.cos(np.pi * np.asarray(exponent)), 1) * np.exp(np.log(np.abs(a)) * exponent)


def gelu(a):
    """½(1 + tanh u) is 1/(1 + e⁻²ᵘ)."""
    return a / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))


def concat(*arrays, axis=0):
    if axis is None:
        return np.array([x for a in arrays for x in a.flat])
    return np.moveaxis(np.array([row for a in arrays for row in np.moveaxis(a, axis, 0)]), 0, axis)


def matmul(a, b):
    """The product by its indices."""
    left, right = ("j" if a.ndim == 1 else "...ij"), ("j" if b.ndim == 1 else "...jk")
    rest = "" if a.ndim == b.ndim == 1 else "..."
    return np.einsum(f"{left},{right}->{rest}{'i' * (a.ndim > 1)}{'k' * (b.ndim > 1)}", a, b)


def softmax(a, axis=-1):
    e = np.exp(a - a.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def cross_entropy(logits, targets):
    return -sum(np.log(softmax(row)[target]) for row, target in zip(logits, targets, strict=True)) / len(logits)


def rope(x, cos, sin):
    out = np.zeros(x.shape)
    for n, i in np.ndindex(cos.shape):
        turn = np.array([[cos[n, i], -sin[n, i]], [sin[n, i], cos[n, i]]])
        for head in np.ndindex(x.shape[:-2]):
            out[(*head, n, slice(2 * i, 2 * i + 2))] = turn @ x[(*head, n, slice(2 * i, 2 * i + 2))]
    return out


def project_heads(x, weight, heads, turn=None):
    y = matmul(x, weight)
    y = y if turn is None else rope(y, turn[:, ::2], turn[:, 1::2])
    return np.stack(np.split(y, heads, axis=-1), axis=1)


def feed_forward(x, gate, up, down):
    return matmul(matmul(x, up) * matmul(x, gate) / (1 + np.exp(-matmul(x, gate))), down)


def causal_attention(q, k, v):
    """One query at a time."""
    batch, heads, n, _ = q.shape
    out = np.zeros((batch, n, heads, v.shape[-1]))
    for b, h, i in np.ndindex(q.shape[:3]):
        group, seen = h // (q.shape[1] // k.shape[1]), k.shape[2] - q.shape[2] + i + 1
        scores = k[b, group, :seen] @ q[b, h, i] / np.sqrt(q.shape[-1])
        out[b, i, h] = softmax(scores) @ v[b, group, :seen]
    return out.reshape(batch, n, heads * v.shape[-1])


EXPECTED = {
    "add": lambda a, b: b + a,
    "sub": lambda a, b: -b + a,
    "mul": lambda a, b: b * a,
    "div": lambda a, b: a * b**-1.0,
    "neg": lambda a: 0 - a,
    "power": power,
    "exp": lambda a: np.e**a,
    "log": lambda a: np.log2(a) * np.log(2),
    "sqrt": lambda a: a**0.5,
    "abs": lambda a: np.where(a < 0, -a, a),
    "clip": lambda a, low=-np.inf, high=np.inf: np.minimum(np.maximum(a, low), high),
    "relu": lambda a: (a + np.abs(a)) / 2,
    "tanh": lambda a: 1 - 2 / (np.exp(2 * a) + 1),
    "gelu": gelu,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "silu": lambda a: a / (1 + np.exp(-a)),
    "tsum": sums,
    "mean": mean,
    "max": lambda a, axis=None, keepdims=False: -np.min(-a, axis=axis, keepdims=keepdims),
    "reshape": lambda a, shape: np.array(list(a.flat)).reshape(shape),
    "transpose": lambda a, axes=None: np.moveaxis(a, range(a.ndim)[::-1] if axes is None else axes, range(a.ndim)),
    "getitem": lambda a, index: a.ravel()[np.arange(a.size).reshape(a.shape)[index]],
    "concat": concat,
    "where": lambda a, b, condition: np.choose(condition, [b, a]),
    "matmul": matmul,
    "embedding": lambda weight, ids: np.take(weight, ids.astype(int) % len(weight), axis=0),
    "softmax": softmax,
    "log_softmax": lambda a, axis=-1: np.log(softmax(a, axis)),
    "cross_entropy": cross_entropy,
    "rope": rope,
    "repeat_kv": lambda x, repeats: x[:, [i // repeats for i in range(x.shape[1] * repeats)]],
    "rms_norm": lambda x, gamma, eps: (
        gamma * x * (np.var(x, -1, keepdims=True) + mean(x, -1, True) ** 2 + eps) ** -0.5
    ),
    "feed_forward": feed_forward,
    "fused_cross_entropy": cross_entropy,
    "project_heads": project_heads,
    "causal_attention": causal_attention,
}


# Templates ------------------------------------------------------------------------------------------------------


def test_every_op_has_samples_and_expected_numbers():
    assert set(SAMPLES) == set(EXPECTED) == set(OPS)


@every_case
def test_forward_computes_what_it_should(op, sample):
    expected = np.asarray(EXPECTED[op.name](*sample.arrays, **sample.attrs))
    result = op(*sample.arrays, **sample.attrs)
    assert type(result) is np.ndarray
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def gradients(op, arrays, attrs, direction):
    """The gradient of (result · direction) with respect to each array, by the engine."""
    tensors = [Tensor(a, requires_grad=True) for a in arrays]
    apply(op, *tensors, **attrs).backward(direction)
    return [t.grad for t in tensors]


def slopes(op, arrays, attrs, direction, step=1e-5):
    """The same by central differences."""
    for changed, array in enumerate(arrays):
        out = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [np.array(a) for a in arrays]
                moved[changed][place] += sign * step
                ends.append(np.sum(op(*moved, **attrs) * direction))
            out[place] = (ends[0] - ends[1]) / (2 * step)
        yield out


def a_direction(op, sample):
    return np.random.default_rng(3).normal(size=op(*sample.arrays, **sample.attrs).shape)


@every_case
def test_gradients_are_the_slopes(op, sample):
    direction = a_direction(op, sample)
    found = gradients(op, sample.arrays, sample.attrs, direction)
    for grad, slope in zip(found, slopes(op, sample.arrays, sample.attrs, direction), strict=True):
        assert grad.shape == slope.shape
        np.testing.assert_allclose(grad, slope, rtol=1e-6, atol=1e-8)


def single(value):
    """Arrays of floats in float32, all else as it is."""
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype == np.float64 else value


@every_case
def test_float32_stays_float32(op, sample):
    arrays = [single(a) for a in sample.arrays]
    attrs = {name: single(value) for name, value in sample.attrs.items()}
    y, saved = op.run(arrays, attrs)
    assert y.dtype == np.float32
    for kept in saved:
        assert np.asarray(kept).dtype == np.float32
    sent = op.backward(y, y, *saved, *arrays, **attrs)
    assert [np.asarray(d).dtype for d in sent] == [np.float32] * len(arrays)
    assert [g.dtype for g in gradients(op, arrays, attrs, None)] == [np.float32] * len(arrays)


def frozen(value):
    """`value`, its arrays made read-only, and copied so that no other test meets them."""
    if isinstance(value, np.ndarray):
        value = value.copy(order="K")
        value.flags.writeable = False
    return value


@every_case
def test_nothing_given_is_written_to(op, sample):
    arrays = [frozen(a) for a in sample.arrays]
    attrs = {name: frozen(value) for name, value in sample.attrs.items()}
    y, saved = op.run(arrays, attrs)
    g = a_direction(op, sample)
    for kept in (y, g, *saved):
        np.asarray(kept).flags.writeable = False
    before = [np.array(kept) for kept in (y, g, *saved)]
    first = [np.array(d) for d in op.backward(g, y, *saved, *arrays, **attrs)]
    second = [np.array(d) for d in op.backward(g, y, *saved, *arrays, **attrs)]
    for kept, was in zip((y, g, *saved), before, strict=True):
        np.testing.assert_array_equal(kept, was)
    for a, was in zip(arrays, sample.arrays, strict=True):
        np.testing.assert_array_equal(a, was)
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
