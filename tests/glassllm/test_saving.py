"""A model saved and loaded: weights in either width, and what travels with them."""

from dataclasses import replace

import numpy as np
import pytest

from glassllm import Config, GlassLM

TINY = Config(vocab_size=11, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=12, init_std=0.3)
IDS = [3, 1, 4, 1, 5, 9, 2, 6]


@pytest.mark.parametrize("config", [TINY, replace(TINY, tied=False)], ids=["tied", "untied"])
@pytest.mark.parametrize("fp16", [True, False])
def test_a_saved_model_comes_back(config, fp16, tmp_path):
    model = GlassLM(config, seed=4)
    model.meta, model.sample = {"note": "seven steps"}, [3, 1, 4]
    model.save(tmp_path / "model.npz", fp16=fp16)
    again = GlassLM.load(tmp_path / "model.npz")
    assert again.config == config and again.meta == model.meta and list(again.sample) == [3, 1, 4]
    for a, b in zip(model.parameters(), again.parameters(), strict=True):
        assert b.dtype == np.float32 and b.requires_grad and b.data.flags.writeable
        assert np.array_equal(b.data, a.data.astype(np.float16).astype(np.float32) if fp16 else a.data)


def test_a_weight_too_large_for_float16_is_named(tmp_path):
    model = GlassLM(TINY)
    model.blocks[1].ffn.W2.data[0, 0] = -1e5
    with pytest.raises(ValueError, match=r"blocks\.1\.ffn\.W2 .*fp16=False"):
        model.save(tmp_path / "model.npz")
    model.save(tmp_path / "model.npz", fp16=False)
    assert GlassLM.load(tmp_path / "model.npz").blocks[1].ffn.W2.data[0, 0] == np.float32(-1e5)


def test_a_new_model_travels_with_nothing(tmp_path):
    GlassLM(TINY).save(tmp_path / "model.npz")
    again = GlassLM.load(tmp_path / "model.npz")
    assert (again.tokenizer, again.meta, again.sample) == (None, {}, None)


def test_a_model_loads_in_float64(tmp_path):
    GlassLM(TINY).save(tmp_path / "model.npz", fp16=False)
    again = GlassLM.load(tmp_path / "model.npz", dtype=np.float64)
    assert again.forward(IDS).dtype == np.float64
    np.testing.assert_allclose(again.forward(IDS).data, GlassLM(TINY).forward(IDS).data, rtol=0, atol=1e-5)
