"""Commands about gradients: starting a traversal anywhere, and giving what was found to the model."""

import numpy as np

from glassllm.autograd import tensor as engine

from .numerals import counted
from .runs import ModelRun
from .search import find_cell
from .session import Session, Work
from .slices import Sliced
from .snapshot import CommandError
from .traversal import Traversal


def backward(session: Session, root: str | None = None, seed: float = 1.0) -> Work:
    """Append a traversal and go to its first visit; one that is under way is finished first.

    `root` is a row, or a cell of one such as `logits[5,42]`; by default the loss. The seed is `seed` in that
    cell or, without a cell, everywhere. Raises CommandError for a root that takes no gradient.
    """
    tape = session.tape
    row, cell = (_default_root(session), None) if root is None else (yield from _root(session, root))
    shape = tape.rows[row].array.shape
    values = np.full(shape, seed)
    if cell is not None:
        values = np.zeros(shape)
        values[cell] = seed
    yield from _begin(session, row, values)


def _begin(session: Session, row: int, seed: np.ndarray) -> Work:
    under_way = len(session.tape.traversals)
    if under_way and not session.tape.traversals[-1].is_over:
        yield from session.go(session.places.end(under_way))
    yield from session.begin(row, seed)
    yield from session.go(session.places.whole(under_way + 1, 0))


def _default_root(session: Session) -> int:
    if session.tape.default_root is None:
        raise CommandError(_untracked(session))
    return session.tape.default_root


def _root(session: Session, spec: str) -> Sliced[tuple[int, tuple[int, ...] | None]]:
    row, cell = yield from find_cell(session.tape, session.axes, spec, session.selection)
    if not session.tape.rows[row].tracked:
        remedy = "choose a node that does" if session.tape.leaves else _untracked(session)
        raise CommandError(f"{session.short(row)} takes no gradient; {remedy}")
    return row, cell


def _untracked(session: Session) -> str:
    if isinstance(session.run, ModelRun) and not session.facts.tracked:
        return "the run built no graph; no_grad off runs it again with one"
    return "nothing here takes a gradient"


def zero_grad(session: Session) -> None:
    """Let the next traversal's leaf sums start from nothing."""
    session.starts_fresh = True
    session.say(("zero-grad", "bright"), ("  the next traversal's leaf gradients start from nothing", "text"))


def apply(session: Session) -> None:
    """Add the finished traversals' gradients to the `.grad` of the model's leaves, each traversal once."""
    traversals = session.tape.traversals
    if session.tape.is_recording:
        raise CommandError("a recording holds no model to give gradients to; open the model's own file")
    finished = [t for t in traversals[session.applied :] if t.is_finished]
    if not finished:
        raise CommandError(_nothing_to_apply(session))
    for traversal in finished:
        _apply(session, traversal)
    session.applied += len(finished)
    n, times = len(session.tape.leaves), counted(len(finished), "traversal")
    leaves = "1 leaf" if n == 1 else f"{n} leaves"
    session.say(("apply", "bright"), (f"  {leaves} got the gradients of {times}", "text"))


def _apply(session: Session, traversal: Traversal) -> None:
    leaves = {row: session.tape.place_of[row] for row in session.tape.leaves}
    if traversal.fresh:
        for leaf in leaves.values():
            leaf.grad = None
    for record in traversal.records:
        if record.row in leaves and record.grad is not None:
            engine.accumulate(leaves[record.row], record.grad)


def _nothing_to_apply(session: Session) -> str:
    traversals = session.tape.traversals
    if not traversals:
        return "no gradient has been computed yet; backward starts a traversal"
    if traversals[-1].is_finished:
        return "every traversal has been applied already; backward starts another"
    done, total = len(traversals[-1].records), len(traversals[-1].plan)
    return f"the traversal is at visit {done} of {total}; continue finishes it"
