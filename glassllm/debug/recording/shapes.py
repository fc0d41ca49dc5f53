"""What each op makes of shapes: a stranger's recording must fit its ops before any of them is run.

Each function takes the input shapes and the attributes, and returns the result's shape or None where only the
numbers in an index tell it. It raises ValueError, TypeError or IndexError, as NumPy would. An op without an entry
has no rule in a recording.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array, Op
from glassllm.config import Shape

from .indices import blank, is_array, numbers_of, parts_of

Attrs = dict[str, Any]
Shapes = Sequence[Shape]
Infer = Callable[[Shapes, Attrs], Shape | None]


def result_shape(op: Op, shapes: Shapes, attrs: Attrs) -> Shape | None:
    """The shape `op` makes; None where only the numbers in an index tell."""
    _check_call(op, len(shapes), attrs)
    return SHAPES[op.name](shapes, attrs)


def _check_call(op: Op, count: int, attrs: Attrs) -> None:
    """Whether the op can be called with so many arrays and these attributes."""
    arity, is_variadic, known, needed = _signature(op)
    if count != arity and not (is_variadic and count):
        raise ValueError(f"{op.name} takes {arity} inputs, got {count}")
    if unknown := attrs.keys() - known:
        raise ValueError(f"{op.name} has no attribute {min(unknown)[:40]}")
    if missing := needed - attrs.keys():
        raise ValueError(f"{op.name} needs the attribute {min(missing)}")


@cache
def _signature(op: Op) -> tuple[int, bool, set[str], set[str]]:
    """How many arrays it takes, whether more; the names of its attributes, and of those it cannot be without."""
    parameters = inspect.signature(op.forward).parameters.values()
    named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    arity = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    is_variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return arity, is_variadic, {p.name for p in named}, {p.name for p in named if p.default is p.empty}


# One shape in, or several that broadcast


def _same(shapes: Shapes, attrs: Attrs) -> Shape:
    return shapes[0]


def _broadcast(shapes: Shapes, attrs: Attrs) -> Shape:
    return np.broadcast_shapes(*shapes)


def _with(*names: str) -> Infer:
    """The inputs broadcast with constants, numbers or arrays of them; None stands for no constant."""

    def infer(shapes: Shapes, attrs: Attrs) -> Shape:
        constants = [_numbers(attrs[name], name) for name in names if attrs.get(name) is not None]
        return np.broadcast_shapes(*shapes, *(constant.shape for constant in constants))

    return infer


def _numbers(value: Any, what: str, kinds: Any = (int, float, np.ndarray)) -> Array:
    if not isinstance(value, kinds) or np.asarray(value).dtype.kind not in "biuf":
        raise TypeError(f"{what} must be numbers")
    return np.asarray(value)


def _axis(axis: Any, ndim: int) -> int:
    if not -ndim <= index(axis) < ndim:
        raise ValueError(f"axis {axis} lies outside of {ndim} axes")
    return index(axis) % ndim


def _along(shapes: Shapes, attrs: Attrs) -> Shape:
    _axis(attrs.get("axis", -1), len(shapes[0]))
    return shapes[0]


def _reduced(shapes: Shapes, attrs: Attrs) -> Shape:
    (shape,), axis = shapes, attrs.get("axis")
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = [_axis(a, len(shape)) for a in axes]
    if len(set(gone)) < len(gone):
        raise ValueError(f"axis {axis} names one twice")
    if index(attrs.get("keepdims", False)):
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


# Moved and chosen


def _reshaped(shapes: Shapes, attrs: Attrs) -> Shape:
    return blank(shapes[0]).reshape(attrs["shape"]).shape


def _transposed(shapes: Shapes, attrs: Attrs) -> Shape:
    axes = attrs.get("axes")
    if axes is not None and not isinstance(axes, (list, tuple)):
        raise TypeError("axes must be a list of them")
    return blank(shapes[0]).transpose(axes).shape


def _joined(shapes: Shapes, attrs: Attrs) -> Shape:
    axis = attrs.get("axis", 0)
    if axis is None:
        return (sum(math.prod(shape) for shape in shapes),)
    at = _axis(axis, len(shapes[0]))
    if len({(*shape[:at], -1, *shape[at + 1 :]) for shape in shapes}) > 1:
        raise ValueError(f"the inputs differ in more than axis {at}")
    return (*shapes[0][:at], sum(shape[at] for shape in shapes), *shapes[0][at + 1 :])


def _indexed(shapes: Shapes, attrs: Attrs) -> Shape | None:
    if any(map(is_array, parts_of(attrs["index"]))):
        return None
    return blank(shapes[0])[attrs["index"]].shape


# Matrices and language


def _multiplied(shapes: Shapes, attrs: Attrs) -> Shape:
    a, b = shapes
    if not a or not b:
        raise ValueError("a matrix product needs at least one axis on each side")
    if a[-1] != b[max(len(b) - 2, 0)]:
        raise ValueError(f"a matrix product of {a} and {b}")
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _embedded(shapes: Shapes, attrs: Attrs) -> Shape:
    (_, width), ids = shapes[0], attrs["ids"]
    if not isinstance(ids, np.ndarray) or ids.dtype.kind not in "iu":
        raise TypeError("ids must be an array of integers")
    return (*ids.shape, width)


def _loss(shapes: Shapes, attrs: Attrs) -> Shape:
    (rows, _), targets = shapes[0], numbers_of(attrs["targets"])
    if targets.shape != (rows,) or targets.dtype.kind not in "iu":
        raise ValueError(f"{rows} rows need as many targets, got {targets.dtype} of shape {targets.shape}")
    return ()


def _turned(shapes: Shapes, attrs: Attrs) -> Shape:
    *front, channels = shapes[0]
    tables = [_numbers(attrs[name], name, np.ndarray) for name in ("cos", "sin")]
    pairs = (*front, channels // 2)
    if channels % 2 or np.broadcast_shapes(pairs, *(table.shape for table in tables)) != pairs:
        raise ValueError(f"tables that do not fit {shapes[0]}")
    return shapes[0]


def _repeated(shapes: Shapes, attrs: Attrs) -> Shape:
    batch, heads, n, channels = shapes[0]
    if index(attrs["repeats"]) < 0:
        raise ValueError("a negative number of repeats")
    return (batch, heads * index(attrs["repeats"]), n, channels)


def _normed(shapes: Shapes, attrs: Attrs) -> Shape:
    _numbers(attrs["eps"], "eps", (int, float))
    if shapes[0][-1:] != shapes[1] or not shapes[1]:
        raise ValueError(f"a scale of {shapes[1]} for {shapes[0]}")
    return shapes[0]


def _fed(shapes: Shapes, attrs: Attrs) -> Shape:
    x, gate, up, down = shapes
    if len(gate) != 2 or gate != up or len(down) != 2 or gate[1] != down[0] or x[-1:] != gate[:1]:
        raise ValueError(f"weights {gate}, {up} and {down} for {x}")
    return (*x[:-1], down[1])


def _projected(shapes: Shapes, attrs: Attrs) -> Shape:
    (batch, n, channels), (rows, width) = shapes
    heads, turn = index(attrs["heads"]), attrs.get("turn")
    if channels != rows or heads < 1 or width % heads:
        raise ValueError(f"{heads} heads of a weight {shapes[1]} for {shapes[0]}")
    if turn is not None and (width % 2 or _numbers(turn, "turn", np.ndarray).shape != (n, width)):
        raise ValueError(f"angles that do not fit {n} positions of {width} channels")
    return (batch, heads, n, width // heads)


def _attended(shapes: Shapes, attrs: Attrs) -> Shape:
    (batch, heads, n, channels), keys, values = shapes
    groups, m = keys[1:3]
    if keys != (batch, groups, m, channels) or values[:-1] != keys[:-1] or len(values) != len(keys):
        raise ValueError(f"keys of {keys} and values of {values} for {shapes[0]}")
    if not groups or heads % groups or n > m:
        raise ValueError(f"{heads} heads of {n} queries for {groups} of {m} keys")
    return (batch, n, heads * values[-1])


SHAPES: dict[str, Infer] = {
    **dict.fromkeys(("add", "sub", "mul", "div"), _broadcast),
    **dict.fromkeys(("neg", "exp", "log", "sqrt", "abs", "relu", "tanh", "gelu", "sigmoid", "silu"), _same),
    "power": _with("exponent"),
    "clip": _with("low", "high"),
    "where": _with("condition"),
    **dict.fromkeys(("tsum", "mean", "max"), _reduced),
    **dict.fromkeys(("softmax", "log_softmax"), _along),
    "reshape": _reshaped,
    "transpose": _transposed,
    "getitem": _indexed,
    "concat": _joined,
    "matmul": _multiplied,
    "embedding": _embedded,
    "cross_entropy": _loss,
    "rope": _turned,
    "repeat_kv": _repeated,
    "rms_norm": _normed,
    "feed_forward": _fed,
    "fused_cross_entropy": _loss,
    "project_heads": _projected,
    "causal_attention": _attended,
}


def is_saved(op: Op, shapes: Shapes, y: Shape, found: Shapes) -> bool:
    """Whether arrays of these shapes are what the op's forward leaves for its rule."""
    wanted = SAVED[op.name](shapes, y) if op.name in SAVED else []
    return len(found) == len(wanted) and all(
        len(a) == len(b) and all(m in (n, None) for n, m in zip(a, b, strict=True))
        for a, b in zip(found, wanted, strict=True)
    )


SAVED: dict[str, Callable[[Shapes, Shape], list[Sequence[int | None]]]] = {  # None: any size
    "gelu": lambda shapes, y: [y, y],
    "silu": lambda shapes, y: [y],
    "rms_norm": lambda shapes, y: [(*y[:-1], 1)],
    "feed_forward": lambda shapes, y: [(*y[:-1], shapes[1][1])] * 4,
    "fused_cross_entropy": lambda shapes, y: [shapes[0], shapes[0][:1]],
    "causal_attention": lambda shapes, y: [(y[0], None), (*shapes[1][:2], shapes[0][1] // shapes[1][1] * y[1])],
}
