"""The two lines under the panels: the selected op's rule, and the rule with the selected cell's numbers.

Pure reading of arrays that never change: safe on any thread, and cheap enough for every cursor move.
"""

from dataclasses import dataclass

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.snapshot import Focus

from .formulas import formula
from .worked import Case, Cell, signed


@dataclass(frozen=True, slots=True)
class RuleLines:
    """`forward` and `backward` are formulas; `numbers` and `gradients` the same with the cell's numbers.

    `gradients` is empty while the cell's gradient is not complete; `rank` says where the cell stands in its row.
    """

    name: str
    words: str
    forward: str
    backward: str
    numbers: str
    gradients: str
    gradient: str
    rank: str


def rule_lines(focus: Focus, cell: Cell | None) -> RuleLines:
    """What to say about `cell`, a coordinate of `focus.value`; None or a cell outside says it without numbers."""
    row = focus.row
    rule = formula(row.name)
    if row.kind == "leaf":
        kind = "parameter" if row.parameter else "constant" if not focus.state.takes else "input"
        rule_name, words, forward, backward = (
            row.name,
            kind,
            "given, not computed",
            "∂L/∂x = Σ of its contributions",
        )
    elif row.kind == "note":
        rule_name, words, forward, backward = (
            row.name,
            "a note of the model",
            "an array, not part of the graph",
            "",
        )
    else:
        rule_name, words, forward, backward = row.name, rule.words, rule.forward, rule.backward
    numbers = gradients = gradient = rank = ""
    if cell is not None and _is_inside(cell, focus.value):
        numbers, gradient = f"= {signed(focus.value[cell])}", _gradient_text(focus, cell)
        rank = _rank(focus, cell)
        if row.kind == "node" and focus.recorded:
            case = _case(focus, cell)
            numbers = rule.numbers(case)
            gradients = rule.gradients(case) if case.g is not None else ""
    return RuleLines(rule_name, words, forward, backward, numbers, gradients, gradient, rank)


def _is_inside(cell: Cell, array: Array) -> bool:
    return len(cell) == array.ndim and all(0 <= i < n for i, n in zip(cell, array.shape, strict=True))


def _case(focus: Focus, cell: Cell) -> Case:
    """The op's own arrays: with the batch axis that the view leaves out."""
    y = focus.row.array
    dropped = y.ndim - focus.value.ndim
    g = None
    if focus.gradient is not None and focus.state.is_final:
        g = focus.gradient.reshape(y.shape)
    return Case(y, focus.inputs, focus.row.attrs, (0,) * dropped + cell, g)


def _gradient_text(focus: Focus, cell: Cell) -> str:
    return "" if focus.gradient is None else signed(focus.gradient[cell])


def _rank(focus: Focus, cell: Cell) -> str:
    """`rank 1 of 9 in its row`: by size of value among the unmasked of the last axis."""
    if not cell or not focus.recorded:
        return ""
    lane = focus.value[cell[:-1]]
    live = np.ones(lane.shape, bool) if focus.masked is None else ~focus.masked[cell[:-1]]
    if not live[cell[-1]] or not np.isfinite(lane[cell[-1]]):
        return ""
    rank = 1 + int((lane[live] > lane[cell[-1]]).sum())
    return f"rank {rank} of {int(live.sum())} in its row"
