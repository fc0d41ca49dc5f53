"""A model small enough to be stepped through in every test, and graphs that are no model."""

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tensor
from glassllm.autograd import tensor as engine
from glassllm.debug import slices
from glassllm.debug.session import Session

CONFIG = Config(vocab_size=17, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=6)


@pytest.fixture
def model():
    return GlassLM(CONFIG, seed=1)


@pytest.fixture
def session(model):
    """Four tokens run, each with the next as its target."""
    return Session.open(model, ids=[3, 1, 4, 1, 5])


@pytest.fixture
def thin(monkeypatch):
    """Every step of long work is a slice of its own."""
    monkeypatch.setattr(slices, "FULL", 1)


@pytest.fixture
def leaf():
    return Tensor(np.array([3.0, -2.0]), requires_grad=True)


@pytest.fixture(autouse=True)
def _engine_at_rest():
    """Every test finds and leaves the engine at rest: tracking on, no hook."""
    assert (engine.tracking, engine.hook) == (True, None)
    yield
    assert (engine.tracking, engine.hook) == (True, None)
