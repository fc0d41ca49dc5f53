"""Tensor, and the one door through which every forward computation passes: `apply`.

`tracking` and `hook` are module globals: whether results get a node, and who is told of each op (the recorder).
"""

import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Protocol

import numpy as np

from . import graph
from .ops import Array, Op, elementwise, matrix, reduce
from .ops import shape as shapes

tracking = True
hook: "Hook | None" = None


class Hook(Protocol):
    """Who is told of what the engine does; at most one at a time.

    One with `is_recording = False` only looks on: what is computed for recorders alone is left out.
    """

    def applied(
        self, op: Op, inputs: tuple["Tensor", ...], attrs: dict[str, Any], saved: tuple[Any, ...], result: "Tensor"
    ) -> None:
        """An op was applied."""

    def marked(self, step_id: str, value: "Tensor | Array", layer: int | None) -> None:
        """The model named a moment of its forward."""

    def traversed(self, root: "Tensor", seed: Array) -> None:
        """`root.backward()` was called; nothing is computed yet."""


def set_tracking(on: bool) -> bool:
    """Turn graph building on or off; what it was before."""
    global tracking
    before, tracking = tracking, on
    return before


def set_hook(new: Hook | None) -> Hook | None:
    """Install the hook; the one that was there before."""
    global hook
    before, hook = hook, new
    return before


def apply(op: Op, *inputs: Any, **attrs: Any) -> "Tensor":
    """Apply `op` to Tensors, arrays or numbers: compute, make the node if one is wanted, tell the hook."""
    tensors = _tensors(inputs)
    arrays = tuple([t.data for t in tensors])
    y, saved = op.run(arrays, attrs)
    result = Tensor(y)
    if tracking:
        _connect(result, op, tensors, arrays, attrs, saved)
    if hook is not None:
        hook.applied(op, tensors, attrs, saved, result)
    return result


def _connect(
    result: "Tensor",
    op: Op,
    inputs: tuple["Tensor", ...],
    arrays: tuple[Array, ...],
    attrs: dict[str, Any],
    saved: tuple[Any, ...],
) -> None:
    """Give the result its node, if an input wants a gradient."""
    if [t for t in inputs if t.requires_grad]:
        places = tuple([t.place for t in inputs])
        result.node = graph.Node(op, places, arrays, attrs, saved, result.data, weakref.ref(result))
        result.requires_grad = True


def _tensors(values: tuple[Any, ...]) -> tuple["Tensor", ...]:
    """The values as Tensors: what is none becomes a constant."""
    for value in values:
        if not isinstance(value, Tensor):
            return tuple([v if isinstance(v, Tensor) else Tensor(_constant(v, values)) for v in values])
    return values


def _constant(value: Any, beside: tuple[Any, ...]) -> Any:
    """`value` as data. A number takes the dtype of the floats beside it, as NumPy has it for Python's numbers."""
    if not isinstance(value, (bool, int, float, np.generic)):
        return value
    dtypes = [v.dtype for v in beside if isinstance(v, (Tensor, np.ndarray))]
    weak = value.item() if isinstance(value, np.generic) and any(d.kind == "f" for d in dtypes) else value
    return np.asarray(value, np.result_type(*dtypes, weak))


def plain(value: Any, what: str) -> Any:
    """`value` itself, if no Tensor hides in it; raises the TypeError that names .data otherwise."""
    if isinstance(value, Tensor):
        refuse(f"{what} must be plain data, not a Tensor")
    if isinstance(value, slice):
        plain((value.start, value.stop, value.step), what)
    elif isinstance(value, (tuple, list)):
        for part in value:
            plain(part, what)
    return value


def constant(value: Any, what: str) -> Any:
    """Plain data to compute with: a NumPy scalar becomes a Python number, which promotes no float32."""
    value = plain(value, what)
    if isinstance(value, np.generic):
        return value.item()
    return np.asarray(value) if isinstance(value, (tuple, list)) else value


def _unpacked(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """`reshape(2, 3)` and `reshape((2, 3))` mean the same."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list, np.ndarray)) else sizes


def refuse(what: str) -> NoReturn:
    """Raise the TypeError that sends users to the plain array."""
    raise TypeError(f"{what}; use its .data, a plain NumPy array")


def _no_forward(*arrays: Array) -> Array:
    raise ValueError("a hand-built operation has no forward to run again")


def accumulate(leaf: "Tensor", grad: Array) -> None:
    """Add a traversal's sum to a leaf's grad, in memory of its own."""
    leaf.grad = np.array(grad) if leaf.grad is None else np.asarray(leaf.grad + grad)


def _write(node: graph.Node, grad: Array | None) -> None:
    """Set an intermediate's grad, read-only, where somebody still holds its Tensor."""
    if (tensor := node.output()) is None:
        return
    if grad is not None:
        grad = grad.view()
        grad.flags.writeable = False
    tensor.grad = grad


class Tensor:
    """An array that knows where it came from.

    `data` goes through np.asarray. `parents` and `backward` build an operation by hand: `backward(grad)` returns
    one gradient, or None, per parent. `grad` is None or an array of data's shape.
    """

    __slots__ = ("__weakref__", "data", "grad", "node", "requires_grad")
    __array_ufunc__ = None  # NumPy then hands reflected operators to us instead of making object arrays

    def __init__(
        self,
        data: Any,
        parents: tuple["Tensor", ...] = (),
        backward: Callable[[Array], Any] | None = None,
        requires_grad: bool = False,
    ):
        if isinstance(data, Tensor):
            refuse("a Tensor cannot be made of a Tensor")
        self.data: Array = np.asarray(data)
        self.grad: Array | None = None
        self.node: graph.Node | None = None
        self.requires_grad = requires_grad and not parents
        if parents:
            parents = tuple(parents)
            by_hand = Op(_no_forward, "custom", backward and (lambda g, *_: backward(g)))
            if tracking:
                _connect(self, by_hand, parents, tuple(p.data for p in parents), {}, ())
            if hook is not None:
                hook.applied(by_hand, parents, {}, (), self)

    @property
    def place(self) -> graph.Place | None:
        """Where its gradient goes: None if it wants none, else its node, or itself for a leaf."""
        if not self.requires_grad:
            return None
        return self if self.node is None else self.node

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def ndim(self) -> int:
        return self.data.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def size(self) -> int:
        return self.data.size

    def __repr__(self) -> str:
        made = f", by {self.node.op.name}" if self.node else ", requires grad" if self.requires_grad else ""
        shown = f" {self.data}" if self.size == 1 else ""
        return f"Tensor({'×'.join(map(str, self.shape)) or '()'} {self.dtype}{shown}{made})"

    def backward(self, grad: Any = None) -> None:
        """Carry `grad` (default: ones) back to the leaves and write `.grad` on every Tensor still held.

        Leaves accumulate over calls; intermediates hold this call's gradient, read-only, until the next.
        Raises ValueError when `grad` has another shape than this Tensor.
        """
        place = self.place
        if place is None:
            return
        seed = graph.seed_for(self.data, grad)
        if hook is not None:
            hook.traversed(self, seed)
        reached = graph.reach(place)
        for node in reached.nodes:
            _write(node, None)
        for visit in graph.backward_steps(place, seed, reached):
            if isinstance(visit.place, graph.Node):
                _write(visit.place, visit.grad)
            elif visit.grad is not None:
                accumulate(visit.place, visit.grad)

    def __add__(self, other: Any) -> "Tensor":
        return apply(elementwise.add, self, other)

    def __radd__(self, other: Any) -> "Tensor":
        return apply(elementwise.add, other, self)

    def __sub__(self, other: Any) -> "Tensor":
        return apply(elementwise.sub, self, other)

    def __rsub__(self, other: Any) -> "Tensor":
        return apply(elementwise.sub, other, self)

    def __mul__(self, other: Any) -> "Tensor":
        return apply(elementwise.mul, self, other)

    def __rmul__(self, other: Any) -> "Tensor":
        return apply(elementwise.mul, other, self)

    def __truediv__(self, other: Any) -> "Tensor":
        return apply(elementwise.div, self, other)

    def __rtruediv__(self, other: Any) -> "Tensor":
        return apply(elementwise.div, other, self)

    def __neg__(self) -> "Tensor":
        return apply(elementwise.neg, self)

    def __pow__(self, exponent: Any) -> "Tensor":
        return apply(elementwise.power, self, exponent=constant(exponent, "the exponent"))

    def __rpow__(self, other: Any) -> NoReturn:
        refuse("the exponent must be plain data, not a Tensor")

    def __matmul__(self, other: Any) -> "Tensor":
        return apply(matrix.matmul, self, other)

    def __rmatmul__(self, other: Any) -> NoReturn:
        refuse("@ needs a Tensor on the left")

    def __getitem__(self, index: Any) -> "Tensor":
        return apply(shapes.getitem, self, index=plain(index, "an index"))

    def __iter__(self) -> Iterator["Tensor"]:
        if not self.ndim:
            raise TypeError("a 0-d Tensor has no rows to iterate over")
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a 0-d Tensor has no length")
        return self.shape[0]

    def sum(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        return apply(reduce.tsum, self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        return apply(reduce.mean, self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        return apply(reduce.max, self, axis=axis, keepdims=keepdims)

    def reshape(self, *shape: Any) -> "Tensor":
        return apply(shapes.reshape, self, shape=_unpacked(shape))

    def transpose(self, *axes: Any) -> "Tensor":
        return apply(shapes.transpose, self, axes=_unpacked(axes) if axes and axes[0] is not None else None)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        refuse("a Tensor's items cannot be assigned")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("a Tensor is no array")

    def __array_function__(self, function: Any, *args: Any) -> NoReturn:
        refuse(f"numpy's {getattr(function, '__name__', function)} does not take a Tensor")

    def __bool__(self) -> NoReturn:
        refuse("a Tensor has no truth value")

    def __float__(self) -> NoReturn:
        refuse("a Tensor is no number")

    __int__ = __float__

    def __lt__(self, other: Any) -> NoReturn:
        refuse("Tensors are not compared")

    __le__ = __gt__ = __ge__ = __lt__
