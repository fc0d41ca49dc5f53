"""Which named moment a position belongs to: the forward run counts events up, a traversal counts them down."""

from bisect import bisect_left

from .snapshot import Position, TapeView


def event_at(tape: TapeView, at: Position) -> int:
    """The order of the event that the position is in or on its way to; −1 where the run has no events."""
    if not tape.events:
        return -1
    if at.traversal == 0:
        return event_of(tape, tape.forward[at.place])
    visits = tape.visits(at.traversal)
    for place in range(min(at.place, len(visits) - 1), -1, -1):  # a leaf belongs to the node that reached it
        if tape.rows[visits[place]].kind == "node":
            return event_of(tape, visits[place])
    return len(tape.events) - 1


def event_of(tape: TapeView, row: int) -> int:
    """The order of the event that a forward row is, or works for."""
    at = bisect_left(tape.events, row, key=lambda event: event.row)
    return min(at, len(tape.events) - 1)


def counted(tape: TapeView, at: Position) -> tuple[int, int]:
    """`28/77` as (28, 77): events from 1, forward in the forward run and mirrored in a traversal.

    Where the run has no events, places or visits are counted instead.
    """
    if not tape.events:
        total = len(tape.forward) if at.traversal == 0 else tape.visit_count(at.traversal)
        return at.place + 1, total
    order, total = event_at(tape, at), len(tape.events)
    return (order + 1 if at.traversal == 0 else total - order), total
