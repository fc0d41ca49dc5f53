from contextlib import nullcontext

import numpy as np
import pytest

from glassllm import Tensor, no_grad
from glassllm.autograd import concat, op, reshape
from glassllm.autograd import tensor as engine
from glassllm.debug import kept
from glassllm.debug.recorder import record, tape_of
from glassllm.debug.session import Session, drain
from glassllm.trace import mark, scope


class Listener:
    """A hook that notes what it hears, and cancels at an op if told to."""

    def __init__(self, cancels=False):
        self.heard = []
        self.cancels = cancels

    def applied(self, op, inputs, attrs, saved, result):
        if self.cancels:
            raise KeyboardInterrupt
        self.heard.append(op.name)

    def marked(self, step_id, value, layer):
        self.heard.append(step_id)


def names(tape, kind):
    return [row.name for row in tape.rows if row.kind == kind]


def test_rows_of_a_small_graph(leaf):
    with record({"x": leaf}) as tape:
        y = leaf * leaf + leaf * 2
    assert [(row.kind, row.name) for row in tape.rows] == [
        ("leaf", "x"),
        ("node", "mul"),
        ("leaf", "mul.b"),
        ("node", "mul"),
        ("node", "add"),
    ]
    assert [tape.rows[row].number for row in tape.forward] == [1, 2, 3]
    assert [row.inputs for row in tape.rows] == [(), (0, 0), (), (0, 2), (1, 3)]
    assert tape.leaves == [0]
    assert list(tape.consumers(0)) == [(1, 0), (1, 1), (3, 0)]
    assert tape.rows[-1].array is y.data
    assert [row.tracked for row in tape.rows] == [True, True, False, True, True]
    assert [row.parameter for row in tape.rows] == [True, False, False, False, False]


def test_the_model_is_recorded_event_by_event(model):
    with record(model.named_parameters()) as tape:
        model.loss([1, 2, 3], [2, 3, 4])
    assert len(tape.events) == 1 + 2 * 18 + 2 + 2
    assert [tape.rows[row].name for row in tape.leaves] == list(model.named_parameters())
    for event in tape.events:
        row = tape.rows[event.row]
        assert row.event == event.order
        assert row.scope == event.path
        assert row.kind == ("note" if event.step == "loss.grad" else "node")
    rows = [tape.rows[row].id for row in tape.forward]
    assert rows == sorted(rows)
    assert {row.scope for row in tape.rows} <= {event.path for event in tape.events}


def test_nodes_belong_to_the_next_event_and_the_rest_to_the_last(leaf):
    with record() as tape:
        a = leaf * 2
        mark("embed", a + 1)
        mark("logits", a * a)
        a * 3
    scopes = [tape.rows[row].scope for row in tape.forward]
    assert scopes == ["embed", "embed", "logits", "logits"]


def test_notes_follow_the_node_before_them(leaf):
    with record() as tape:
        mark("embed", leaf * 2)
        mark("probs", np.ones(3))
        leaf * 3
    kinds = [(tape.rows[row].kind, tape.rows[row].name) for row in tape.forward]
    assert kinds == [("node", "mul"), ("note", "probs"), ("node", "mul")]
    assert tape.rows[tape.forward[1]].number == 0


def test_an_event_on_a_leaf_is_a_note(leaf):
    with record() as tape:
        mark("embed", leaf)
    assert (tape.rows[0].kind, tape.rows[0].name) == ("note", "embed")


def test_users_scopes_name_nodes_without_events(leaf):
    with record() as tape, scope("layers"), scope("0"):
        leaf * 2
    assert tape.rows[tape.forward[0]].scope == "layers.0"


def test_without_a_graph_the_same_rows_are_not_tracked(model):
    with record(model.named_parameters()) as tracked:
        model.loss([1, 2], [2, 3])
    with no_grad(), record(model.named_parameters()) as untracked:
        model.loss([1, 2], [2, 3])
    same = [(row.kind, row.name, row.scope, row.inputs, row.event) for row in tracked.rows]
    assert [(row.kind, row.name, row.scope, row.inputs, row.event) for row in untracked.rows] == same
    assert not any(row.tracked for row in untracked.rows)
    assert (untracked.leaves, untracked.default_root) == ([], None)


def test_what_the_engine_made_is_frozen_what_users_made_is_not(leaf):
    theirs = np.ones(2)
    with record() as tape:
        y = leaf * Tensor(theirs)
        reshape(leaf, (2, 1))
    assert not y.data.flags.writeable
    theirs[0] = 7
    leaf.data[0] = 9
    assert tape.rows[0].array[0] == 3
    assert tape.rows[1].array[0] == 1
    assert tape.rows[3].array[0, 0] == 3, "a view of a leaf is kept as it was"
    assert [tape.kept.staleness(row) for row in range(4)] == ["since", "since", "", "since"]


@op
def hand_through(x):
    return x


@hand_through.rule
def _(g, y, x):
    return (g,)


def test_an_input_handed_through_is_not_frozen(leaf):
    with record() as tape:
        hand_through(leaf)
    leaf.data[0] = 5
    assert tape.rows[1].array[0] == 3


def test_what_is_built_by_hand_is_a_users_array(leaf):
    made = np.ones(2)
    with record() as tape:
        Tensor(made, (leaf,), lambda g: (g,))
    made[0] = 2
    assert tape.rows[1].name == "custom"
    assert tape.rows[1].array[0] == 1


def test_beyond_the_limit_leaves_are_checksummed():
    keeper = kept.Kept(copied_bytes=100)
    small, large = np.zeros(10), np.zeros(50)
    assert keeper.of_user(0, small) is not small
    assert keeper.of_user(1, large) is large
    assert keeper.staleness(1) == ""
    large[3] = 1
    assert keeper.staleness(1) == "lost"


def written_between(leaf, write):
    """The tape of x·x, and of x·x once more after the write."""
    with record({"x": leaf}) as tape:
        leaf * leaf
        write(leaf)
        leaf * leaf
    return tape


def write_in_place(tensor):
    tensor.data[:] = 99


def put_another(tensor):
    tensor.data = np.full(2, 99.0)


@pytest.mark.parametrize("write", [write_in_place, put_another])
@pytest.mark.parametrize("tracked", [True, False])
def test_an_op_s_inputs_are_the_arrays_it_took(leaf, write, tracked):
    with nullcontext() if tracked else no_grad():
        tape = written_between(leaf, write)
    first, second = tape.forward
    assert [array.tolist() for array in tape.inputs(first)] == [[3, -2]] * 2
    assert [array.tolist() for array in tape.inputs(second)] == [[99, 99]] * 2
    assert (tape.rows[0].array.tolist(), tape.kept.staleness(0)) == ([3, -2], "between")


def test_two_tensors_of_one_array_are_no_write():
    shared = np.ones(2)
    with record() as tape:
        Tensor(shared, requires_grad=True) * Tensor(shared)
    assert (tape.used, tape.kept.rewritten) == ({}, set())


def test_nan_is_not_stale():
    keeper = kept.Kept()
    keeper.of_user(0, np.array([np.nan, 1.0]))
    assert keeper.staleness(0) == ""


def test_the_outer_hook_hears_everything_first(leaf, hooked):
    with hooked(Listener()) as outer:
        with record() as tape:
            mark("embed", leaf * 2)
        assert engine.hook is outer
    assert outer.heard == ["mul", "embed"]
    assert len(tape.forward) == 1


def test_the_outer_hook_may_cancel(leaf, hooked):
    outer = Listener(cancels=True)
    with hooked(outer):
        with pytest.raises(KeyboardInterrupt), record() as tape:
            leaf * 2
        assert engine.hook is outer
    assert not tape.rows


def test_an_exception_leaves_the_engine_at_rest_and_the_tape_complete(leaf):
    with pytest.raises(ZeroDivisionError), record() as tape:
        _ = 1 / len(leaf * 2) + 1 // 0
    assert tape.leaves == [0]


def test_what_was_made_before_is_adopted(leaf):
    before = leaf * 2
    with record() as tape:
        concat([before, before * before])
    assert names(tape, "node") == ["mul", "mul", "concat"]
    assert tape.leaves == [0]


def test_a_graph_that_exists_is_a_tape(leaf):
    half = np.array(0.5)
    tape = tape_of((leaf * half + leaf * half).sum(), {"x": leaf})
    assert names(tape, "node") == ["mul", "mul", "add", "tsum"]
    assert names(tape, "leaf") == ["x", "mul.b"]
    with pytest.raises(ValueError, match="no graph"):
        tape_of(leaf)


def test_a_long_chain_is_adopted_without_recursion(leaf):
    y = leaf
    for _ in range(5000):
        y = y + 1
    assert len(tape_of(y).forward) == 5000


def test_traversals_run_on_what_was_recorded_whatever_is_written_later(leaf):
    with record({"x": leaf}) as tape:
        (leaf * leaf * 2).sum()
    leaf.data[:] = 100
    session = Session.of(tape)
    for _ in range(2):
        drain(session.proceed())
    assert tape.gradient(tape.leaves[0], session.position).tolist() == [12, -8]
    assert tape.kept.staleness(tape.leaves[0]) == "since"


@pytest.mark.parametrize("given", [list, tuple, set, lambda x: x[0], lambda x: {0: x[0]}, lambda x: {"x": 3.0}])
def test_what_names_nothing_is_refused_by_a_line_that_says_what_to_give(leaf, given):
    x, before = leaf, engine.hook
    wrong = given([x])
    for take in (lambda: record(wrong).__enter__(), lambda: tape_of(x * x, wrong)):
        with pytest.raises(
            TypeError, match=r'name is needed for each Tensor, a dict such as \{"x": x\}|strings and'
        ):
            take()
        assert engine.hook is before
