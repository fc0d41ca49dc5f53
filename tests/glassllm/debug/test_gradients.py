"""Traversals from anywhere, several of them, and giving their gradients to the model."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.debug.commands import run
from glassllm.debug.recorder import record
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError, GradientState


def gradients(session):
    tape = session.tape
    return {tape.rows[row].name: tape.gradient(row, session.position) for row in tape.leaves}


def by_engine(model, seed_of, root="logits"):
    """The leaves' gradients after the engine's own backward from an event, with a seed made of its data."""
    with record() as tape:
        model.loss([3, 1, 4, 1], [1, 4, 1, 5])
    row = next(event.row for event in tape.events if event.path == root)
    node = tape.place_of[row]
    stand_in = Tensor(node.y)
    stand_in.node, stand_in.requires_grad = node, True
    stand_in.backward(seed_of(node.y))
    found = {name: parameter.grad for name, parameter in model.named_parameters().items()}
    for parameter in model.parameters():
        parameter.grad = None
    return found


def cell_seed(y):
    seed = np.zeros_like(y)
    seed[0, 2, 7] = 2
    return seed


ROOTS = [
    ("logits", "logits", np.ones_like),
    ("logits[2,7] 2.0", "logits", cell_seed),
    ("logits[-2, 7] 2", "logits", cell_seed),
    ("blocks.0.attn.softmax", "blocks.0.attn.softmax", np.ones_like),
    ("blocks.1.ffn.act −0.5", "blocks.1.ffn.act", lambda y: np.full_like(y, -0.5)),
]


@pytest.mark.parametrize(("line", "root", "seed_of"), ROOTS, ids=[line for line, _, _ in ROOTS])
def test_a_traversal_from_anywhere(session, model, line, root, seed_of):
    expected = by_engine(model, seed_of, root)
    at = run(session, f"backward {line}").position
    assert (at.traversal, at.place) == (1, 0)
    assert session.snapshot().focus.title.endswith(root.removeprefix("blocks.0.").removeprefix("blocks.1."))
    run(session, "last")
    got = gradients(session)
    assert {n for n, g in got.items() if g is None} == {n for n, g in expected.items() if g is None}
    for name, grad in expected.items():
        assert grad is None or np.array_equal(got[name], grad), name


def test_a_traversal_from_a_leaf_is_its_seed(session):
    snapshot = run(session, "backward norm_f.gamma 3")
    assert snapshot.focus.state == GradientState(True, 1, 1)
    assert np.array_equal(snapshot.focus.gradient, np.full(8, 3, np.float32))
    assert "the seed itself" in "".join(text for text, _ in snapshot.said)


def test_two_traversals_accumulate_in_the_leaves_alone(session):
    run(session, "continue 2")
    once = gradients(session)
    run(session, "select logits")
    inner = session.snapshot().focus.gradient
    run(session, "backward")
    assert np.array_equal(gradients(session)["E"], once["E"]), "not reached again yet: what was left"
    run(session, "last")
    for name, twice in gradients(session).items():
        assert np.array_equal(twice, once[name] + once[name]), name
    run(session, "select logits")
    assert np.array_equal(session.snapshot().focus.gradient, inner)
    assert session.tape.gradient_state(session.tape.leaves[0], session.position) == GradientState(True, 2, 2)


def test_what_a_snapshot_says_does_not_change_with_a_traversal_begun_later(session):
    def seen(snapshot):
        tape = snapshot.tape
        states = [tape.gradient_state(row, snapshot.position) for row in range(len(tape.rows))]
        return states, tape.visit_count(1), tape.root(1), list(tape.visits(1)), list(snapshot.focus.contributions)

    before = run(session, "continue")
    said = seen(before)
    after = run(session, "backward blocks.0.norm.ffn")
    assert seen(before) == said
    assert (after.tape.visit_count(1), after.tape.root(1)) != said[1:3], "from another root the way is another"
    assert after.tape.rows is before.tape.rows


def test_large_norms_are_counted_with_the_snapshot_and_never_when_they_are_looked_at(session, monkeypatch):
    monkeypatch.setattr("glassllm.debug.tape.SUMMED_AT_ONCE", 0)
    run(session, "continue 2")
    snapshots = [session.snapshot(), run(session, "contribution-back 2")]
    monkeypatch.setattr("glassllm.debug.tape.norm_of", None)
    for snapshot in snapshots:
        tape, at = snapshot.tape, snapshot.position
        for leaf in tape.leaves:
            assert tape.gradient_norm(leaf, at) == pytest.approx(np.linalg.norm(session.tape.gradient(leaf, at)))


def test_the_first_traversal_is_finished_before_the_second(session):
    run(session, "backward")
    run(session, "backward logits")
    assert session.tape.traversals[0].is_finished
    assert len(session.tape.visits(2)) == 1
    assert session.tape.visit_count(2) < session.tape.visit_count(1)
    run(session, "first")
    run(session, "continue 2")
    assert session.position == session.places.end(1)
    assert run(session, "step").position == session.places.whole(2, 0)
    assert run(session, "step-back").position == session.places.end(1)


def test_zero_grad_starts_the_next_sums_from_nothing(session):
    run(session, "continue 2")
    once = gradients(session)
    run(session, "zero-grad")
    run(session, "backward")
    assert gradients(session)["E"] is None
    run(session, "last")
    for name, again in gradients(session).items():
        assert np.array_equal(again, once[name]), name
    run(session, "backward")
    run(session, "last")
    assert np.array_equal(gradients(session)["E"], once["E"] + once["E"]), "it held for one traversal"


def test_norms_and_sums_follow_what_earlier_traversals_left(session):
    run(session, "continue 2")
    leaf = session.tape.leaves[0]
    once = session.tape.gradient_norm(leaf, session.position)
    run(session, "backward")
    assert session.tape.gradient_norm(leaf, session.position) == once
    run(session, "last")
    assert session.tape.gradient_norm(leaf, session.position) == pytest.approx(2 * once)


def test_apply_is_backward_on_the_model(session, model):
    run(session, "continue 2")
    run(session, "apply")
    applied = [parameter.grad.copy() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = None
    model.loss([3, 1, 4, 1], [1, 4, 1, 5]).backward()
    for parameter, grad in zip(model.parameters(), applied, strict=True):
        assert np.array_equal(parameter.grad, grad)


def test_apply_gives_each_traversal_once(session, model):
    with pytest.raises(CommandError, match="backward starts"):
        run(session, "apply")
    run(session, "backward")
    with pytest.raises(CommandError, match=r"visit 1 of \d+; continue finishes"):
        run(session, "apply")
    run(session, "last")
    run(session, "apply")
    once = model.E.grad.copy()
    with pytest.raises(CommandError, match="already"):
        run(session, "apply")
    run(session, "backward")
    run(session, "last")
    run(session, "apply")
    assert np.array_equal(model.E.grad, once + once)


@pytest.mark.parametrize(("inputs", "said"), [(1, "  1 leaf got"), (2, "  2 leaves got")])
def test_apply_counts_the_leaves(inputs, said):
    with record() as tape:
        total = sum(Tensor(np.ones(2), requires_grad=True) * 2.0 for _ in range(inputs))
        total.sum()
    session = Session.of(tape)
    run(session, "2 continue")
    text = "".join(word for word, _ in run(session, "apply").said)
    assert text.endswith(f"{said} the gradients of 1 traversal")


def test_apply_clears_first_after_zero_grad(session, model):
    model.E.grad = np.ones_like(model.E.data)
    run(session, "zero-grad")
    run(session, "continue 2")
    run(session, "apply")
    assert np.array_equal(model.E.grad, gradients(session)["E"])


BAD = [
    ("backward loss.grad", "takes no gradient"),
    ("backward mul.b", "takes no gradient"),
    ("backward logits[1]", r"has 2 numbers: \[token"),
    ("backward logits[9,0]", "outside"),
    ("backward logits[a,b]", "whole numbers"),
    ("backward logits one", "a seed is a number"),
    ("backward nonsense", "nothing here is called nonsense"),
]


@pytest.mark.parametrize(("line", "words"), BAD, ids=[line for line, _ in BAD])
def test_what_cannot_be_a_root_is_refused(session, line, words):
    with pytest.raises(CommandError, match=words):
        run(session, line)
    assert session.tape.traversals == []


def test_a_graph_of_constants_has_no_root():
    with record() as tape:
        Tensor(np.ones(2)) * 2
    with pytest.raises(CommandError, match="nothing here takes a gradient"):
        run(Session.of(tape), "backward")
