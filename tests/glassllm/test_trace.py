"""The table of steps and the notebook: what is written, what is found again, what is refused."""

import numpy as np
import pytest

from glassllm import STEPS, Config, GlassLM, Tensor, Tracer
from glassllm.autograd import tensor as engine
from glassllm.trace import is_heard, mark

IDS = [
    "embed",
    "norm.attn",
    "attn.q",
    "attn.k",
    "attn.v",
    "attn.rope_q",
    "attn.rope_k",
    "attn.scores",
    "attn.mask",
    "attn.softmax",
    "attn.mix",
    "attn.out",
    "resid.attn",
    "norm.ffn",
    "ffn.gate",
    "ffn.up",
    "ffn.act",
    "ffn.down",
    "resid.ffn",
    "norm.final",
    "logits",
    "loss",
    "loss.grad",
    "probs",
    "sample",
]


def test_the_25_steps_in_order():
    assert list(STEPS) == IDS
    assert all(step.id == id and step.plain and step.latex for id, step in STEPS.items())


def test_eighteen_steps_happen_in_every_block():
    assert [id for id, step in STEPS.items() if step.in_block] == IDS[1:19]


def test_a_record_is_a_copy_without_its_batch_axis():
    tracer, values = Tracer(), np.arange(6.0).reshape(1, 2, 3)
    tracer.record("embed", Tensor(values))
    tracer.record("resid.attn", values, 2)
    values[:] = 0
    first, second = tracer.records
    assert np.array_equal(first.value, [[0, 1, 2], [3, 4, 5]]) and np.array_equal(second.value, first.value)
    assert (first.id, first.layer, first.head, first.shape, first.order) == ("embed", None, None, (2, 3), 0)
    assert (second.layer, second.order) == (2, 1)
    assert (first.equation, first.latex) == (STEPS["embed"].plain, STEPS["embed"].latex)
    assert tracer.step_ids() == ["embed", "resid.attn"]


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), ()])
def test_a_batched_value_needs_a_batch_of_one(shape):
    tracer = Tracer()
    with pytest.raises(ValueError, match="batch of 1"):
        tracer.record("embed", np.zeros(shape))
    assert tracer.records == []


def test_a_value_without_batch_axis_is_kept_whole():
    tracer = Tracer()
    tracer.record("probs", np.ones(3), batched=False)
    tracer.record("attn.softmax", np.ones((2, 2)), 0, batched=False, head=1)
    assert tracer.get("probs").shape == (3,)
    assert tracer.get("attn.softmax", head=1).head == 1


def notebook():
    tracer = Tracer()
    for layer in range(2):
        tracer.record("attn.q", np.arange(12.0).reshape(1, 3, 2, 2) + 100 * layer, layer)
    tracer.record("logits", np.zeros((1, 2, 5)))
    return tracer


def test_get_finds_the_first_match_and_slices_a_head():
    tracer = notebook()
    assert tracer.get("attn.q") is tracer.records[0]
    assert tracer.get("attn.q", 1) is tracer.records[1]
    head = tracer.get("attn.q", 1, head=2)
    assert (head.layer, head.head, head.shape, head.order) == (1, 2, (2, 2), 1)
    assert np.array_equal(head.value, [[108, 109], [110, 111]])


@pytest.mark.parametrize(
    "asked",
    [
        {"step_id": "attn.query"},
        {"step_id": "embed"},
        {"step_id": "attn.q", "layer": 2},
        {"step_id": "attn.q", "head": 3},
        {"step_id": "attn.q", "head": -1},
        {"step_id": "logits", "head": 0},
        {"step_id": "logits", "layer": 0},
    ],
)
def test_what_was_not_recorded_is_a_key_error(asked):
    with pytest.raises(KeyError, match=asked["step_id"]):
        notebook().get(**asked)


def test_an_unknown_id_cannot_be_recorded():
    with pytest.raises(KeyError, match="attention"):
        Tracer().record("attention", np.zeros((1, 2)))


class Ear:
    """A hook that writes down what it hears."""

    def __init__(self):
        self.heard = []

    def applied(self, *application):
        pass

    def marked(self, step_id, value, layer):
        self.heard.append((step_id, value, layer))


def test_a_mark_reaches_the_trace_and_the_hook_and_returns_its_value():
    tracer, ear, value = Tracer(), Ear(), Tensor(np.ones((1, 2)))
    assert not is_heard(None) and is_heard(tracer)
    assert mark("norm.ffn", value, 3) is value
    before = engine.set_hook(ear)
    try:
        assert is_heard(None)
        assert mark("norm.ffn", value, 3, tracer) is value
    finally:
        engine.set_hook(before)
    assert ear.heard == [("norm.ffn", value, 3)]
    assert tracer.get("norm.ffn", 3).shape == (2,)


@pytest.mark.parametrize(("is_recording", "heard"), [(True, ["loss.grad"]), (False, [])])
def test_nothing_is_computed_for_a_hook_that_only_looks_on(is_recording, heard, hooked):
    ear = Ear()
    ear.is_recording = is_recording
    model = GlassLM(Config(vocab_size=5, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=4))
    with hooked(ear):
        model.loss([1, 2], [2, 3])
    assert [step_id for step_id, _, _ in ear.heard if step_id == "loss.grad"] == heard
    assert ("loss", None) in [(step_id, layer) for step_id, _, layer in ear.heard]
