"""What was done elsewhere, recorded again: a generated token, and a step of training on its whole batch."""

from dataclasses import replace

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.debug.commands import run
from glassllm.debug.replays import StepRun, TokenRun
from glassllm.debug.session import Session
from glassllm.generation import Continuations, Sampling
from glassllm.train import RunSettings, Trainer, Training

CONFIG = Config(vocab_size=20, d_model=8, n_layers=2, n_heads=2, n_kv_heads=1, max_len=12)


@pytest.fixture
def model():
    return GlassLM(CONFIG, seed=1)


@pytest.mark.parametrize("tokens", [3, 12, 30])
def test_a_token_s_pass_ends_with_what_it_was_drawn_from_and_the_token(model, tokens):
    tree = Continuations(model, [1, 2, 3], Sampling(0.7, top_k=5), seed=4)
    for _ in range(tokens):
        tree.advance()
    token = tree.ahead()[0]
    token_run = TokenRun.at(tree, token, "small")
    session = Session(*token_run.record(), token_run)
    events = session.tape.events
    assert [event.step for event in events[-2:]] == ["probs", "sample"]
    assert len(events) == 1 + 18 * CONFIG.n_layers + 2 + 2
    probs, sample = (session.tape.rows[event.row].array for event in events[-2:])
    assert np.allclose(probs, tree.candidates.probs, atol=1e-6)
    assert int(sample) == token == tree.advance().token
    assert not session.facts.tracked


def test_a_pass_that_no_token_can_be_chosen_from_ends_with_its_logits(model):
    model.norm_f.gamma.data[0] = np.nan
    tape, _ = TokenRun.at(Continuations(model, [1, 2, 3]), None, "small").record()
    assert tape.events[-1].step == "logits"
    assert np.isnan(tape.rows[tape.events[-1].row].array[0, -1]).all()


def test_a_token_s_pass_can_be_run_again_with_a_graph(model):
    tree = Continuations(model, [1, 2, 3], seed=4)
    token_run = TokenRun.at(tree, 5, "small")
    session = Session(*token_run.record(), token_run)
    assert "grad" not in run(session, "last").focus.title
    run(session, "no_grad off")
    assert session.facts.tracked
    assert [event.step for event in session.tape.events[-2:]] == ["probs", "sample"]


@pytest.mark.parametrize("fused", [False, True])
def test_a_step_s_gradients_are_the_trainer_s_before_clipping(model, fused):
    data = np.random.default_rng(0).integers(0, 20, 400)
    settings = RunSettings(steps=4, batch_size=3, seq_len=9, warmup=1, max_norm=0.05, fused=fused)
    trainer = Trainer(model, data, settings)
    steps = trainer.run()
    for _ in range(3):
        next(steps)
    step = trainer.last_step
    assert step is not None
    assert step.clip_factor < 1
    step_run = StepRun.of_step(step, "small")
    session = Session(*step_run.record(), step_run)
    snapshot = run(session, "continue")
    snapshot = run(session, "continue")
    assert session.facts.loss == pytest.approx(step.loss, rel=1e-6)
    assert f"clipped by {step.clip_factor:.4g}" in session.facts.notes[0]
    rows = {session.tape.rows[row].name: row for row in session.tape.leaves}
    assert set(rows) == set(step.gradients)
    for name, expected in step.gradients.items():
        found = session.tape.gradient(rows[name], snapshot.position)
        assert np.abs(found - expected).max() <= (1e-5 * np.abs(expected).max() if fused else 0), name
    assert session.facts.clip_factor == snapshot.run.clip_factor == step.clip_factor


@pytest.mark.parametrize("number", [1, 3, 5])
def test_any_step_of_a_run_is_opened_with_the_numbers_it_had(tmp_path, number):
    (tmp_path / "words.txt").write_text("a small fox saw a red ball. " * 40, encoding="utf-8")
    model = GlassLM(replace(CONFIG, vocab_size=40))
    model.tokenizer = Tokenizer.train("a small fox saw a red ball. ", 40)
    training = Training(model, tmp_path / "words.txt", tmp_path, "small")
    training.set(steps=6, batch_size=2, seq_len=8, warmup=2)
    list(training.reading())
    losses = {}
    for _ in training.running(5):
        losses[training.trainer.step] = training.last_step.loss
    opening = StepRun.again(training, number, "small")
    while True:
        try:
            assert next(opening)[2] == "re-running step"
        except StopIteration as end:
            step_run = end.value
            break
    _, facts = step_run.record()
    assert facts.loss == losses[number] and facts.notes[0].startswith(f"step {number}, 2 sequences of 8")


def test_sequences_are_an_axis_of_a_step(model):
    trainer = Trainer(model, np.arange(400) % 20, RunSettings(steps=1, batch_size=3, seq_len=9, warmup=0))
    list(trainer.run())
    assert trainer.last_step is not None
    step_run = StepRun.of_step(trainer.last_step, "small")
    session = Session(*step_run.record(), step_run)
    focus = run(session, "run-to blocks.1.attn.softmax").focus
    assert [axis.name for axis in focus.axes] == ["batch", "head", "query", "key"]
    assert focus.value.shape == (3, 2, 9, 9)
