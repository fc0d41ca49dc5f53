"""The two lines under the panels: the selected op's rule, and the rule with the selected cell's numbers.

Pure reading of arrays that never change: safe on any thread, and cheap enough for every cursor move.
"""

from dataclasses import dataclass

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.numerals import USUAL_PEN, Pen, element
from glassllm.debug.snapshot import Focus

from .case import Case, Cell
from .formulas import formula

DISTRIBUTIONS = ("softmax", "log_softmax")


@dataclass(frozen=True, slots=True)
class RuleLines:
    """`forward` and `backward` are formulas; `numbers` and `gradients` the same with the cell's numbers.

    `value` and `gradient` are the cell's own. `gradient` is empty before any contribution has arrived,
    `gradients` until all have; `rank` says where the cell stands in its row.
    """

    name: str
    words: str
    forward: str
    backward: str
    numbers: str = ""
    gradients: str = ""
    value: str = ""
    gradient: str = ""
    rank: str = ""


def rule_lines(focus: Focus, cell: Cell | None, pen: Pen = USUAL_PEN) -> RuleLines:
    """What to say about `cell`, a coordinate of `focus.value`; None or a cell outside says it without numbers."""
    lines = _formulas(focus)
    if cell is None or not _is_inside(cell, focus.value):
        return lines
    case = _case(focus, cell, pen)
    value = pen.signed(element(focus.value[cell]))
    numbers, gradients = f"= {value}", ""
    if focus.row.kind == "node" and focus.recorded:
        rule = formula(focus.row.name)
        numbers = rule.numbers(case)
        gradients = rule.gradients(case) if case.g is not None else ""
    gradient = "" if focus.gradient is None else pen.signed(element(focus.gradient[cell]))
    words = (lines.name, lines.words, lines.forward, lines.backward)
    return RuleLines(*words, numbers, gradients, value, gradient, _rank(focus, case))


def _formulas(focus: Focus) -> RuleLines:
    row = focus.row
    if row.kind == "note":
        return RuleLines(row.name, "a note of the model", "an array, not part of the graph", "")
    if row.kind == "leaf":
        kind = "parameter" if row.parameter else "input" if focus.state.takes else "constant"
        backward = "∂L/∂x = Σ of its contributions" if focus.state.takes else "takes no gradient"
        return RuleLines(row.name, kind, "given, not computed", backward)
    rule = formula(row.name)
    words = _axis_words(focus) if row.name in DISTRIBUTIONS else rule.words
    return RuleLines(row.name, words, rule.forward, rule.backward)


def _axis_words(focus: Focus) -> str:
    """`over keys`: the axis that a distribution is over, by its name."""
    at = focus.row.attrs.get("axis", -1) % max(focus.row.array.ndim, 1) - (focus.row.array.ndim - focus.value.ndim)
    name = focus.axes[at].name if 0 <= at < len(focus.axes) else ""
    return f"over {name}s" if name.isalpha() and name != "vocabulary" else f"over {name or 'an axis'}"


def _is_inside(cell: Cell, array: Array) -> bool:
    return len(cell) == array.ndim and all(0 <= i < n for i, n in zip(cell, array.shape, strict=True))


def _case(focus: Focus, cell: Cell, pen: Pen) -> Case:
    """The op's own arrays: with the batch axis that the view leaves out."""
    y = focus.row.array
    dropped = y.ndim - focus.value.ndim
    g = None
    if focus.gradient is not None and focus.state.is_final:
        g = focus.gradient.reshape(y.shape)
    return Case(y, focus.inputs, focus.row.attrs, (0,) * dropped + cell, g, pen)


def _rank(focus: Focus, case: Case) -> str:
    """`rank 1 of 9 in its row`: by size of value among what no mask has excluded; empty for a cell it has."""
    is_distribution = focus.row.kind == "node" and focus.row.name in DISTRIBUTIONS
    if not case.cell or not focus.recorded:
        return ""
    axis = case.axis() if is_distribution else case.y.ndim - 1
    lane = tuple(slice(None) if i == axis else n for i, n in enumerate(case.cell))
    row, here = case.y[lane], case.y[case.cell]
    if is_distribution:
        live = focus.inputs[0][lane] != -np.inf
    else:
        live = np.ones(row.shape, bool) if focus.row.masked is None else ~focus.row.masked[lane]
    if not live[case.cell[axis]] or not np.isfinite(here):
        return ""
    rank = 1 + int(np.count_nonzero(row[live] > here))
    where = "in its row" if axis == case.y.ndim - 1 else f"along axis {axis}"
    return f"rank {rank} of {int(np.count_nonzero(live))} {where}"
