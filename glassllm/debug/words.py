"""What the debugger says in words: names of rows, and one line about each place."""

from collections.abc import Sequence

from glassllm.files import printable

from .axes import Axes
from .numerals import counted, shape_text, unsigned
from .places import Places, block_of
from .snapshot import GradientState, Position, Row, RunFacts, Said, Tone
from .tape import Tape
from .traversal import Traversal

NAMED = 2  # so many are named in a line, the others counted
LOOKED_AT = 32  # rows that a line of words asks after, of however many there are


def path_of(tape: Tape, row: int) -> str:
    """The row's whole name: an event's path, a leaf's name, else scope and op; the row is not put together."""
    rows = tape.rows
    if rows.events[row] >= 0:
        return tape.events[rows.events[row]].path
    if rows.kind(row) == "leaf" or not rows.scopes[row]:
        return rows.names[row]
    return f"{rows.scopes[row]}.{rows.names[row]}"


def short(tape: Tape, row: Row) -> str:
    """The row's name within its block: `attn.softmax`, `norm.ffn mul`, `attn.W_Q`."""
    if row.event >= 0:
        return tape.events[row.event].step
    name = row.name
    if row.kind == "leaf":
        return name.removeprefix(block_of(name) + ".")
    within = _within(row.scope)
    return f"{within} {name}" if within else name


def title(tape: Tape, row: Row) -> str:
    """The row's name for a heading: `blocks.1 · attn.softmax`, `norm.final · mul`."""
    if row.kind == "leaf":
        parts = [row.name]
    elif row.event >= 0:
        event = tape.events[row.event].path
        parts = [block_of(event), _within(event)]
    else:
        parts = [block_of(row.scope), _within(row.scope), row.name]
    return " · ".join(part for part in parts if part)


def in_short(run: RunFacts) -> str:
    """`12 tokens, 77 events, loss 2.3184`; of a program `8 nodes, loss 0.0006`."""
    loss = "no loss" if run.loss is None else f"loss {unsigned(run.loss)}"
    if not run.ids:
        return f"{counted(run.nodes, 'node')}, {loss}"
    return f"{counted(len(run.ids), 'token')}, {run.events} events, {loss}"


def _within(scope: str) -> str:
    """`attn.q` of `blocks.1.attn.q`."""
    return scope.removeprefix(block_of(scope)).removeprefix(".")


def joined(names: Sequence[str], count: int = 0) -> str:
    """`a, b and 3 more`: of `count` names, of which the first are given."""
    count = max(count, len(names))
    if count > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {count - NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def way(tape: Tape, row: Row, consumer: Row) -> str:
    """How the contribution of a consumer comes to `row`, in plain words."""
    event = tape.events[consumer.event].step if consumer.event >= 0 else ""
    if consumer.name == "embedding":
        return "lookup"
    if consumer.name == "add" and event.startswith("resid."):
        return "skip path, × 1" if _is_stream(tape, row) else "added to the stream, × 1"
    if row.parameter and _within(consumer.scope) == "logits":
        return "output"
    within = event or _within(consumer.scope)
    return f"through {within}" if within else f"through {consumer.name}"


def _is_stream(tape: Tape, row: Row) -> bool:
    step = tape.events[row.event].step if row.event >= 0 else ""
    return step == "embed" or step.startswith("resid.")


def circle(state: GradientState) -> str:
    """`● 1/1 final`, `◐ 1/2`, `○ 0/2`"""
    return f"{state.sign} {state.delivered}/{state.edges}{' final' * state.is_final}"


def at_place(places: Places, axes: Axes, at: Position) -> Said:
    """One line about a position: what was computed there, or what was sent."""
    row = places.tape.rows[places.tape.row_at(at)]
    return _computed(places.tape, axes, row) if at.traversal == 0 else _visited(places, row, at)


def _computed(tape: Tape, axes: Axes, row: Row) -> Said:
    said: list[tuple[str, Tone]] = [("▶ ", "fwd"), (short(tape, row), "bright")]
    said.append((f"  {shape_text(axes.shape(row))}", "text"))
    if row.kind == "note":
        return *said, (" noted by the model", "muted")
    inputs = list(dict.fromkeys(row.inputs))
    known = [i for i in inputs if is_telling(tape, i)] or inputs
    if known:
        names = [short(tape, tape.rows[i]) for i in known[: NAMED + 1]]
        said += [(" computed from ", "muted"), (joined(names, len(known)), "text")]
    return tuple(said)


def is_telling(tape: Tape, row: int) -> bool:
    """Whether the row is more than a constant that an op was given."""
    return tape.rows.kind(row) != "leaf" or tape.rows.is_tracked(row) or tape.rows.is_parameter(row)


def _visited(places: Places, row: Row, at: Position) -> Said:
    tape = places.tape
    said: list[tuple[str, Tone]] = [("◀ backward  ", "bwd"), (short(tape, row), "bright")]
    plan = tape.plan(at.traversal)
    assert plan is not None, f"expected a traversal at {at}"
    if row.kind == "leaf":
        state = tape.gradient_state(row.id, at)
        return *said, (f" {circle(state)}", "bwd"), (_summed(tape, row, at, state), "muted")
    if tape.gradient(row.id, at) is None:
        return *said, (" was reached by nothing and sends nothing", "muted")
    targets = list(dict.fromkeys(plan.targets(at.place)[: at.edges]))
    states = [tape.gradient_state(target, at) for target in targets[:LOOKED_AT]]
    for i, (target, state) in enumerate(zip(targets[:NAMED], states, strict=False)):
        said.append((" and to " if i else " sent its contribution to ", "text"))
        said += [(short(tape, tape.rows[target]), "bright"), (f" {circle(state)}", "bwd")]
    if len(targets) > NAMED:
        said.append((f" and {len(targets) - NAMED} more", "muted"))
    if at.edges < plan.sends(at.place):
        said.append((f"; {at.edges} of its {plan.sends(at.place)} are sent", "muted"))
    elif not all(state.is_final for state in states) and at.place + 1 < len(plan):
        said.append((f"; {short(tape, tape.rows[plan.order[at.place + 1]])} is next", "muted"))
    return tuple(said)


def stopped(tape: Tape, traversal: Traversal, error: Exception) -> str:
    """Why a traversal ends before the node whose rule raised this, and what to do."""
    row = tape.rows[traversal.plan.order[len(traversal.records)]]
    why = f"{type(error).__name__}: {printable(str(error))}"
    return f"the way back stops before node {row.number}, {short(tape, row)}; mend its rule and run again: {why}"


def _summed(tape: Tape, leaf: Row, at: Position, state: GradientState) -> str:
    what = ": the seed itself" if leaf.id == tape.root(at.traversal) else _sum_of(state.edges)
    left = tape.left_by_earlier(leaf.id, at.traversal)
    return what if left is None else f"{what}, added to what earlier traversals left"


def _sum_of(edges: int) -> str:
    return ": its one contribution" if edges == 1 else f": the sum of its {edges} contributions"
