"""Commands that move the selection: what the panels show. They run nothing and leave the position alone."""

from bisect import bisect_left
from collections.abc import Sequence

from .health import health_of
from .numerals import shape_text
from .search import find_rows
from .session import Session, Work
from .slices import Slice
from .snapshot import CommandError, Health
from .timeline import counted
from .words import path_of

SORTED = 64  # producers up to which those that were computed come before those that were given


def select(session: Session, target: str) -> Work:
    row = yield from session.finding(target)
    _show(session, row)


def _show(session: Session, row: int, words: str = "") -> None:
    session.selection = row
    what = session.tape.rows[row]
    shape = shape_text(session.axes.shape(what))
    session.say(("▷ ", "text"), (path_of(session.tape, row), "bright"), (f"  {shape}{words}", "muted"))


def here(session: Session) -> None:
    """Back to the position."""
    _show(session, session.tape.row_at(session.position))


def select_next(session: Session, count: int = 1) -> None:
    _move(session, count)


def select_previous(session: Session, count: int = 1) -> None:
    _move(session, -count)


def _move(session: Session, by: int) -> None:
    """To another event's row, or to another node where there are no events; the ends hold."""
    stops = session.places.stops
    _show(session, stops[min(max(_beside(stops, session.selection, by), 0), len(stops) - 1)])


def _beside(rows: Sequence[int], row: int, by: int) -> int:
    """The index in sorted `rows`, `by` places from a row that may stand between two of them."""
    at = bisect_left(rows, row)
    is_between = at == len(rows) or rows[at] != row
    return at + by - (is_between and by > 0)


def producer(session: Session, count: int = 1) -> Work:
    """To what the selected row was computed from; where there are several, another one each time."""
    for done in range(count):
        row, pace = session.selection, Slice()
        sources = list(dict.fromkeys(session.tape.rows.inputs(row)))
        if len(sources) <= SORTED:
            sources.sort(key=lambda i: not _is_computed(session, i))
        if not sources:
            raise CommandError(f"{session.short(row)} was computed from nothing: it was given")
        _turn(session, "producer", row, sources)
        if pace.is_full():
            yield done, count


def _is_computed(session: Session, row: int) -> bool:
    return session.tape.rows.kind(row) != "leaf" or session.tape.rows.is_parameter(row)


def consumer(session: Session, count: int = 1) -> Work:
    """To what the selected row is used by; where there are several, another one each time."""
    for done in range(count):
        row, pace = session.selection, Slice()
        users = session.tape.rows.users(row)
        if not users:
            raise CommandError(f"{session.short(row)} is used by nothing")
        _turn(session, "consumer", row, users)
        if pace.is_full():
            yield done, count


def _turn(session: Session, way: str, row: int, choices: list[int]) -> None:
    turn = session.turns.get((way, row), 0)
    session.turns[way, row] = turn + 1
    i = turn % len(choices)
    many = f", {i + 1} of {len(choices)}" if len(choices) > 1 else ""
    _show(session, choices[i], f"  {way} of {session.short(row)}{many}")


def search(session: Session, pattern: str) -> Work:
    """Select the first match after the selection, and keep all of them for `match`."""
    session.matches = yield from find_rows(session.tape, pattern)
    if not session.matches:
        raise CommandError(f"nothing matches {pattern}; patterns go by segment, as in blocks.*.attn.softmax")
    _show_match(session, bisect_left(session.matches, session.selection) % len(session.matches))


def match_next(session: Session, count: int = 1) -> None:
    _to_match(session, count)


def match_previous(session: Session, count: int = 1) -> None:
    _to_match(session, -count)


def _to_match(session: Session, by: int) -> None:
    if not session.matches:
        raise CommandError("nothing was searched for yet; search PATTERN does")
    _show_match(session, _beside(session.matches, session.selection, by) % len(session.matches))


def _show_match(session: Session, i: int) -> None:
    _show(session, session.matches[i], f"  match {i + 1} of {len(session.matches)}")


def non_finite(session: Session) -> Work:
    """To the next row, in the order of the run, whose value or gradient holds a NaN or an unmasked Inf."""
    tape = session.tape
    order = [*tape.leaves, *tape.forward]
    start = order.index(session.selection) + 1 if session.selection in order else 0
    pace = Slice()
    for done, row in enumerate([*order[start:], *order[:start]], 1):
        for what, health in (("", tape.count_health(row)), (" in its gradient", _gradient_health(session, row))):
            if health is not None and (health.nan or health.inf):
                _show(session, row, f"  NaN {health.nan}, Inf {health.inf}{what}")
                return
        if pace.is_full(tape.rows.arrays[row].size):
            yield done, len(order)
    session.say(("every value and gradient here is finite", "text"))


def _gradient_health(session: Session, row: int) -> Health | None:
    gradient = session.tape.gradient(row, session.position)
    return None if gradient is None else health_of(gradient)


def where(session: Session) -> None:
    """Say where the position is."""
    tape, at = session.tape, session.position
    row = tape.rows[tape.row_at(at)]
    done, total = counted(tape, at)
    is_forward = at.traversal == 0
    phase = "▶ forward " if is_forward else f"◀ backward {at.traversal}  "
    facts = [f"{done}/{total}", path_of(tape, row.id)]
    if row.kind == "node":
        facts.append(f"node {row.number} of {tape.node_count}  {row.name}")
    if not is_forward:
        facts.append(f"visit {at.place + 1} of {tape.visit_count(at.traversal)}")
    facts.append(shape_text(session.axes.shape(row)))
    session.say((phase, "fwd" if is_forward else "bwd"), ("  ".join(facts), "text"))
