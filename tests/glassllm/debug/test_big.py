"""Large recordings: what a command does, counted in lines of Python, does not grow with them; long work is cut."""

import numpy as np
import pytest

from glassllm.debug.commands import perform, run
from glassllm.debug.recorder import record
from glassllm.debug.session import Session, drain
from glassllm.debug.slices import finished
from glassllm.debug.traversal import SUMMED
from tests.large import LARGE, SMALL, Lines, fan, lines_of, mixed


def session_of(make, nodes, before=()):
    with record() as tape:
        make(nodes)
    session = Session.of(tape)
    drain(session.preparing())
    session.snapshot()
    for line in before:
        run(session, line)
    return session


FORWARD = (
    "next", "step", "5 step", "previous", "step-back", "run-to #40", "run-back-to #2", "first", "select #50",
    "select 30", "select-next", "select-previous", "producer", "consumer", "where", "here", "match", "match-back",
    "continue", "continue-back", "visited-back",
)  # fmt: skip
BACKWARD = (
    "step", "step-back", "contribution", "contribution-back", "next", "previous", "select #0", "select #50",
    "consumer", "where", "here", "zero-grad",
)  # fmt: skip
STARTS = {"forward": ["5 next", "search a"], "backward": ["continue", "step", "3 step"]}


@pytest.mark.parametrize("make", [mixed, fan])
@pytest.mark.parametrize(
    ("phase", "line"), [*(("forward", line) for line in FORWARD), *(("backward", line) for line in BACKWARD)]
)
def test_what_a_command_does_does_not_grow_with_the_recording(make, phase, line):
    counts = []
    for nodes in (SMALL, LARGE):
        session = session_of(make, nodes, STARTS[phase])
        run(session, "where")
        counts.append(lines_of(lambda session=session: run(session, line)))
    assert counts[1] <= 1.2 * counts[0] + 300, f"{counts} lines"


@pytest.mark.parametrize("selection", ["#0", "#1", "#2", "#99"])
def test_a_snapshot_costs_the_same_however_much_is_recorded(selection):
    counts = []
    for nodes in (SMALL, LARGE):
        session = session_of(mixed, nodes, ["last", "continue 2", f"select {selection}"])
        session.snapshot()
        counts.append(lines_of(session.snapshot))
    assert counts[1] <= 1.2 * counts[0] + 300, f"{counts} lines"


LONG = ("continue 2", "search add", "search a*", "select nothing", "non-finite", "99999 step", "backward #9")
MOST = 40_000  # lines of Python in one slice; they take some milliseconds


@pytest.mark.parametrize("line", LONG)
def test_long_work_is_cut_into_short_slices(line):
    session = session_of(mixed, LARGE, ["continue"] if line == "non-finite" else [])
    work = perform(session, line)
    with Lines() as lines:
        for _ in slices_of(work):
            lines.mark()
    assert len(lines.counts) > 3
    assert max(lines.counts) < MOST


def slices_of(work):
    """What it yields; where it ends with what cannot be done, that is its end."""
    try:
        yield from work
    except ValueError:
        return


def test_opening_says_how_far_it_is():
    told = []
    work = Session.opening(mixed(LARGE))
    with pytest.raises(StopIteration) as end:
        while True:
            told.append(next(work))
    assert len(told) > 10
    assert [what for _, _, what in told] == ["recording"] * len(told)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][0] < told[-1][1] == end.value.value.tape.node_count
    plans = list(end.value.value.preparing())
    assert plans and plans[-1][0] < plans[-1][1]


# What is kept as numbers says the same


def test_rows_are_what_was_appended():
    with record() as tape:
        mixed(40)
    listed = list(tape.rows)
    assert [tape.rows[i].id for i in range(len(tape.rows))] == [row.id for row in listed]
    assert tape.rows[-1].id == len(tape.rows) - 1
    assert [row.id for row in tape.rows[3:6]] == [3, 4, 5]
    with pytest.raises(IndexError):
        tape.rows[len(tape.rows)]
    for row in listed:
        uses = [(user.id, slot) for user in listed for slot, source in enumerate(user.inputs) if source == row.id]
        assert list(tape.consumers(row.id)) == uses
        assert tape.rows.users(row.id) == sorted({user for user, _ in uses})


def test_a_sum_of_many_contributions_is_the_traversals_own_at_every_moment():
    session = session_of(mixed, 30 * SUMMED, ["last", "continue 2"])
    tape = session.tape
    traversal, weight = tape.traversals[0], max(tape.leaves, key=lambda row: len(tape.consumers(row)))
    total = None
    for k, edge in enumerate(traversal.plan.arriving(weight), 1):
        sent = traversal.contribution(edge)
        total = sent if total is None else total + sent
        assert np.array_equal(traversal.gradient(weight, k), total), k
    assert k > 2 * SUMMED


def test_a_first_step_back_walks_in_the_graphs_own_order():
    with record() as tape:
        mixed(100)
    root = tape.default_root
    plan = finished(tape.planning(root))
    traversal = tape.begin(root)
    while not traversal.is_finished:
        traversal.pull()  # compares each visit with the plan's
    assert list(traversal.records.rows) == list(plan.order)
    for row in range(len(tape.rows)):
        assert plan.edge_count(row) == len(plan.arriving(row)) + (row == root)


def test_statistics_are_kept_as_they_were_counted():
    session = session_of(mixed, 40)
    counted = [session.tape.count_health(row) for row in range(len(session.tape.rows))]
    assert [session.tape.health(row) for row in range(len(session.tape.rows))] == counted
