"""What a pass over a text shows: each layer's guess, and who looks at whom."""

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tracer, no_grad
from glassllm.autograd import softmax_np
from glassllm.generation import look

CONFIGS = [
    Config(vocab_size=11, d_model=8, n_layers=3, n_heads=4, n_kv_heads=2, max_len=10, init_std=0.4),
    Config(vocab_size=11, d_model=8, n_layers=1, n_heads=2, n_kv_heads=2, max_len=10, init_std=0.4, tied=False),
]
IDS = [3, 1, 4, 1, 5]


@pytest.fixture(params=CONFIGS, ids=["tied", "untied"])
def model(request):
    return GlassLM(request.param, seed=1)


@pytest.mark.parametrize("position", [-1, 0, 2])
def test_the_last_layer_says_what_the_model_says(model, position):
    lens = look(model, IDS).lens(position)
    with no_grad():
        logits = model.forward(IDS).data[0, position].astype(np.float64)
    np.testing.assert_allclose(lens.probs[-1], softmax_np(logits), atol=1e-6)
    assert lens.names == ("embed", *(f"blocks.{i}" for i in range(model.config.n_layers)))
    assert lens.probs.shape == (len(lens.names), 11) and lens.probs.sum(axis=-1) == pytest.approx(1)


def test_each_layer_says_what_its_stream_says(model):
    lens, trace = look(model, IDS).lens(), Tracer()
    model.forward(IDS, trace=trace)
    streams = [trace.get("embed"), *(trace.get("resid.ffn", i) for i in range(model.config.n_layers))]
    output = model.E.data.T if model.config.tied else model.output.data
    for row, record in zip(lens.probs, streams, strict=True):
        x = record.value[-1].astype(np.float64)
        h = x / np.sqrt((x * x).mean() + model.config.eps) * model.norm_f.gamma.data
        np.testing.assert_allclose(row, softmax_np(h @ output), atol=1e-6)


def test_ranks_and_entropies_are_those_of_the_rows(model):
    lens = look(model, IDS).lens()
    top = lens.top(11)
    for row, tokens in zip(lens.probs, top, strict=True):
        assert (np.diff(row[tokens]) <= 0).all()
    for place in range(11):
        assert [int(lens.ranks(token)[i]) for i, token in enumerate(top[:, place])] == [place + 1] * len(top)
    assert len(lens.entropies) == len(lens.names) and all(0 < e <= np.log(11) + 1e-9 for e in lens.entropies)


def test_attention_is_that_of_the_trace(model):
    trace = Tracer()
    model.forward(IDS, trace=trace)
    found = look(model, IDS)
    for layer in range(model.config.n_layers):
        assert np.array_equal(found.attention(layer), trace.get("attn.softmax", layer).value)
        assert np.array_equal(found.attention(layer, 1), found.attention(layer)[1])
    for layer, head in ((9, 0), (0, 9)):
        with pytest.raises(KeyError, match="nothing recorded"):
            found.attention(layer, head)


def test_of_a_long_text_the_end_is_seen(model):
    long = np.arange(25) % 11
    found = look(model, long)
    assert found.start == 15 and found.ids.tolist() == long[15:].tolist()
    assert np.array_equal(found.lens().probs, look(model, long[15:]).lens().probs)


def test_a_fused_model_is_looked_into_all_the_same(model):
    plain = look(model, IDS).lens().probs
    model.fused = True
    assert np.array_equal(look(model, IDS).lens().probs, plain) and model.fused


def test_nothing_is_tracked(model, hooked):
    tracked = []

    class Ear:
        def applied(self, op, inputs, attrs, saved, result):
            tracked.append(result.requires_grad)

        def marked(self, *_):
            pass

    with hooked(Ear()):
        look(model, IDS).lens()
    assert tracked and not any(tracked)
