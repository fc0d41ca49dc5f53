"""A small model, and runs of it on a short text."""

import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.train import Training
from tests.glassllm.train.runs import STEPS, WORDS


@pytest.fixture(scope="session")
def model():
    tokenizer = Tokenizer.train(WORDS * 10, 40)
    model = GlassLM(Config(vocab_size=tokenizer.vocab_size, d_model=8, n_layers=1, n_heads=2, max_len=16))
    model.tokenizer = tokenizer
    return model


@pytest.fixture
def begin(model, tmp_path):
    """Makes a run on the same text, in the same folder."""
    text = tmp_path / "words.txt"
    text.write_text(WORDS * 40, encoding="utf-8")

    def make(**changes):
        training = Training(model, text, tmp_path, "small")
        training.set(**{"steps": STEPS, "batch_size": 2, "seq_len": 8, "warmup": 2, "eval_every": 4} | changes)
        return training

    return make


@pytest.fixture
def training(begin):
    return begin()
