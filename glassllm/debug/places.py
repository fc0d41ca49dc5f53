"""Arithmetic of positions: what comes next, an event or a block later, or where a row is current again.

Nothing is computed here: the order of places and contributions is known before a traversal begins.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache

from .plan import Plan
from .snapshot import Position
from .tape import Tape


class Phase:
    """The forward run or one traversal: its places in order, each with the row that is current there."""

    def __init__(self, tape: Tape, plan: Plan | None):
        self.plan = plan
        self.rows: Sequence[int] = tape.forward if plan is None else plan.order
        self._tape = tape

    def __len__(self) -> int:
        return len(self.rows)

    def edges(self, place: int) -> int:
        """How many contributions the visit sends; 0 in the forward run."""
        return 0 if self.plan is None else self.plan.sends(place)

    def place_of(self, row: int) -> int | None:
        if self.plan is not None:
            return self.plan.visit_of(row)
        place = self._tape.forward_place[row]
        return None if place < 0 else place

    @cached_property
    def events(self) -> Sequence[int]:
        """The places an event-step stops at: those of events, or all in a run without any."""
        if not self._tape.events:
            return range(len(self.rows))
        events = self._tape.rows.events
        return [place for place, row in enumerate(self.rows) if events[row] >= 0]

    @cached_property
    def starts(self) -> list[int]:
        """The first place of each block, and of each part between blocks."""
        scopes = self._tape.rows.scopes
        blocks = [block_of(scopes[row]) for row in self.rows]
        return [i for i in range(len(blocks)) if i == 0 or blocks[i] != blocks[i - 1]]


@lru_cache(4096)
def block_of(scope: str) -> str:
    """`blocks.1` of `blocks.1.attn.q`: the path up to its first number; empty where there is none."""
    parts = scope.split(".")
    numbered = next((i for i, part in enumerate(parts) if part.isdecimal()), -1)
    return ".".join(parts[: numbered + 1])


class Places:
    """The timeline of one tape: the forward run, then its traversals; ahead of the first, the one by default."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self._phases: dict[Plan | None, Phase] = {}

    def phase(self, traversal: int) -> Phase:
        plan = self.tape.plan(traversal)
        if plan not in self._phases:
            self._phases[plan] = Phase(self.tape, plan)
        return self._phases[plan]

    @property
    def _last_traversal(self) -> int:
        """The last there is, or would be by stepping on."""
        return len(self.tape.traversals) or (self.tape.default_plan is not None)

    def whole(self, traversal: int, place: int) -> Position:
        """A place with all of its contributions delivered."""
        return Position(traversal, place, self.phase(traversal).edges(place))

    @cached_property
    def stops(self) -> Sequence[int]:
        """The rows that one moves through event by event, sorted: those of events, or all nodes without any."""
        return sorted({event.row for event in self.tape.events}) or self.tape.forward

    # The ends

    @property
    def first(self) -> Position:
        return Position(0, 0)

    @property
    def last(self) -> Position:
        """The end of the last traversal there is, else of the forward run."""
        return self.end(len(self.tape.traversals))

    def end(self, traversal: int) -> Position:
        return self.whole(traversal, len(self.phase(traversal)) - 1)

    def next_end(self, at: Position) -> Position | None:
        """The end of this phase, or of the next where `at` is at the end already."""
        if at < self.end(at.traversal):
            return self.end(at.traversal)
        return self.end(at.traversal + 1) if at.traversal < self._last_traversal else None

    def previous_start(self, at: Position) -> Position | None:
        """The start of this phase, or of the one before where `at` is at the start already."""
        if at > self.whole(at.traversal, 0):
            return self.whole(at.traversal, 0)
        return self.whole(at.traversal - 1, 0) if at.traversal else None

    # One place, one contribution

    def after(self, at: Position) -> Position | None:
        """All of this visit if some of it is still to come, else the next place."""
        if at < self.whole(at.traversal, at.place):
            return self.whole(at.traversal, at.place)
        if at.place + 1 < len(self.phase(at.traversal)):
            return self.whole(at.traversal, at.place + 1)
        return self.whole(at.traversal + 1, 0) if at.traversal < self._last_traversal else None

    def before(self, at: Position) -> Position | None:
        if at.place:
            return self.whole(at.traversal, at.place - 1)
        return self.end(at.traversal - 1) if at.traversal else None

    def after_edge(self, at: Position) -> Position | None:
        if at < self.whole(at.traversal, at.place):
            return Position(at.traversal, at.place, at.edges + 1)
        following = self.after(at)
        return following and Position(following.traversal, following.place, min(following.edges, 1))

    def before_edge(self, at: Position) -> Position | None:
        return Position(at.traversal, at.place, at.edges - 1) if at.edges > 1 else self.before(at)

    # Events and blocks

    def next_event(self, at: Position) -> Position | None:
        for traversal in range(at.traversal, self._last_traversal + 1):
            events = self.phase(traversal).events
            i = bisect_right(events, at.place) if traversal == at.traversal else 0
            if i < len(events):
                return self.whole(traversal, events[i])
        return self._unless_there(self.end(self._last_traversal), at)

    def previous_event(self, at: Position) -> Position | None:
        for traversal in range(at.traversal, -1, -1):
            events = self.phase(traversal).events
            i = bisect_left(events, at.place) if traversal == at.traversal else len(events)
            if i > 0:
                return self.whole(traversal, events[i - 1])
        return self._unless_there(self.first, at)

    def block_end(self, at: Position) -> Position | None:
        """The last place of this block, or of the next where `at` is there already."""
        following = at if at < self.whole(at.traversal, at.place) else self.after(at)
        if following is None:
            return None
        phase = self.phase(following.traversal)
        i = bisect_right(phase.starts, following.place)
        end = phase.starts[i] if i < len(phase.starts) else len(phase)
        return self.whole(following.traversal, end - 1)

    def block_start(self, at: Position) -> Position | None:
        """The first place of this block, or of the one before where `at` is there already."""
        earlier = self.before(at)
        if earlier is None:
            return None
        starts = self.phase(earlier.traversal).starts
        return self.whole(earlier.traversal, starts[bisect_right(starts, earlier.place) - 1])

    # Rows

    def next_of(self, row: int, at: Position) -> Position | None:
        """Where the row is current next."""
        return next((p for p in self._moments(row, at.traversal, self._last_traversal) if p > at), None)

    def previous_of(self, row: int, at: Position) -> Position | None:
        """Where the row was current last."""
        return next((p for p in self._moments(row, 0, at.traversal)[::-1] if p < at), None)

    def _moments(self, row: int, first: int, last: int) -> list[Position]:
        places = [(t, self.phase(t).place_of(row)) for t in range(first, last + 1)]
        return [self.whole(t, place) for t, place in places if place is not None]

    @staticmethod
    def _unless_there(goal: Position, at: Position) -> Position | None:
        return None if goal == at else goal
