"""The model with fused ops is the composed one: logits, loss, every gradient, and what it generates."""

from dataclasses import replace

import numpy as np
import pytest

from glassllm import Config, GlassLM, no_grad
from glassllm.nn import Cache

TINY = Config(vocab_size=11, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=140, init_std=0.3)
CONFIGS = {
    "tiny": TINY,
    "one key head": replace(TINY, n_kv_heads=1),
    "as many key heads": replace(TINY, n_kv_heads=4),
    "untied": replace(TINY, tied=False),
    "sizes of its own": replace(TINY, head_dim=6, d_ff=5, rope_base=100.0, eps=0.1),
    "sharp": replace(TINY, init_std=3.0),
}
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}  # of each array's largest element
SINGLE = "sharp"  # rounding alone moves its float32 gradients further than that


def pair(config, dtype=np.float64, seed=2):
    composed, fused = GlassLM(config, seed, dtype), GlassLM(config, seed, dtype)
    fused.fused = True
    return composed, fused


def ids_and_targets(config, batch, n):
    return np.random.default_rng(n).integers(0, config.vocab_size, (2, batch, n))


def assert_equal(found, wanted, dtype):
    assert found.dtype == wanted.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCE[dtype] * np.abs(wanted).max())


CASES = [(name, dtype) for name in CONFIGS for dtype in TOLERANCE if (name, dtype) != (SINGLE, np.float32)]


@pytest.mark.parametrize("n", [1, 5, 64, 100, 130])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_logits_loss_and_gradients_are_the_same(name, dtype, n):
    models = pair(CONFIGS[name], dtype)
    ids, targets = ids_and_targets(CONFIGS[name], 3, n)
    assert_equal(*(model.forward(ids).data for model in reversed(models)), dtype)
    losses = [model.loss(ids, targets) for model in models]
    for loss in losses:
        loss.backward()
    assert_equal(losses[1].data, losses[0].data, dtype)
    for name, wanted in models[0].named_parameters().items():
        found = models[1].named_parameters()[name]
        if np.abs(wanted.grad).max() > 1e-9:  # one position alone asks nobody: what W_Q gets is rounding
            assert_equal(found.grad, wanted.grad, dtype)


@pytest.mark.parametrize("cuts", [[100], [1, 99], [70, 1, 1, 28], [64, 36]])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_cache_serves_both(name, cuts):
    composed, fused = pair(CONFIGS[name])
    (ids, _), cache = ids_and_targets(CONFIGS[name], 2, sum(cuts)), Cache(CONFIGS[name], np.float64, batch=2)
    pieces = []
    for n in cuts:
        start = cache.length
        pieces.append(fused.forward(ids[:, start : start + n], cache=cache, start=start).data)
    with no_grad():
        assert_equal(np.concatenate(pieces, axis=1), composed.forward(ids).data, np.float64)


def test_both_generate_the_same_tokens_past_max_len_too():
    config = replace(TINY, max_len=12)
    tokens = [[new.token for new in model.generate([1, 2, 3], 20, seed=0)] for model in pair(config)]
    assert tokens[0] == tokens[1]
