"""The machine: moving forward and back, through events, nodes and contributions."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassllm import Config, GlassLM, Tensor
from glassllm.autograd import softmax
from glassllm.debug.commands import run
from glassllm.debug.recorder import record
from glassllm.debug.session import Session, drain
from glassllm.debug.snapshot import CommandError, Position

SMALL = Config(vocab_size=11, d_model=4, n_layers=1, n_heads=2, n_kv_heads=1, max_len=4)
MOVES = ["step", "step-back", "contribution", "contribution-back", "next", "previous", "finish", "finish-back"]
moves = st.lists(st.tuples(st.sampled_from(MOVES), st.integers(1, 4)), max_size=12)


def said(snapshot):
    return "".join(text for text, _ in snapshot.said)


def seen(session):
    """All that can be seen of a session, gradients of every row included."""
    snapshot = session.snapshot()
    tape, at, focus = session.tape, session.position, snapshot.focus
    rows = range(len(tape.rows))
    gradients = [tape.gradient(row, at) for row in rows]
    return (
        at,
        snapshot.current,
        snapshot.selection,
        said(snapshot),
        [tape.gradient_state(row, at) for row in rows],
        [tape.is_recorded(row, at) for row in rows],
        [None if g is None else g.tobytes() for g in gradients],
        [tape.gradient_norm(row, at) for row in tape.leaves],
        (focus.title, focus.axes, focus.state, focus.value.tobytes(), focus.is_current, focus.recorded),
        [(c.consumer, c.slot, c.words, c.array is None) for c in focus.contributions],
        snapshot.value_health,
        snapshot.gradient_health,
    )


@pytest.fixture(scope="module")
def small():
    """A session that hypothesis may go on using: nothing it sees depends on how it came to its position."""
    return Session.open(GlassLM(SMALL, seed=2), ids=[1, 2, 3])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves)
def test_what_is_seen_depends_on_the_position_alone(small, made):
    run(small, "first")
    for name, count in made:
        run(small, f"{name} {count}")
    fresh = Session.open(GlassLM(SMALL, seed=2), ids=[1, 2, 3])
    drain(fresh.go(small.position))
    drain(small.go(small.position))
    assert seen(small) == seen(fresh)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["step", "contribution"]), st.integers(0, 200), st.integers(0, 60), st.integers(0, 60))
def test_n_steps_and_m_back_are_n_less_m(small, kind, start, n, m):
    m = min(m, n)
    places = [small.places.first]
    forward = small.places.after if kind == "step" else small.places.after_edge
    while (following := forward(places[-1])) is not None:
        places.append(following)
    start = min(start, len(places) - 1 - n)
    drain(small.go(places[start]))
    for name, count in ((kind, n), (f"{kind}-back", m)):
        if count:
            run(small, f"{name} {count}")
    back = seen(small)
    drain(small.go(places[start + n - m]))
    assert back == seen(small)


def test_stepped_to_the_end_gradients_equal_backward(model):
    session = Session.open(model, ids=[3, 1, 4, 1, 5])
    while session.places.after_edge(session.position) is not None:
        run(session, "contribution")
    got = {
        session.tape.rows[row].name: session.tape.gradient(row, session.position) for row in session.tape.leaves
    }
    with record():
        loss = model.loss([3, 1, 4, 1], [1, 4, 1, 5])
    loss.backward()
    for name, parameter in model.named_parameters().items():
        assert np.array_equal(got[name], parameter.grad), name


def test_intermediates_equal_backward_where_somebody_holds_them(leaf):
    a = leaf * 2
    b = a * a
    session = Session.of(b + a)
    run(session, "continue 2")
    (b + a).backward()
    for tensor in (a, b):
        row = session.tape.row_of[tensor.node]
        assert np.array_equal(session.tape.gradient(row, session.position), tensor.grad)


def test_a_session_half_stepped_has_changed_nothing(model):
    before = {name: p.data.copy() for name, p in model.named_parameters().items()}
    session = Session.open(model, ids=[3, 1, 4, 1, 5])
    run(session, "continue")
    run(session, "step 40")
    assert session.position.traversal == 1
    for name, parameter in model.named_parameters().items():
        assert parameter.grad is None
        assert np.array_equal(parameter.data, before[name])
        assert parameter.data.flags.writeable


def test_the_shared_embedding_has_two_contributions(session):
    run(session, "continue 2")
    run(session, "select E")
    focus = session.snapshot().focus
    assert [(c.words, c.array is None) for c in focus.contributions] == [("output", False), ("lookup", False)]
    assert focus.state.is_final
    output, lookup = (c.array for c in focus.contributions)
    assert np.array_equal(focus.gradient, output + lookup)
    assert [axis.name for axis in focus.axes] == ["vocabulary", "channel"]


def test_a_part_of_a_sum_is_its_prefix(session):
    run(session, "continue")
    run(session, "step 4")
    run(session, "select E")
    focus = session.snapshot().focus
    assert (focus.state.delivered, focus.state.edges) == (1, 2)
    output, lookup = focus.contributions
    assert (output.array is focus.gradient) or np.array_equal(output.array, focus.gradient)
    assert (lookup.array, lookup.visit) == (None, None)


@pytest.mark.parametrize("event", ["resid.attn", "resid.ffn"])
def test_the_stream_gets_a_contribution_by_every_edge(session, event):
    run(session, "continue 2")
    run(session, f"select blocks.0.{event}")
    focus = session.snapshot().focus
    assert len(focus.contributions) == len(session.tape.consumers(focus.row.id)) == focus.state.edges
    norm = "norm.ffn" if event == "resid.attn" else "norm.attn"
    by_norm = [f"through {norm}, {op}" for op in ("div", "mul", "mul")]
    assert [c.words for c in focus.contributions] == ["skip path, × 1", *by_norm]
    total = focus.contributions[0].array
    for contribution in focus.contributions[1:]:
        total = total + contribution.array
    assert np.array_equal(total, focus.gradient)


def test_the_root_shows_its_seed(session):
    run(session, "continue")
    state = session.snapshot().tape.gradient_state(session.tape.default_root, session.position)
    assert (state.delivered, state.edges) == (0, 1)
    focus = run(session, "step").focus
    assert (focus.row.name, focus.state.is_final) == ("cross_entropy", True)
    assert [c.words for c in focus.contributions] == ["the seed, where this traversal starts"]
    assert focus.gradient == 1


def test_events_are_walked_both_ways(session):
    titles = [session.snapshot().focus.title]
    while session.position.traversal == 0:
        titles.append(run(session, "next").focus.title)
    assert titles[:3] == ["embed", "blocks.0 · norm.attn", "blocks.0 · attn.q"]
    assert titles[-3:] == ["loss", "loss.grad", "loss"]
    assert len(titles) == 41 + 1
    while titles[-1] != "embed":
        titles.append(run(session, "next").focus.title)
    assert len(titles) == 2 * 41 - 1  # loss.grad has no visit
    assert run(session, "next").focus.title == "E"
    back = [run(session, "previous").focus.title for _ in titles]
    assert back == titles[::-1]
    assert "this is the start" in said(run(session, "previous"))


def test_blocks_and_phases(session):
    where = [run(session, "finish").focus.title for _ in range(6)]
    assert where[:3] == ["blocks.0 · resid.ffn", "blocks.1 · resid.ffn", "loss.grad"]
    assert where[3:] == ["norm.final · mul", "blocks.1 · norm.attn · mul", "blocks.0 · norm.attn · mul"]
    assert session.position.traversal == 1
    assert run(session, "continue-back").position == Position(1, 0, 1)
    assert run(session, "continue-back").position == Position(0, 0)
    assert run(session, "continue").focus.title == "loss.grad"
    assert run(session, "finish-back").focus.title == "norm.final · mul"
    assert run(session, "finish-back").focus.title == "blocks.1 · norm.attn · mul"


def test_first_and_last(session):
    assert run(session, "last").position == session.places.end(0)
    run(session, "step")
    run(session, "first")
    assert run(session, "last").position == session.places.end(1)


def test_running_to_a_row_and_back(session):
    attn = run(session, "run-to blocks.1.attn.softmax").position
    assert session.snapshot().focus.is_current
    back = run(session, "run-to blocks.0.attn.mix").position
    assert (attn.traversal, back.traversal) == (0, 1)
    assert run(session, "run-back-to blocks.1.attn.softmax").position > attn
    assert run(session, "run-back-to blocks.1.attn.softmax").position == attn
    with pytest.raises(CommandError, match="run-to"):
        run(session, "run-back-to blocks.1.attn.softmax")
    run(session, "continue 2")
    with pytest.raises(CommandError, match="run-back-to"):
        run(session, "run-to blocks.1.attn.softmax")


def test_running_to_the_selection(session):
    run(session, "select logits")
    assert run(session, "run-to").focus.title == "logits"


def test_visited_places(session):
    for line in ("run-to blocks.1.attn.q", "step", "last"):
        run(session, line)
    stepped = session.places.after(session.places.next_of(session.find("blocks.1.attn.q"), Position(0, 0)))
    assert run(session, "visited-back").position == stepped
    assert run(session, "visited-back").position == Position(0, 0)
    with pytest.raises(CommandError, match="before"):
        run(session, "visited-back")
    assert run(session, "visited-forward 2").position == session.places.end(0)
    with pytest.raises(CommandError, match="after"):
        run(session, "visited-forward")


def test_a_move_abandoned_midway_stays_where_it_came_to(session, thin):
    run(session, "continue")
    work = session.proceed()
    for _ in range(5):
        done, total = next(work)
    work.close()
    assert (done, total) == (5, len(session.places.phase(1)))
    assert session.position == session.places.whole(1, 4)
    assert run(session, "visited-back").position == session.places.end(0)


def test_without_a_graph_time_ends_with_the_run(model):
    session = Session.open(model, ids=[1, 2, 3], tracked=False)
    end = run(session, "last").position
    after = run(session, "step")
    assert after.position == end
    assert "no_grad off" in said(after)
    assert not after.run.tracked
    assert not after.focus.state.takes
    with pytest.raises(CommandError, match="no_grad off"):
        run(session, "backward")


def test_a_graph_without_events_is_walked_by_nodes():
    x = Tensor(np.array([[0.5, 1.5]]), requires_grad=True)
    session = Session.of(softmax(x * 2).sum(), names={"x": x})
    names = [session.snapshot().focus.row.name]
    for _ in range(6):
        names.append(run(session, "next").focus.row.name)
    assert names == ["mul", "softmax", "tsum", "tsum", "softmax", "mul", "x"]
    focus = session.snapshot().focus
    assert [axis.name for axis in focus.axes] == ["axis 0", "axis 1"]
    assert (focus.value.shape, focus.gradient.dtype) == ((1, 2), np.float64)
    with pytest.raises(CommandError, match="run the program again"):
        run(session, "rerun")


def test_where_nothing_takes_a_gradient_time_ends_too():
    session = Session.of(recorded_constant())
    assert "nothing here takes a gradient" in said(run(session, "step"))


def recorded_constant():
    with record() as tape:
        Tensor(np.ones(2)) * 2
    return tape


def test_nothing_recorded_is_refused():
    with record() as tape:
        pass
    with pytest.raises(CommandError, match="nothing was recorded"):
        Session.of(tape)


def test_statistics_are_counted_row_by_row(session, thin):
    assert session.tape.health(5) is None
    work = session.statistics(first=[5])
    assert next(work) == (1, len(session.tape.rows))
    assert session.tape.health(5) is not None
    drain(work)
    assert all(session.tape.health(row.id) for row in session.tape.rows)


def test_a_snapshot_stays_as_it_was(session):
    run(session, "continue")
    before = run(session, "step 3")
    state = before.tape.gradient_state(0, before.position)
    run(session, "continue")
    assert before.tape.gradient_state(0, before.position) == state
    assert before.version < session.snapshot().version


LINES = [
    ("first", "▶ embed  4×8 computed from E"),
    ("run-to blocks.1.attn.softmax", "▶ attn.softmax  4×4×4 computed from attn.mask"),
    ("run-to blocks.1.attn.out", "▶ attn.out  4×8 computed from attn.out reshape and attn.W_O"),
    ("run-to loss.grad", "▶ loss.grad  4×17 noted by the model"),
    ("next", "◀ backward  loss sent its contribution to loss reshape ● 1/1 final"),
    ("run-to blocks.1.norm.ffn", None),
    ("contribution-back", None),
]


def test_what_is_said(session):
    for line, expected in LINES:
        snapshot = run(session, line)
        if expected:
            assert said(snapshot) == expected
    assert "is next" in said(run(session, "run-back-to blocks.1.ffn.up"))
    assert said(run(session, "last")).startswith("◀ backward  ")
    run(session, "continue")
    assert said(run(session, "last")) == "◀ backward  E ● 2/2 final: the sum of its 2 contributions"
