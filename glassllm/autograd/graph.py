"""The graph of one computation, and the one traversal that carries gradients back through it.

A node is one application of an op; a leaf is a Tensor without one. Creation order is a topological order, so
"newest first" visits every consumer of a node before the node, without recursion and always in the same order.
"""

import itertools
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from .ops import Array, Op

# A node, or a leaf Tensor. Leaves are told apart by not being nodes: this module knows no Tensor.
Place: TypeAlias = Any

FLOAT64 = np.dtype(np.float64)

_creation = itertools.count()


class Node:
    """One application of an op.

    `inputs` holds, per input array, its place in the graph, or None where no gradient is wanted. `output` is a
    weak reference to the Tensor made here: a strong one would be a cycle, and graphs die by counting alone.
    """

    __slots__ = ("__weakref__", "arrays", "attrs", "index", "inputs", "op", "output", "saved", "y")

    def __init__(
        self,
        op: Op,
        inputs: tuple[Place | None, ...],
        arrays: tuple[Array, ...],
        attrs: dict[str, Any],
        saved: tuple[Any, ...],
        y: Array,
        output: "weakref.ref[Any]",
    ):
        self.op = op
        self.inputs = inputs
        self.arrays = arrays
        self.attrs = attrs
        self.saved = saved
        self.y = y
        self.output = output
        self.index = next(_creation)

    def __repr__(self) -> str:
        return f"<node {self.op.name} {self.y.shape}>"


class Visit(NamedTuple):
    """The traversal handling one place: its complete gradient, and one contribution per input.

    `grad` is None where nothing reached a node (a consumer's rule returned None); a leaf has no contributions.
    """

    place: Place
    grad: Array | None
    contributions: tuple[Array | None, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a traversal from one root can get to: nodes newest first, and how many edges lead to each place."""

    root: Place
    nodes: list[Node]
    edges: dict[Place, int]


def reach(root: Place) -> Reach:
    """Everything behind `root` that wants a gradient."""
    edges: dict[Place, int] = {root: 0}
    nodes: list[Node] = []
    stack = [root]
    while stack:
        place = stack.pop()
        if not isinstance(place, Node):
            continue
        nodes.append(place)
        for source in place.inputs:
            if source is None:
                continue
            if source in edges:
                edges[source] += 1
            else:
                edges[source] = 1
                stack.append(source)
    nodes.sort(key=lambda node: node.index, reverse=True)
    return Reach(root, nodes, edges)


def gradient_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype gradients of such data have: its own if it is a float, else float64."""
    return dtype if dtype.kind == "f" else FLOAT64


def seed_for(output: Array, grad: Any = None) -> Array:
    """A fresh seed for a traversal from `output`: ones, or `grad` cast to its dtype.

    Raises ValueError, naming both shapes, when `grad` has another shape.
    """
    dtype = gradient_dtype(output.dtype)
    if grad is None:
        return np.ones(output.shape, dtype)
    seed = np.array(grad, dtype)
    if seed.shape != output.shape:
        raise ValueError(f"the seed has shape {seed.shape}, the output {output.shape}; they must be equal")
    return seed


def unbroadcast(grad: Any, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """`grad` summed back over the axes that broadcasting added or stretched, in the input's shape and dtype.

    Raises ValueError where no broadcasting of `shape` could have led to the gradient's shape.
    """
    out = np.asarray(grad)
    if out.shape != shape:
        out = _summed_back(out, shape)
    return np.asarray(out, dtype)


def _summed_back(grad: Array, shape: tuple[int, ...]) -> Array:
    added = tuple(range(grad.ndim - len(shape)))
    out = np.asarray(grad.sum(axis=added)) if added else grad
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and out.ndim == len(shape) and out.shape[i] != 1)
    out = out.sum(axis=stretched, keepdims=True) if stretched else out
    try:
        return np.broadcast_to(out, shape)
    except ValueError:
        raise ValueError(f"a gradient of shape {grad.shape} for an input of shape {shape}") from None


def contributions(node: Node, g: Array) -> tuple[Array | None, ...]:
    """What the node's rule sends to each of its inputs when the node's complete gradient is `g`.

    The only caller of rules. Raises ValueError when a rule returns too few gradients or one that does not fit.
    """
    if None in node.inputs and not node.op.is_told:
        with np.errstate(all="ignore"):  # a constant's gradient is computed and dropped: 0·inf in it must not warn
            sent = _by_rule(node, g)
    else:
        sent = _by_rule(node, g)
    if not isinstance(sent, (tuple, list)):
        sent = (sent,)
    if len(sent) != len(node.inputs):
        raise ValueError(f"the rule of {node.op.name} gave {len(sent)} gradients for {len(node.inputs)} inputs")
    try:
        return tuple(map(_fitted, sent, node.inputs, node.arrays))
    except ValueError as error:
        raise ValueError(f"the rule of {node.op.name} gave {error}") from None


def _by_rule(node: Node, g: Array) -> Any:
    if node.op.backward is None:
        raise ValueError(
            f"op {node.op.name} has no backward rule; "
            f"give it one with @{node.op.name}.rule, or with backward= if it is built by hand"
        )
    attrs = node.attrs
    if node.op.is_told and None in node.inputs:
        attrs = {**attrs, "wanted": tuple([place is not None for place in node.inputs])}
    return node.op.backward(g, node.y, *node.saved, *node.arrays, **attrs)


def _fitted(grad: Any, place: Place | None, x: Array) -> Array | None:
    if grad is None or place is None:
        return None
    if type(grad) is np.ndarray and grad.dtype is x.dtype and grad.shape == x.shape and grad.dtype.kind == "f":
        return grad  # as nearly all are
    return unbroadcast(grad, x.shape, gradient_dtype(x.dtype))


def backward_steps(root: Place, seed: Array, reached: Reach | None = None) -> Iterator[Visit]:
    """Carry `seed` back from `root`, one visit at a time; nothing later than the visit pulled is computed.

    Every node comes once, after all its consumers; a leaf comes as soon as its last contribution is in. Nothing
    is written: gradients live in this generator and in the visits it yields.
    """
    reached = reached or reach(root)
    if not isinstance(root, Node):
        yield Visit(root, seed, ())
        return
    flowing: dict[Place, Array] = {root: seed}
    waiting = dict(reached.edges)
    grown: set[Place] = set()  # places whose gradient is a sum made here: nobody else has seen it yet
    for node in reached.nodes:
        g = flowing.pop(node, None)
        sent = (None,) * len(node.inputs) if g is None else contributions(node, g)
        yield Visit(node, g, sent)
        for place, contribution in zip(node.inputs, sent, strict=True):
            if place is None:
                continue
            if contribution is not None:
                if place not in flowing:
                    flowing[place] = contribution
                elif place in grown:
                    np.add(flowing[place], contribution, out=flowing[place])
                else:
                    flowing[place] = np.asarray(flowing[place] + contribution)
                    grown.add(place)
            waiting[place] -= 1
            if not waiting[place] and not isinstance(place, Node):
                yield Visit(place, flowing.pop(place, None), ())
