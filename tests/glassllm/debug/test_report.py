"""The report is the run as plain data, with the gradients a backward would have written."""

import json

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import op
from glassllm.debug.report import number, report
from glassllm.debug.session import Session, drain
from tests.large import SMALL, mixed


@pytest.fixture
def data(session):
    return report(session)


def test_it_is_json_that_any_parser_reads(data):
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_what_was_run(data):
    assert (data["name"], data["ids"], data["targets"]) == ("model", [3, 1, 4, 1], [1, 4, 1, 5])
    assert (data["dtype"], data["tracked"], data["root"]) == ("float32", True, "loss")
    assert data["tokens"] == ["3", "1", "4", "1"]


def test_counts(data, session, model):
    counts = data["counts"]
    assert counts["events"] == len(data["events"]) == 1 + 2 * 18 + 4
    assert counts["nodes"] == sum(row.kind == "node" for row in session.tape.rows)
    assert counts["parameters"] == len(model.parameters()) == len(data["gradients"])
    assert counts["weights"] == sum(p.size for p in model.parameters())
    assert (counts["nan"], counts["inf"]) == (0, 0)


def test_an_event_has_its_shape_and_statistics(data, session):
    softmax = next(e for e in data["events"] if e["path"] == "blocks.1.attn.softmax")
    assert (softmax["id"], softmax["layer"], softmax["shape"]) == ("attn.softmax", 1, [4, 4, 4])
    stats = softmax["stats"]
    assert stats["mean"] == pytest.approx(0.25)
    assert (stats["zero"], stats["positive"], stats["nan"], stats["inf"]) == (4 * 6, 4 * 10, 0, 0)
    mask = next(e for e in data["events"] if e["path"] == "blocks.1.attn.mask")
    assert (mask["stats"]["masked"], mask["stats"]["inf"]) == (4 * 6, 0)


def test_gradients_are_those_of_backward(data, model):
    model.loss(np.array([3, 1, 4, 1]), np.array([1, 4, 1, 5])).backward()
    for leaf, (name, parameter) in zip(data["gradients"], model.named_parameters().items(), strict=True):
        assert leaf["name"] == name and leaf["shape"] == list(parameter.shape)
        assert leaf["norm"] == pytest.approx(np.linalg.norm(parameter.data), rel=1e-6)
        assert leaf["grad_norm"] == pytest.approx(np.linalg.norm(parameter.grad), rel=1e-6)
        assert leaf["grad_stats"]["max"] == parameter.grad.max()


def test_nothing_moves_and_the_model_stays_as_it_was(session, model):
    drain(session.next(5))
    position, selection, weights = session.position, session.selection, model.E.data.copy()
    first, second = report(session), report(session)
    assert first == second
    assert (session.position, session.selection) == (position, selection)
    assert all(p.grad is None for p in model.parameters()) and (model.E.data == weights).all()


def test_a_traversal_under_way_is_finished(model):
    begun, fresh = (Session.open(model, ids=[3, 1, 4, 1, 5]) for _ in range(2))
    drain(begun.proceed())
    drain(begun.step(7))
    assert report(begun) == report(fresh)


def test_one_id_has_no_loss(model):
    data = report(Session.open(model, ids=[3]))
    assert data["loss"] is None and data["targets"] == [] and data["notes"]
    assert data["root"] == "logits"


def test_without_tracking_no_gradient_comes(model):
    data = report(Session.open(model, ids=[3, 1, 4], tracked=False))
    assert data["tracked"] is False and data["root"] is None
    assert len(data["gradients"]) == len(model.parameters())
    assert all(leaf["grad_norm"] is None and leaf["grad_stats"] is None for leaf in data["gradients"])


def test_faults_are_counted_and_spelled(model):
    model.E.data[3, 0] = np.nan
    data = report(Session.open(model, ids=[3, 1, 4]))
    assert data["loss"] == "NaN" and data["counts"]["nan"] > 0
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_a_graph_that_is_no_model():
    x = Tensor(np.array([3.0, -1.0]), requires_grad=True)
    data = report(Session.of((x * x).sum(), "squares", {"x": x}))
    assert data["events"] == [] and data["loss"] == 10, "its loss is what its root is"
    assert [(leaf["name"], leaf["grad_norm"]) for leaf in data["gradients"]] == [("x", pytest.approx(40**0.5))]


def without_a_rule(x):
    @op
    def bare(x):
        return x * 2

    return bare(x)


def with_a_rule_that_fails(x):
    return Tensor(x.data * 2, (x,), lambda g: 1 // 0)


@pytest.mark.parametrize(
    ("made", "said"),
    [(without_a_rule, "ValueError: op bare has no backward rule"), (with_a_rule_that_fails, "ZeroDivisionError")],
)
@pytest.mark.parametrize("visits", [0, 1])
def test_a_rule_that_fails_is_a_note(made, said, visits):
    x, w = (Tensor(np.ones(2), requires_grad=True) for _ in range(2))
    root = made(x)
    for _ in range(visits):
        root = root * w
    data = report(Session.of(root, names={"x": x, "w": w}))
    (note,) = data["notes"]
    assert note.startswith(f"the way back ends before visit {2 * visits + 1} of {2 * visits + 2}: {said}")
    assert data["root"] == ("mul" if visits else root.node.op.name) and data["tracked"]
    norms = {leaf["name"]: leaf["grad_norm"] for leaf in data["gradients"]}
    assert norms == {"x": None} | ({"w": pytest.approx(8**0.5)} if visits else {})


@pytest.mark.parametrize(
    ("x", "said"),
    [(1.5, 1.5), (0, 0), (np.nan, "NaN"), (np.inf, "Infinity"), (-np.inf, "-Infinity"), (-0.0, -0.0)],
)
def test_numbers_without_a_literal_are_spelled(x, said):
    assert number(x) == said


def test_a_row_without_an_event_is_looked_through_for_faults_alone(monkeypatch):
    session = Session.of(mixed(SMALL))
    monkeypatch.setattr(type(session.tape), "count_health", lambda tape, row: pytest.fail("all was counted"))
    counts = report(session)["counts"]
    assert (counts["nodes"], counts["nan"], counts["inf"]) == (session.facts.nodes, 0, 0)
