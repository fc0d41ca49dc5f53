"""The whole run as plain data: what a screen shows one tensor at a time, for a file or another program.

Everything is a str, int, float, bool, None, list or dict; numbers that JSON has no literal for are spelled out.
"""

import math
from typing import Any

from glassllm.autograd.ops import Array

from .health import COUNTED, faults_of, health_of, norm_of
from .session import Session, drain
from .snapshot import Event, Health, Position, Row
from .traversal import Traversal
from .words import path_of

Data = dict[str, Any]


def report(session: Session) -> Data:
    """Events with their statistics, and each leaf's gradient once the first traversal has come to its end.

    The traversal is computed as far as it was not; the position, the selection and the model stay as they are. A
    rule that fails is a note, and what lies behind it has no gradient.
    """
    tape, facts = session.tape, session.facts
    end, failed = _run_back(session)
    gradients = [_gradient(session, row, end) for row in _leaves(session)]
    return {
        "name": facts.name,
        "tokens": list(facts.tokens),
        "ids": list(facts.ids),
        "targets": list(facts.targets),
        "dtype": facts.dtype,
        "tracked": facts.tracked,
        "fused": facts.fused,
        "notes": [*facts.notes, *failed],
        "loss": None if facts.loss is None else number(facts.loss),
        "root": None if tape.default_root is None else path_of(tape, tape.root(1)),
        "counts": _counts(session, gradients),
        "events": [_event(session, event) for event in tape.events],
        "gradients": gradients,
    }


def _counts(session: Session, gradients: list[Data]) -> Data:
    """`nan` and `inf` are counted in all values but constants, and in the gradients of leaves."""
    rows, facts = session.tape.rows, session.facts
    computed = [
        i for i in range(len(rows)) if rows.kind(i) != "leaf" or rows.is_parameter(i) or rows.is_tracked(i)
    ]
    faults = [faults_of(rows.arrays[i], rows.masked(i)) for i in computed]
    faults += [(stats["nan"], stats["inf"]) for leaf in gradients if (stats := leaf["grad_stats"])]
    return {
        "events": facts.events,
        "nodes": facts.nodes,
        "parameters": sum(map(rows.is_parameter, range(len(rows)))),
        "weights": facts.parameters,
        "nan": sum(nan for nan, _ in faults),
        "inf": sum(inf for _, inf in faults),
    }


def _run_back(session: Session) -> tuple[Position | None, list[str]]:
    """How far the first traversal can be pulled, None where it cannot; and what stops it before its end."""
    tape = session.tape
    if tape.default_root is None:
        return None, []
    if not tape.traversals:
        drain(session.begin(tape.default_root))
    failed = _pull_all(tape.traversals[0])
    visits = len(tape.traversals[0].records)
    return session.places.whole(1, visits - 1) if visits else None, failed


def _pull_all(traversal: Traversal) -> list[str]:
    """Pull all visits that can be; why no more, where a rule fails."""
    while not traversal.is_finished:
        try:
            traversal.pull()
        except Exception as error:  # rules are users' code, or a stranger's recording, and may raise anything
            at = f"{len(traversal.records) + 1} of {len(traversal.plan)}"
            return [f"the way back ends before visit {at}: {type(error).__name__}: {error}"]
    return []


def _leaves(session: Session) -> list[Row]:
    """What takes a gradient, parameters in the model's order; then parameters that take none."""
    rows, taking = session.tape.rows, session.tape.leaves
    others = set(filter(rows.is_parameter, range(len(rows)))).difference(taking)
    return [rows[i] for i in (*taking, *sorted(others))]


def _event(session: Session, event: Event) -> Data:
    row = session.tape.rows[event.row]
    return {
        "id": event.step,
        "path": event.path,
        "layer": event.layer,
        "shape": list(session.axes.shape(row)),
        "stats": statistics(session.tape.count_health(row.id)),
    }


def _gradient(session: Session, leaf: Row, end: Position | None) -> Data:
    """`grad_norm` is None where no gradient came."""
    is_final = end is not None and session.tape.gradient_state(leaf.id, end).is_final
    gradient: Array | None = session.tape.gradient(leaf.id, end) if end is not None and is_final else None
    return {
        "name": leaf.name,
        "parameter": leaf.parameter,
        "shape": list(leaf.array.shape),
        "norm": number(norm_of(leaf.array)),
        "grad_norm": None if gradient is None else number(norm_of(gradient)),
        "grad_stats": None if gradient is None else statistics(health_of(gradient)),
    }


def statistics(health: Health) -> Data:
    """min, mean, max and std of the finite, unmasked elements, and how many there are of each kind."""
    return {name: number(getattr(health, name)) for name in COUNTED}


def number(x: float) -> float | int | str:
    """`x`, or `NaN`, `Infinity`, `-Infinity` as text."""
    if isinstance(x, int) or math.isfinite(x):
        return x
    return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
