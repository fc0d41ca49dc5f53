import numpy as np
import pytest

from glassllm import Tokenizer
from glassllm.debug.commands import run
from glassllm.debug.session import Session

AXES = [
    ("embed", "token channel", (4, 8)),
    ("attn.q", "head query channel", (4, 4, 2)),
    ("attn.k", "head key channel", (2, 4, 2)),
    ("attn.softmax", "head query key", (4, 4, 4)),
    ("attn.mix", "head query channel", (4, 4, 2)),
    ("ffn.gate", "token hidden", (4, 21)),
    ("logits", "token vocabulary", (4, 17)),
    ("loss", "", ()),
    ("loss.grad", "token vocabulary", (4, 17)),
    ("E", "vocabulary channel", (17, 8)),
    ("attn.W_Q", "in out", (8, 8)),
    ("norm_f.gamma", "channel", (8,)),
    ("attn.scores matmul", "head query key", (4, 4, 4)),
    ("norm.attn mean", "token channel", (4, 1)),
    ("loss reshape", "token vocabulary", (4, 17)),
    ("logits transpose", "channel vocabulary", (8, 17)),
    ("attn.q reshape", "axis 0 axis 1 axis 2", (4, 4, 2)),
    ("mul.b", "", ()),
]


@pytest.fixture
def spoken(model):
    model.tokenizer = Tokenizer("▁abcdefghijkl", [])
    return Session.open(model, ids=[5, 6, 4, 7, 8])


@pytest.mark.parametrize(("row", "names", "shape"), AXES, ids=[row for row, _, _ in AXES])
def test_axes_have_names(spoken, row, names, shape):
    focus = run(spoken, f"select {row}").focus
    assert " ".join(axis.name for axis in focus.axes) == names
    assert focus.value.shape == shape


def test_positions_are_labelled_by_tokens_and_vocabularies_by_texts(spoken):
    softmax = run(spoken, "select attn.softmax").focus
    assert [axis.labels for axis in softmax.axes] == [None, ("a", "b", " ", "c"), ("a", "b", " ", "c")]
    logits = run(spoken, "select logits").focus
    assert logits.axes[1].labels[5] == "a"
    assert run(spoken, "select norm.attn mean").focus.axes[1].labels is None


def test_gradients_and_marks_are_in_the_same_axes(spoken):
    run(spoken, "continue 2")
    focus = run(spoken, "select attn.mask").focus
    assert focus.gradient.shape == focus.masked.shape == focus.value.shape == (4, 4, 4)
    assert all(c.array.shape == (4, 4, 4) for c in focus.contributions)
    assert np.array_equal(focus.masked, np.broadcast_to(np.triu(np.ones((4, 4), bool), 1), (4, 4, 4)))
    assert focus.inputs[1].shape == (1, 4, 4, 4), "what the op took stays as it was"
