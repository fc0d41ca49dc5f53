"""Samples: greedy, from one beginning, and as if nobody had written them."""

import numpy as np
import pytest

from glassllm import Config, GlassLM
from glassllm.tokenizer import EOS
from glassllm.train import RunSettings, Trainer
from glassllm.train.sample import BEGINNING, NEW, beginning, writing_sample

TINY = Config(vocab_size=16, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=16, init_std=0.5)
VALID = np.arange(40) % 16


def written(work):
    """What a generator returns, and how many slices it took."""
    slices = 1
    while True:
        try:
            next(work)
            slices += 1
        except StopIteration as end:
            return end.value, slices


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_the_model_generates_greedily(seed, fused):
    model = GlassLM(TINY, seed)
    model.fused = fused
    sample, slices = written(writing_sample(model, (5, 6, 7), 3))
    tokens = [new.token for new in model.generate([5, 6, 7], NEW, greedy=True)]
    expected = tokens[: tokens.index(EOS) + 1] if EOS in tokens else tokens
    assert sample.tokens == tuple(str(i) for i in [5, 6, 7, *expected])
    assert (sample.prompt, sample.step) == (3, 3)
    assert slices == len(expected) + (EOS not in tokens)


def test_a_model_that_is_not_finite_adds_nothing():
    model = GlassLM(TINY)
    model.E.data = np.full_like(model.E.data, np.nan)
    sample, _ = written(writing_sample(model, (5, 6), 1))
    assert (sample.tokens, sample.prompt) == (("5", "6"), 2)


@pytest.mark.parametrize("sample", [None, np.array([], int), np.array([3, 4]), np.arange(99)])
def test_the_beginning_is_the_model_s_own_text_where_it_has_one(sample):
    expected = VALID if sample is None or not len(sample) else sample
    assert beginning(sample, VALID) == tuple(expected[:BEGINNING])


def test_a_model_that_goes_on_learning_does_not_change_what_is_written_meanwhile():
    run = Trainer(GlassLM(TINY), VALID, RunSettings(steps=90, batch_size=2, seq_len=8, lr=0.1, warmup=0))
    run.advance()
    alone, _ = written(writing_sample(run.frozen(), (5, 6), 1))
    writing, steps = writing_sample(run.frozen(), (5, 6), 1), 0
    while True:
        try:
            next(writing)
        except StopIteration as end:
            assert end.value == alone
            break
        run.advance()
        steps += 1
    assert steps
