"""An op: a named differentiable function on plain arrays, its forward written above its rule.

Each file of this folder holds one family. `@op` makes the entry, `@name.rule` adds its backward rule, and
`OPS` lists them all by name. Calling an Op computes on plain arrays; graphs are built elsewhere.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rule = Callable[..., Any]
Wanted = tuple[bool, ...]
BOTH: Wanted = (True, True)


class Op:
    """A forward function and its backward rule.

    `forward(*arrays, **attrs)` returns the result, or a tuple of the result and what the rule will need.
    The rule is called as `rule(g, y, *saved, *arrays, **attrs)` and returns one gradient, or None, per array;
    it may return gradients of the broadcast shape, which the graph sums back to each input's shape. A rule with a
    keyword `wanted` is told which arrays take a gradient and need not compute the others'.
    """

    __slots__ = ("backward", "forward", "is_told", "name")

    def __init__(self, forward: Callable[..., Any], name: str | None = None, backward: Rule | None = None):
        self.name = name or forward.__name__
        self.forward = forward
        self.backward = backward
        self.is_told = False  # True: the rule is called with `wanted`

    def rule(self, backward: Rule) -> Rule:
        """Decorator: use `backward` as this op's backward rule."""
        self.backward = backward
        rule, own = inspect.signature(backward).parameters, inspect.signature(self.forward).parameters
        self.is_told = "wanted" in rule and "wanted" not in own
        return backward

    def run(self, arrays: Sequence[Array], attrs: dict[str, Any]) -> tuple[Array, tuple[Any, ...]]:
        """The result for these arrays, and what the forward saved for the rule."""
        out = self.forward(*arrays, **attrs)
        if type(out) is tuple:
            return np.asarray(out[0]), out[1:]
        return np.asarray(out), ()

    def __call__(self, *arrays: Any, **attrs: Any) -> Array:
        return self.run([np.asarray(a) for a in arrays], attrs)[0]

    def __repr__(self) -> str:
        return f"<op {self.name}>"


OPS: dict[str, Op] = {}


def op(forward: Callable[..., Any]) -> Op:
    """Decorator: enter `forward` in the table of ops under its own name."""
    made = Op(forward)
    assert made.name not in OPS, f"two ops are named {made.name}"
    OPS[made.name] = made
    return made
