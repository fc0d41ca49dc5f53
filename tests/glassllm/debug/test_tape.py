"""Gradient states, sums and visits as the tape tells them, against the engine's own backward."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import masked_fill, op
from glassllm.debug.recorder import record
from glassllm.debug.session import Session, drain
from glassllm.debug.snapshot import CommandError, GradientState, Position


def finished(tape):
    traversal = tape.begin(tape.default_root)
    while not traversal.is_finished:
        traversal.pull()
    return traversal


def recorded(compute, *leaves):
    with record({f"x{i}": leaf for i, leaf in enumerate(leaves)}) as tape:
        y = compute(*leaves)
    return tape, y


GRAPHS = [
    ("x·x", lambda x: x * x),
    ("a diamond", lambda x: (x * 2) * (x + 1)),
    ("a repeated row", lambda x: x[np.array([0, 0, 1])].sum()),
    ("broadcast", lambda x: (x.reshape(2, 1) * x).sum()),
    ("masked", lambda x: masked_fill(x, np.array([True, False]), 0.0) * x),
    ("built by hand", lambda x: Tensor(x.data * 2, (x,), lambda g: (g * 2,)) * x),
    ("many uses", lambda x: x + x * x + x * x * x + 1.0 / x),
]


@pytest.mark.parametrize("compute", [g[1] for g in GRAPHS], ids=[g[0] for g in GRAPHS])
def test_gradients_equal_backward_bit_for_bit(compute, leaf):
    tape, y = recorded(compute, leaf)
    traversal = finished(tape)
    y.backward()
    end = Position(1, len(traversal.plan) - 1, 0)
    assert np.array_equal(tape.gradient(tape.leaves[0], end), leaf.grad)


def test_gradients_of_the_model_equal_backward_bit_for_bit(model):
    with record(model.named_parameters()) as tape:
        loss = model.loss([3, 1, 4, 1], [1, 4, 1, 5])
    traversal = finished(tape)
    loss.backward()
    end = Position(1, len(traversal.plan) - 1)
    for row, (name, parameter) in zip(tape.leaves, model.named_parameters().items(), strict=True):
        assert np.array_equal(tape.gradient(row, end), parameter.grad), name


def test_edges_are_counted_one_by_one(leaf):
    tape, _ = recorded(lambda x: x * x, leaf)
    finished(tape)
    states = [tape.gradient_state(0, at) for at in (Position(0, 0), Position(1, 0, 1), Position(1, 0, 2))]
    assert states == [GradientState(True, k, 2) for k in (0, 1, 2)]
    assert np.array_equal(tape.gradient(0, Position(1, 0, 1)), leaf.data)
    assert np.array_equal(tape.gradient(0, Position(1, 0, 2)), 2 * leaf.data)


def test_the_root_counts_its_seed(leaf):
    tape, _ = recorded(lambda x: (x * 2).sum(), leaf)
    root = tape.default_root
    assert tape.gradient_state(root, Position(0, 1)) == GradientState(True, 0, 1)
    assert tape.gradient_state(root, Position(1, 0, 1)) == GradientState(True, 1, 1)


def test_constants_want_nothing_and_do_not_count(leaf):
    tape, _ = recorded(lambda x: x * 2, leaf)
    constant = next(row for row in tape.rows if row.name == "mul.b")
    assert not tape.gradient_state(constant.id, Position(1, 0, 1)).takes
    assert [tape.plan(1).sends(visit) for visit in (0, 1)] == [1, 0]


@op
def selfish(a, b):
    return a + b


@selfish.rule
def _(g, y, a, b):
    return g, None


def test_a_none_counts_as_delivered(leaf):
    other = Tensor(np.ones(2), requires_grad=True)
    tape, _ = recorded(lambda x, y: selfish(x, y * 2), leaf, other)
    traversal = finished(tape)
    end = Position(1, len(traversal.plan) - 1)
    none = tape.leaves[1]
    between = tape.consumers(none)[0][0]
    assert tape.gradient_state(between, end) == GradientState(True, 1, 1)
    assert tape.gradient(between, end) is None
    assert tape.gradient(none, end) is None
    assert tape.gradient_norm(none, end) is None


def test_edges_that_have_carried(leaf):
    tape, _ = recorded(lambda x: x * (x + 1), leaf)
    finished(tape)
    mul = tape.default_root
    at = [Position(0, 1), Position(1, 0, 1), Position(1, 0, 2)]
    assert [tape.is_carried(mul, 0, p) for p in at] == [False, True, True]
    assert [tape.is_carried(mul, 1, p) for p in at] == [False, False, True]
    assert not tape.is_carried(mul - 1, 1, Position(1, 2))


def test_norms_follow_the_sum(leaf):
    tape, _ = recorded(lambda x: x * x, leaf)
    assert tape.gradient_norm(0, Position(0, 0)) is None
    finished(tape)
    assert tape.gradient_norm(0, Position(1, 0, 1)) == pytest.approx(np.sqrt(13))
    assert tape.gradient_norm(0, Position(1, 0, 2)) == pytest.approx(2 * np.sqrt(13))


def test_one_visit_pulled_runs_one_rule(leaf):
    called = []

    @op
    def counted(x):
        return x + 0

    @counted.rule
    def _(g, y, x):
        called.append(1)
        return (g,)

    session = Session.of(counted(counted(counted(leaf))))
    drain(session.last())
    for visits in (1, 2, 3):
        drain(session.contribution())
        assert len(called) == visits
    drain(session.step_back(2))
    drain(session.step(2))
    assert len(called) == 3


def test_a_rule_that_fails_fails_again_and_moves_nothing(leaf):
    @op
    def broken(x):
        return x + 0

    @broken.rule
    def _(g, y, x):
        raise ArithmeticError("no slope")

    session = Session.of(broken(leaf) * 2)
    for _ in range(2):
        with pytest.raises(CommandError, match=r"node 1, broken; mend its rule and run again: .*no slope"):
            drain(session.proceed())
            drain(session.proceed())
        assert session.position == Position(1, 0, 1)


def test_an_op_without_a_rule_says_so(leaf):
    @op
    def ruleless(x):
        return x + 0

    session = Session.of(ruleless(leaf))
    with pytest.raises(CommandError, match=r"node 1, ruleless; .*op ruleless has no .*@ruleless\.rule"):
        drain(session.step())
