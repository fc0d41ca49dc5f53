"""The sample model, and sessions over it: what the screen's tests look at."""

from pathlib import Path

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tensor, Tokenizer
from glassllm.autograd import exp
from glassllm.debug.session import Session
from tui.draw.palette import Palette

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "tiny.npz"
TEXT = "Once upon a time there was a small fox named Pip. He"


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> Path:
    """The sample's file; where there is none, one of the same shape with weights as they were drawn."""
    if SAMPLE.exists():
        return SAMPLE
    tokenizer = Tokenizer.train(f"{TEXT} was a fox. " * 20, 1024)
    model = GlassLM(Config(vocab_size=tokenizer.vocab_size, d_model=64), seed=0)
    model.tokenizer = tokenizer
    model.sample = np.array(tokenizer.encode(TEXT))
    path = tmp_path_factory.mktemp("model") / "tiny.npz"
    model.save(path)
    return path


@pytest.fixture(scope="session")
def tiny(sample) -> GlassLM:
    return GlassLM.load(sample)


@pytest.fixture
def session(tiny) -> Session:
    """The sample model on its own text, at the first position."""
    return Session.open(tiny, name="tiny.npz")


@pytest.fixture
def graph() -> Session:
    """A graph without events: y = Σ (x w + w) · e^x, two leaves that take a gradient."""
    x = Tensor(np.array([1.0, -2.0, 0.5]), requires_grad=True)
    w = Tensor(np.array([0.5, 3.0, -1.0]), requires_grad=True)
    return Session.of(((x * w + w) * exp(x)).sum(), names={"x": x, "w": w})


@pytest.fixture(scope="session")
def palette() -> Palette:
    return Palette()
