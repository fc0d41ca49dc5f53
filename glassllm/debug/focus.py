"""The selected row at one position: what the panels show, put together from the tape."""

from collections.abc import Sequence
from functools import cached_property

from .axes import Axes
from .by_number import ByNumber
from .plan import Plan
from .snapshot import Contribution, Focus, Position, Row
from .tape import Tape
from .words import title, way

SEED = -1  # the slot of the contribution that no consumer sent
MANY = 64  # contributions beyond which each is put together when it is looked at


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
        inputs=tape.inputs(selection),
        recorded=tape.is_recorded(selection, at),
        is_current=selection == tape.row_at(at),
    )


class Contributions(ByNumber[Contribution]):
    """Every edge into a row in one traversal, in order of arrival, the seed first at the root.

    Each is put together when it is asked for: a weight of a long program has as many as the program has steps.
    """

    def __init__(self, tape: Tape, axes: Axes, row: Row, plan: Plan, at: Position):
        self._tape, self._axes, self._row, self._plan, self._at = tape, axes, row, plan, at
        begun = 1 <= at.traversal <= len(tape.traversals)
        self._traversal = tape.traversals[at.traversal - 1] if begun else None
        self._seeds = int(row.id == plan.root)
        self._edges = plan.arriving(row.id)
        self._delivered = plan.delivered(row.id, at.place, at.edges) if begun else 0

    def __len__(self) -> int:
        return self._seeds + len(self._edges)

    def at(self, i: int) -> Contribution:
        return self._seed() if i < self._seeds else self._sent(i)

    def _seed(self) -> Contribution:
        seed = None if self._traversal is None else self._axes.shown(self._row, self._traversal.seed)
        return Contribution(self._row.id, SEED, "the seed, where this traversal starts", seed, None)

    def _sent(self, i: int) -> Contribution:
        edge = self._edges[i - self._seeds]
        visit, slot = self._plan.sender(edge)
        is_pulled = self._traversal is not None and visit < len(self._traversal.records)
        is_delivered = is_pulled and i < self._delivered
        sent = self._traversal.contribution(edge) if self._traversal and is_delivered else None
        return Contribution(
            self._plan.order[visit],
            slot,
            self._words(i - self._seeds),
            None if sent is None else self._axes.shown(self._row, sent),
            visit + 1 if is_pulled else None,
            is_delivered and sent is None,
        )

    def _words(self, i: int) -> str:
        """The way it comes; the consumer's op is named where several come the same way, as of many some do."""
        if len(self._edges) > MANY:
            consumer = self._consumer(i)
            return f"{way(self._tape, self._row, consumer)}, {consumer.name}"
        return self._few_words[i]

    @cached_property
    def _few_words(self) -> list[str]:
        consumers = [self._consumer(i) for i in range(len(self._edges))]
        ways = [way(self._tape, self._row, consumer) for consumer in consumers]
        return [f"{w}, {c.name}" if ways.count(w) > 1 else w for w, c in zip(ways, consumers, strict=True)]

    def _consumer(self, i: int) -> Row:
        visit, _ = self._plan.sender(self._edges[i])
        return self._tape.rows[self._plan.order[visit]]


def _contributions(tape: Tape, axes: Axes, row: int, at: Position) -> Sequence[Contribution]:
    plan = tape.plan(at.traversal or 1)
    if plan is None or not tape.rows[row].tracked:
        return ()
    found = Contributions(tape, axes, tape.rows[row], plan, at)
    return found if len(found) > MANY else tuple(found)
