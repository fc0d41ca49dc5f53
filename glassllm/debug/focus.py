"""The selected row at one position: what the panels show, put together from the tape."""

from .axes import Axes
from .snapshot import Contribution, Focus, Position
from .tape import Tape
from .traversal import Plan
from .words import title, way

SEED = -1  # the slot of the contribution that no consumer sent


def focus_on(tape: Tape, axes: Axes, selection: int, at: Position) -> Focus:
    """`inputs` stay as the op took them; all other arrays are in the axes shown."""
    row = tape.rows[selection]
    gradient = tape.gradient(selection, at)
    return Focus(
        row=row,
        title=title(tape, row),
        axes=axes.of(row),
        value=axes.shown(row, row.array),
        masked=None if row.masked is None else axes.shown(row, row.masked),
        state=tape.gradient_state(selection, at),
        gradient=None if gradient is None else axes.shown(row, gradient),
        contributions=_contributions(tape, axes, selection, at),
        inputs=tuple(tape.rows[source].array for source in row.inputs),
        recorded=tape.is_recorded(selection, at),
        is_current=selection == tape.row_at(at),
    )


def _contributions(tape: Tape, axes: Axes, row: int, at: Position) -> tuple[Contribution, ...]:
    """Every edge into the row in this traversal, in order of arrival; the seed first at the root."""
    plan = tape.plan(at.traversal or 1)
    if plan is None or not tape.rows[row].tracked:
        return ()
    begun = 1 <= at.traversal <= len(tape.traversals)
    traversal = tape.traversals[at.traversal - 1] if begun else None
    found: list[Contribution] = []
    if row == plan.root:
        seed = None if traversal is None else axes.shown(tape.rows[row], traversal.seed)
        found.append(Contribution(row, SEED, "the seed, where this traversal starts", seed, None))
    words = _words(tape, row, plan)
    for (place, k), came_by in zip(plan.arrivals.get(row, ()), words, strict=True):
        consumer, slot = plan.order[place], plan.edges[place][k - 1].slot
        is_pulled = traversal is not None and place < len(traversal.records)
        is_delivered = is_pulled and (place, k) <= (at.place, at.edges)
        sent = traversal.records[place].contributions[slot] if traversal and is_delivered else None
        found.append(
            Contribution(
                consumer,
                slot,
                came_by,
                None if sent is None else axes.shown(tape.rows[row], sent),
                place + 1 if is_pulled else None,
                is_delivered and sent is None,
            )
        )
    return tuple(found)


def _words(tape: Tape, row: int, plan: Plan) -> list[str]:
    """The way each contribution comes; the consumers' ops are named where several come the same way."""
    consumers = [tape.rows[plan.order[place]] for place, _ in plan.arrivals.get(row, ())]
    ways = [way(tape, tape.rows[row], consumer) for consumer in consumers]
    return [f"{w}, {c.name}" if ways.count(w) > 1 else w for w, c in zip(ways, consumers, strict=True)]
