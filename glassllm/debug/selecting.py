"""Commands that move the selection: what the panels show. They run nothing and leave the position alone."""

from .health import health_of
from .search import find_rows
from .session import Session, Work
from .snapshot import CommandError, Health
from .timeline import counted
from .words import path, shape_text


def select(session: Session, target: str) -> None:
    _show(session, session.find(target))


def _show(session: Session, row: int, words: str = "") -> None:
    session.selection = row
    what = session.tape.rows[row]
    shape = shape_text(session.axes.shape(what))
    session.say(("▷ ", "text"), (path(session.tape, what), "bright"), (f"  {shape}{words}", "muted"))


def here(session: Session) -> None:
    """Back to the position."""
    _show(session, session.tape.row_at(session.position))


def select_next(session: Session, count: int = 1) -> None:
    _move(session, count)


def select_previous(session: Session, count: int = 1) -> None:
    _move(session, -count)


def _move(session: Session, by: int) -> None:
    """To another event's row, or to another node where there are no events; the ends hold."""
    tape = session.tape
    stops = list(dict.fromkeys(event.row for event in tape.events)) or tape.forward
    before = sum(row < session.selection for row in stops)
    is_between = session.selection not in stops
    goal = before + by - (is_between and by > 0)
    _show(session, stops[min(max(goal, 0), len(stops) - 1)])


def producer(session: Session, count: int = 1) -> None:
    """To what the selected row was computed from; where there are several, another one each time."""
    for _ in range(count):
        row = session.tape.rows[session.selection]
        sources = sorted(dict.fromkeys(row.inputs), key=lambda i: not _is_computed(session, i))
        if not sources:
            raise CommandError(f"{session.short(row.id)} was computed from nothing: it was given")
        _turn(session, "producer", row.id, sources)


def _is_computed(session: Session, row: int) -> bool:
    return session.tape.rows[row].kind != "leaf" or session.tape.rows[row].parameter


def consumer(session: Session, count: int = 1) -> None:
    """To what the selected row is used by; where there are several, another one each time."""
    for _ in range(count):
        row = session.selection
        users = list(dict.fromkeys(consumer for consumer, _ in session.tape.consumers(row)))
        if not users:
            raise CommandError(f"{session.short(row)} is used by nothing")
        _turn(session, "consumer", row, users)


def _turn(session: Session, way: str, row: int, choices: list[int]) -> None:
    turn = session.turns.get((way, row), 0)
    session.turns[way, row] = turn + 1
    i = turn % len(choices)
    many = f", {i + 1} of {len(choices)}" if len(choices) > 1 else ""
    _show(session, choices[i], f"  {way} of {session.short(row)}{many}")


def search(session: Session, pattern: str) -> None:
    """Select the first match after the selection, and keep all of them for `match`."""
    session.matches = find_rows(session.tape, pattern)
    if not session.matches:
        raise CommandError(f"nothing matches {pattern}; patterns go by segment, as in blocks.*.attn.softmax")
    at = next((i for i, row in enumerate(session.matches) if row >= session.selection), 0)
    _show_match(session, at)


def match_next(session: Session, count: int = 1) -> None:
    _to_match(session, count)


def match_previous(session: Session, count: int = 1) -> None:
    _to_match(session, -count)


def _to_match(session: Session, by: int) -> None:
    if not session.matches:
        raise CommandError("nothing was searched for yet; search PATTERN does")
    before = sum(row < session.selection for row in session.matches)
    is_between = session.selection not in session.matches
    _show_match(session, (before + by - (is_between and by > 0)) % len(session.matches))


def _show_match(session: Session, i: int) -> None:
    _show(session, session.matches[i], f"  match {i + 1} of {len(session.matches)}")


def non_finite(session: Session) -> Work:
    """To the next row, in the order of the run, whose value or gradient holds a NaN or an unmasked Inf."""
    tape = session.tape
    order = [*tape.leaves, *tape.forward]
    start = order.index(session.selection) + 1 if session.selection in order else 0
    for done, row in enumerate([*order[start:], *order[:start]], 1):
        for what, health in (("", tape.count_health(row)), (" in its gradient", _gradient_health(session, row))):
            if health is not None and (health.nan or health.inf):
                _show(session, row, f"  NaN {health.nan}, Inf {health.inf}{what}")
                return
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
    facts = [f"{done}/{total}", path(tape, row)]
    if row.kind == "node":
        facts.append(f"node {row.number} of {tape.node_count}  {row.name}")
    if not is_forward:
        facts.append(f"visit {at.place + 1} of {tape.visit_count(at.traversal)}")
    facts.append(shape_text(session.axes.shape(row)))
    session.say((phase, "fwd" if is_forward else "bwd"), ("  ".join(facts), "text"))
