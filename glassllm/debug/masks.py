"""Which −inf were put there on purpose: the mark a mask leaves, and the ops that pass it on.

A mask is a `where` (`masked_fill` is one) that takes a constant −inf. Moving elements keeps their marks;
computing with them loses them, so an Inf that arithmetic makes is never taken for a mask.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array, Op
from glassllm.autograd.ops import shape as shapes

MOVING = (shapes.reshape, shapes.transpose, shapes.getitem, shapes.concat)


def masked_by(
    op: Op,
    attrs: dict[str, Any],
    arrays: Sequence[Array],
    marks: Sequence[Array | None],
    constant: Sequence[bool],
    y: Array,
) -> Array | None:
    """Where the result `y` of an op is masked, as booleans of its shape; None where nothing is.

    `marks` are those of the inputs; `constant` says which inputs are constants.
    """
    if op is shapes.where:
        sides = [_side(*side) for side in zip(arrays, marks, constant, strict=True)]
        if all(side is None for side in sides):
            return None
        a, b = (False if side is None else side for side in sides)
        found = np.where(attrs["condition"], a, b) & (y == -np.inf)
    elif op in MOVING and any(mark is not None for mark in marks):
        spread = [np.zeros(x.shape, bool) if m is None else m for x, m in zip(arrays, marks, strict=True)]
        found = op(*spread, **attrs)
    else:
        return None
    return found if found.any() else None


def _side(array: Array, mark: Array | None, is_constant: bool) -> Array | None:
    """Where one side of a `where` would put a mask."""
    if not is_constant:
        return mark
    minus_inf = np.asarray(array == -np.inf)
    return minus_inf if minus_inf.any() else None
