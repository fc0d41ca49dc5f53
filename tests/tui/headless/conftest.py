"""What tests of the commands without a screen share: a small model, a text, a folder to work in."""

import sys

import pytest

from glassllm import Config, GlassLM, Tokenizer

TEXT = "the cat sat on the mat\nthe dog sat on the log\n" * 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Here: `model.npz`, `mute.npz` without a tokenizer, `text.txt`."""
    before = sys.getswitchinterval()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    tokenizer = Tokenizer.train(TEXT, 30)
    size = tokenizer.vocab_size
    config = Config(vocab_size=size, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=16)
    model = GlassLM(config, seed=1)
    model.save(tmp_path / "mute.npz")
    model.tokenizer = tokenizer
    model.save(tmp_path / "model.npz")
    (tmp_path / "text.txt").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.setswitchinterval(before)
