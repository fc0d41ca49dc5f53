"""Sample inputs for every op: one table, which the templates in test_ops.py run over.

Arrays are float64 and differentiable in a neighbourhood: no ties, nothing on a kink.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glassllm.autograd.ops import OPS, Array, Op

_rng = np.random.default_rng(7)


@dataclass(frozen=True)
class Sample:
    """Arrays and attributes for one application of an op."""

    arrays: tuple[Array, ...]
    attrs: dict[str, Any] = field(default_factory=dict)


def of(*arrays: Array, **attrs: Any) -> Sample:
    return Sample(arrays, attrs)


def normal(*shape: int) -> Array:
    return np.asarray(_rng.normal(size=shape))


def positive(*shape: int) -> Array:
    return np.asarray(_rng.uniform(0.5, 2.0, shape))


def away(*shape: int) -> Array:
    """Either sign, never within 0.3 of zero."""
    return np.asarray(positive(*shape) * _rng.choice([-1.0, 1.0], shape))


def distinct(*shape: int) -> Array:
    """Numbers at least 0.2 apart, for what looks for the largest."""
    count = int(np.prod(shape))
    return (_rng.permutation(count) * 0.2 - 1.0).reshape(shape)


def strided(array: Array) -> Array:
    """The same numbers at every other place of a larger array."""
    spread = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
    spread[..., ::2] = array
    return spread[..., ::2]


def turned(array: Array) -> Array:
    """The same numbers lying in memory with the axes reversed."""
    return np.asfortranarray(array)


def unary(make: Any) -> list[Sample]:
    """Scalar, vector, matrix, strided, transposed, broadcast from one number, and empty."""
    return [
        of(make()),
        of(make(5)),
        of(make(2, 3)),
        of(strided(make(3, 3))),
        of(make(2, 3, 4).T),
        of(np.broadcast_to(make(3, 1), (3, 4))),
        of(make(0)),
        of(make(2, 0, 3)),
    ]


def binary(left: Any, right: Any) -> list[Sample]:
    """Equal shapes, each kind of broadcasting on either side, strides, and nothing."""
    return [
        of(left(), right()),
        of(left(4), right(4)),
        of(left(3, 3), turned(right(3, 3))),
        of(left(2, 3), right(3)),
        of(left(3), right(2, 3)),
        of(left(2, 3), right()),
        of(left(), right(2, 3)),
        of(left(2, 1, 3), right(4, 1)),
        of(left(1, 3), right(2, 3)),
        of(left(1), right(2, 2)),
        of(strided(left(2, 3)), right(2, 3)),
        of(left(0, 3), right(1, 3)),
        of(left(0), right()),
    ]


def reductions(make: Any) -> list[Sample]:
    """Every way to name axes, with and without keeping them."""
    axes: list[tuple[tuple[int, ...], Any]] = [
        ((), None),
        ((4,), None),
        ((3, 3), 0),
        ((2, 3), -1),
        ((2, 3, 4), (0, 2)),
        ((2, 3, 4), (-1, -3)),
        ((2, 3, 4), None),
        ((2, 3), ()),
        ((0, 3), 1),
    ]
    kept = [of(make(*shape), axis=axis, keepdims=keep) for shape, axis in axes for keep in (False, True)]
    return [*kept, of(make(3, 4)), of(strided(make(3, 4)), axis=1), of(make(2, 3, 4).T, axis=(0, 1))]


ANGLES = _rng.uniform(0, 6, (3, 2))
COS, SIN = np.cos(ANGLES), np.sin(ANGLES)
MASK = np.array([[True, False, True], [False, False, True]])

SAMPLES: dict[str, list[Sample]] = {
    "add": binary(normal, normal),
    "sub": binary(normal, normal),
    "mul": binary(normal, normal),
    "div": binary(normal, away),
    "neg": unary(normal),
    "power": [
        *(of(away(2, 3), exponent=n) for n in (0, 1, 2, 3, -1, 2.0)),
        *(of(positive(2, 3), exponent=n) for n in (0.5, -1.5)),
        of(away(), exponent=2),
        of(strided(away(2, 3)), exponent=2),
        of(away(0), exponent=2),
        of(positive(2, 3), exponent=np.array([0.0, 1.0, 2.5])),
        of(positive(3), exponent=np.array([[0.0], [2.0]])),
        of(positive(2, 2), exponent=np.array(3.0)),
    ],
    "exp": unary(normal),
    "log": unary(positive),
    "sqrt": unary(positive),
    "abs": unary(away),
    "clip": [
        of(distinct(2, 3), low=-0.51, high=0.11),
        of(distinct(2, 3), low=-0.51),
        of(distinct(2, 3), high=0.11),
        of(distinct(2, 3), low=np.array([-0.9, -0.5, 2.0]) + 0.01, high=np.array([[0.05], [3.0]])),
        of(np.asarray(0.7), low=0.0, high=1.0),
        of(np.zeros((0, 2)), low=0, high=1),
    ],
    "relu": unary(away),
    "tanh": unary(normal),
    "gelu": [*unary(normal), of(np.array([-8.0, -3.0, 3.0, 8.0]))],
    "sigmoid": [*unary(normal), of(np.array([-20.0, 20.0]))],
    "silu": [*unary(normal), of(np.array([-20.0, 20.0]))],
    "tsum": reductions(normal),
    "mean": reductions(normal),
    "max": reductions(distinct),
    "reshape": [
        of(normal(2, 3), shape=(3, 2)),
        of(normal(2, 3), shape=-1),
        of(normal(4, 3).T, shape=(2, -1)),
        of(strided(normal(2, 2)), shape=[4, 1]),
        of(normal(), shape=(1, 1)),
        of(normal(1), shape=()),
        of(normal(0, 3), shape=(3, 0)),
    ],
    "transpose": [
        of(normal(2, 3)),
        of(normal(2, 3, 4)),
        of(normal(2, 3, 4), axes=(1, 2, 0)),
        of(normal(2, 3, 4), axes=(-1, 0, -2)),
        of(normal(3, 3), axes=[1, 0]),
        of(normal()),
        of(normal(4), axes=(0,)),
        of(normal(0, 2), axes=(1, 0)),
    ],
    "getitem": [
        of(normal(4), index=-1),
        of(normal(4), index=slice(None, None, -2)),
        of(normal(3, 4), index=(slice(1, 3), 2)),
        of(normal(3, 4), index=(..., None, 0)),
        of(normal(4), index=[1, 2, 1, -2]),
        of(normal(3, 4), index=np.array([[0, 0], [2, -3]])),
        of(normal(3, 4), index=(np.array([0, 0, 2]), np.array([1, 1, -1]))),
        of(normal(3, 4), index=([[0], [0]], slice(None, 2))),
        of(normal(2, 3), index=MASK),
        of(normal(2, 3), index=(slice(None), [True, False, True])),
        of(normal(2, 3, 2), index=(1, MASK[0], np.array([1, 1]))),
        of(normal(), index=()),
        of(normal(), index=None),
        of(normal(2), index=(True,)),
        of(normal(3, 2), index=slice(0, 0)),
        of(normal(3, 2), index=[]),
        of(normal(2, 3).T, index=(np.int64(1), np.array(1))),
    ],
    "concat": [
        of(normal(2, 3), normal(1, 3)),
        of(normal(2, 3), normal(2, 1), normal(2, 0), axis=-1),
        of(normal(2, 2, 2), turned(normal(2, 3, 2)), axis=1),
        of(normal(4)),
        of(normal(2, 2), normal(3), axis=None),
        of(normal(0), normal(0)),
    ],
    "where": [
        of(normal(2, 3), normal(2, 3), condition=MASK),
        of(normal(3), normal(2, 1), condition=MASK),
        of(normal(), normal(2, 3), condition=MASK),
        of(normal(3), normal(), condition=MASK),
        of(normal(2, 3), normal(3), condition=np.array(True)),
        of(normal(2, 3), normal(2, 3), condition=MASK[0]),
        of(normal(), normal(), condition=np.array(False)),
        of(normal(0), normal(), condition=np.zeros(0, bool)),
    ],
    "matmul": [
        of(normal(2, 3), normal(3, 4)),
        of(normal(3, 3), normal(3, 3)),
        of(normal(3), normal(3)),
        of(normal(3), normal(3, 2)),
        of(normal(2, 3), normal(3)),
        of(normal(5, 2, 3), normal(3, 4)),
        of(normal(2, 3, 1, 4), normal(4, 2)),
        of(normal(5, 2, 3), normal(3)),
        of(normal(3), normal(5, 3, 2)),
        of(normal(2, 3), normal(5, 3, 2)),
        of(normal(4, 1, 2, 3), normal(5, 3, 2)),
        of(normal(2, 1, 2, 3), normal(2, 4, 3, 2)),
        of(normal(1, 2, 3), normal(4, 3, 2)),
        of(strided(normal(2, 3)), normal(4, 3).T),
        of(normal(2, 4, 3).transpose(0, 2, 1), turned(normal(4, 2))),
        of(normal(0, 3), normal(3, 2)),
        of(normal(2, 0), normal(0, 3)),
        of(normal(2, 2, 0), normal(0, 3)),
        of(normal(0), normal(0)),
        of(normal(0, 2, 3), normal(3, 2)),
    ],
    "embedding": [
        of(normal(4, 2), ids=np.array([1, 2, 1])),
        of(normal(4, 2), ids=np.array([[0, -1], [3, -4]])),
        of(normal(4, 3), ids=np.array(2)),
        of(turned(normal(3, 3)), ids=np.array([[[2], [2]]], np.uint8)),
        of(normal(2, 200), ids=np.array([1, 1, -1], np.int8)),
        of(normal(3, 2), ids=np.zeros((2, 0), np.intp)),
    ],
    "softmax": [
        of(normal(4)),
        of(normal(3, 3)),
        of(normal(2, 3, 4), axis=1),
        of(normal(2, 3), axis=-2),
        of(strided(normal(2, 3)) + 300),
        of(normal(0, 3)),
        of(normal(2, 1)),
    ],
    "log_softmax": [
        of(normal(4)),
        of(normal(3, 3)),
        of(normal(2, 3, 4), axis=1),
        of(normal(2, 3), axis=-2),
        of(strided(normal(2, 3)) + 300),
        of(normal(0, 3)),
        of(normal(2, 1)),
    ],
    "cross_entropy": [
        of(normal(2, 3), targets=np.array([0, 2])),
        of(normal(3, 3), targets=[1, 1, 1]),
        of(turned(normal(4, 2)), targets=np.array([0, 1, 1, 0], np.uint8)),
        of(normal(1, 5) + 200, targets=(4,)),
    ],
    "rope": [
        of(normal(3, 4), cos=COS, sin=SIN),
        of(normal(2, 2, 3, 4), cos=COS, sin=SIN),
        of(normal(2, 3, 2, 4).transpose(0, 2, 1, 3), cos=COS, sin=SIN),
        of(strided(normal(3, 4)), cos=COS, sin=SIN),
        of(turned(normal(3, 4)), cos=COS, sin=SIN),
        of(np.broadcast_to(normal(4), (2, 3, 4)), cos=COS, sin=SIN),
        of(normal(1, 2), cos=COS[:1, :1], sin=SIN[:1, :1]),
        of(normal(0, 3, 4), cos=COS, sin=SIN),
    ],
    "repeat_kv": [
        of(normal(1, 2, 1, 1), repeats=2),
        of(normal(2, 2, 3, 2), repeats=3),
        of(normal(2, 3, 2, 2).transpose(0, 2, 1, 3), repeats=2),
        of(normal(1, 2, 2, 1), repeats=1),
        of(normal(1, 2, 0, 3), repeats=2),
    ],
    "rms_norm": [
        of(normal(2, 3), positive(3), eps=0.1),
        of(normal(4), normal(4), eps=1e-6),
        of(normal(2, 3, 4), positive(4), eps=0.01),
        of(normal(2, 3, 4).transpose(1, 0, 2), positive(4), eps=0.01),
        of(strided(normal(2, 3)), strided(positive(3)), eps=0.1),
        of(np.broadcast_to(normal(3), (2, 3)), positive(3), eps=0.1),
        of(normal(0, 3), positive(3), eps=0.1),
    ],
    "feed_forward": [
        of(normal(2, 3), normal(3, 4), normal(3, 4), normal(4, 3)),
        of(normal(3), normal(3, 2), normal(3, 2), normal(2, 3)),
        of(normal(2, 3, 4).transpose(1, 0, 2), normal(4, 2), normal(4, 2), normal(2, 5)),
        of(strided(normal(2, 3)), normal(4, 3).T, turned(normal(3, 4)), normal(4, 3)),
        of(np.array([[-90.0, 20.0]]), np.eye(2), normal(2, 2), normal(2, 2)),
        of(normal(0, 3), normal(3, 4), normal(3, 4), normal(4, 3)),
    ],
    "fused_cross_entropy": [
        of(normal(2, 3), targets=np.array([0, 2])),
        of(normal(3, 3), targets=[1, 1, 1]),
        of(turned(normal(4, 2)), targets=np.array([0, 1, 1, 0], np.uint8)),
        of(normal(2, 5) + 200, targets=(4, 0)),
        of(normal(2, 5) - 200, targets=(4, 0)),
        of(strided(normal(3, 4)) + np.array([[0.0], [-200.0], [200.0]]), targets=[3, 2, 1]),
    ],
    "project_heads": [
        of(normal(1, 3, 2), normal(2, 4), heads=1, turn=np.stack([COS, SIN], -1).reshape(3, 4)),
        of(normal(2, 3, 2), normal(2, 4), heads=2, turn=normal(3, 4)),
        of(strided(normal(2, 3, 2)), normal(8, 2).T, heads=2, turn=strided(normal(3, 8))),
        of(normal(3, 2, 2).transpose(1, 0, 2), normal(2, 4), heads=1, turn=normal(3, 8)[:, :4]),
        of(turned(normal(2, 3, 2)), turned(normal(2, 4)), heads=1, turn=turned(normal(3, 4))),
        of(normal(0, 3, 2), normal(2, 4), heads=2, turn=normal(3, 4)),
        of(normal(2, 3, 2), normal(2, 6), heads=2, turn=None),
        of(normal(2, 1, 2), normal(2, 3), heads=3),
    ],
    "causal_attention": [
        of(normal(1, 1, 2, 2), normal(1, 1, 2, 2), normal(1, 1, 2, 2)),
        of(normal(2, 4, 3, 2), normal(2, 2, 3, 2), normal(2, 2, 3, 2)),
        of(normal(1, 2, 2, 2), normal(1, 1, 4, 2), normal(1, 1, 4, 3)),
        of(*(normal(2, 3, h, 2).transpose(0, 2, 1, 3) for h in (2, 1, 1))),
        of(10 * normal(1, 2, 3, 2), 10 * normal(1, 2, 3, 2), normal(1, 2, 3, 2)),
        of(strided(normal(1, 2, 3, 2)), turned(normal(1, 1, 3, 2)), normal(1, 1, 3, 2)),
        of(normal(0, 2, 3, 2), normal(0, 1, 3, 2), normal(0, 1, 3, 2)),
        of(normal(1, 2, 0, 2), normal(1, 1, 3, 2), normal(1, 1, 3, 2)),
    ],
}


def cases() -> Iterator[tuple[Op, Sample]]:
    """Every op with every one of its samples."""
    for name, samples in SAMPLES.items():
        for sample in samples:
            yield OPS[name], sample


def label(case: tuple[Op, Sample]) -> str:
    """A name for one case: the op, and the shapes that go in."""
    op, sample = case
    return f"{op.name}-{'-'.join('x'.join(map(str, a.shape)) or 'scalar' for a in sample.arrays)}"
