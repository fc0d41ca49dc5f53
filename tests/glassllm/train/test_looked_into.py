"""A run validated, sampled, saved, resumed and looked back upon, in any order: it ends as one left alone."""

import random

import numpy as np
import pytest

from glassllm import Config, GlassLM
from glassllm.checkpoint import CheckpointError
from glassllm.tokenizer import EOS, texts
from glassllm.train import Training, evaluate, load_state
from glassllm.train.sample import NEW
from tests.glassllm.train.runs import STEPS, WORDS, finish


def state(training):
    """All that steps depend on, to the bit."""
    trainer = training.trainer
    arrays = [*(p.data for p in trainer.model.parameters()), *trainer.optimizer.first, *trainer.optimizer.second]
    return [a.tobytes() for a in arrays], trainer.optimizer.counts, trainer.rng.bit_generator.state, trainer.step


@pytest.fixture
def alone(begin):
    training = begin()
    finish(training.running())
    return training


# Validation now, and samples


@pytest.mark.parametrize("fused", [False, True])
def test_validated_at_every_step_it_ends_as_one_left_alone(begin, fused):
    left, looked = begin(fused=fused), begin(fused=fused)
    finish(left.running())
    for step in range(1, STEPS):
        finish(looked.running(1))
        finish(looked.validating())
        finish(looked.validating())  # again, it is known already
        trainer, view = looked.trainer, looked.view()
        loss = evaluate(trainer.frozen(), trainer.val_data, 2, 8)
        assert view.report.val_loss == loss and view.curves["val_loss"][1, -1] == loss
        assert trainer.curves["val_loss"].bins[:2].tolist() == [list(range(step)), [1.0] * step]
        assert view.best_val == min(enumerate(view.curves["val_loss"][1]), key=lambda pair: pair[1])
        assert view.sample.step == step
    finish(looked.running())
    assert state(looked) == state(left) and looked.state == "done"


def test_validation_asked_for_while_steps_are_taken_comes_before_the_next_one(begin, alone):
    training = begin()
    finish(training.reading())
    run = training.running()
    while training.trainer is None or training.trainer.step < 3:
        next(run)
    validating = training.validating()
    next(validating)
    while training.trainer.owes_validation:
        next(run)
        next(validating, None)
        assert training.trainer.step == 3
    assert training.view().curves["val_loss"][0].tolist() == [0, 2]
    finish(validating)
    finish(run)
    assert state(training) == state(alone)


def test_validation_is_refused_where_there_is_nothing_to_measure(begin, tmp_path):
    training = begin()
    with pytest.raises(ValueError, match="no step is finished yet"):
        finish(training.validating())
    short = tmp_path / "short.txt"
    short.write_text(WORDS, encoding="utf-8")
    finish(training.reading(short))
    finish(training.running(1))
    with pytest.raises(ValueError, match="too short to keep a part"):
        finish(training.validating())
    assert training.view().sample is None


def test_a_sample_is_written_behind_each_validation(begin):
    training, seen = begin(), {}
    for _ in training.running():
        if (sample := training.view().sample) is not None:
            seen[sample.step] = sample
    assert list(seen) == [1, 5, 9, 12]
    assert len({sample.tokens[: sample.prompt] for sample in seen.values()}) == 1
    last = training.trainer.frozen()
    beginning = training.trainer.val_data[: seen[12].prompt]
    tokens = [new.token for new in last.generate(beginning, NEW, greedy=True)]
    tokens = tokens[: tokens.index(EOS) + 1] if EOS in tokens else tokens
    assert seen[12].tokens[seen[12].prompt :] == texts(last.tokenizer, tokens)


@pytest.mark.parametrize("slices", [1, 3, 10, 11, 12, 13, 20, 57, 58, 59, 60, 61])
def test_a_run_held_or_left_anywhere_writes_its_sample_all_the_same(begin, alone, slices):
    for how in ("held", "cancelled"):
        training = begin()
        finish(training.reading())
        run = training.running()
        for _ in range(slices):
            next(run)
        training.hold() if how == "held" else run.close()
        finish(run)
        step = training.trainer.step
        assert training.state == "paused"
        finish(training.running(1))
        assert training.view().sample.step == 1 and training.trainer.step == step + 1
        finish(training.running())
        assert training.view().sample == alone.view().sample and state(training) == state(alone)


# Files


def test_what_is_saved_is_said(begin):
    training = begin()
    assert (training.view().saved_in, training.view().run_file) == ("small.npz", "small.train.npz")
    finish(training.running(5))
    assert (training.view().saved, training.view().checkpoint) == (None, None)
    finish(training.saving())
    view = training.view()
    assert (view.saved, view.checkpoint) == (5, 5)
    assert view.is_best_kept == (view.best_val[0] == 4)
    finish(training.running(1))
    assert training.view().checkpoint == 5 and training.view().step == 6


def test_model_and_run_are_saved_as_they_were_when_it_was_asked_for(begin, tmp_path):
    training = begin()
    finish(training.running(2))
    before = {name: p.data.copy() for name, p in training.trainer.model.named_parameters().items()}
    saving = training.saving()
    next(saving)
    finish(training.running(2))
    finish(saving)
    saved = load_state(tmp_path / "small.train.npz")
    assert saved.run.step == 2 and training.view().saved == 2
    model = GlassLM.load(tmp_path / "small.npz").named_parameters()
    for name, weight in before.items():
        assert np.array_equal(saved.weights[name], weight)
        assert np.array_equal(model[name].data, weight.astype(np.float16).astype(np.float32))


def test_another_run_has_other_files(begin, tmp_path):
    training = begin()
    finish(training.running())
    kept = (tmp_path / "small.npz").read_bytes()
    finish(training.running(1))
    finish(training.saving())
    assert training.view().saved_in == "small-2.npz"
    assert (tmp_path / "small.npz").read_bytes() == kept


# Going on with a saved run


@pytest.mark.parametrize("step", [1, 4, 5, 11])
def test_resumed_it_goes_on_as_if_it_had_never_stopped(begin, alone, tmp_path, step):
    first = begin()
    finish(first.running(step))
    finish(first.saving())
    training = begin(steps=99, lr=0.5)
    view = training.view()
    assert (view.state, view.resumable, view.resumable_step) == ("not begun", "small-2.train.npz", step)
    finish(training.resuming())
    view = training.view()
    assert (view.state, view.step, view.resumed, view.saved) == ("paused", step, step, step)
    assert view.settings == first.settings and view.report is None and view.resumable == ""
    assert view.saved_in == "small-2.npz"
    finish(training.validating())
    finish(training.running())
    assert state(training) == state(alone)
    assert load_state(tmp_path / "small-2.train.npz").run.step == STEPS
    for name in ("loss", "lr", "grad_norm", "update.E"):
        assert np.array_equal(training.view().curves[name], alone.view().curves[name])
    assert training.view().earliest == step + 1


def test_a_run_that_was_left_can_be_gone_on_with(begin, alone):
    training = begin()
    finish(training.running(5))
    finish(training.saving())
    finish(training.running(2))
    training.leave()
    assert (training.view().resumable, training.view().resumable_step) == ("small-2.train.npz", 5)
    finish(training.resuming())
    finish(training.running())
    assert state(training) == state(alone)


def test_a_run_that_cannot_be_gone_on_with(begin, model, tmp_path):
    training = begin()

    def refused(words, path=None):
        before = (training.trainer, training.settings, training.view().saved_in, training.view().corpus)
        with pytest.raises(ValueError, match=words):
            finish(training.resuming(path))
        assert before == (training.trainer, training.settings, training.view().saved_in, training.view().corpus)

    refused("no unfinished run of small in")
    refused("missing.train.npz", tmp_path / "missing.npz")
    finish(training.running(3))
    finish(training.saving())
    refused("a run is under way; stop it first")
    saved = tmp_path / "small.train.npz"
    training.leave()
    training.path.write_text(WORDS * 39 + "owl" + WORDS, encoding="utf-8")
    refused("not the text that the run in small.train.npz began with", saved)
    model_of_others = GlassLM(Config(vocab_size=model.config.vocab_size, d_model=4, n_heads=2))
    model_of_others.tokenizer = model.tokenizer
    training = Training(model_of_others, training.path, tmp_path, "small")
    assert training.view().resumable == ""
    refused("other sizes", saved)
    training = begin()
    finish(training.running())
    refused("all of its 12 steps are done", tmp_path / training.view().run_file)


def test_a_path_that_is_no_saved_run_is_one_line(begin, tmp_path):
    training = begin()
    (tmp_path / "x.train.npz").write_bytes(b"no archive")
    with pytest.raises(CheckpointError) as refusal:
        finish(training.resuming(tmp_path / "x.train.npz"))
    assert "\n" not in str(refusal.value)


# All of it at once


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_asked_for_between_any_two_slices_it_ends_as_one_left_alone(begin, alone, seed):
    chance = random.Random(seed)
    training = begin()
    finish(training.reading())
    begun = [training.running()]
    next(begun[0])
    asked = [
        lambda: training.validating(),
        lambda: training.saving(),
        lambda: training.step_again(chance.randint(1, training.trainer.step)),
        lambda: training.running(chance.randint(1, 3)),
        lambda: iter([training.view(), training.hold()]),
    ]
    while begun or training.state != "done":
        if training.trainer.step and chance.random() < 0.1 and len(begun) < 6 and training.state != "done":
            begun.append(chance.choice(asked)())
            next(begun[-1], None)
        if not begun:
            begun.append(training.running())
        work = chance.choice(begun)
        try:
            next(work)
        except StopIteration:
            begun.remove(work)
    assert state(training) == state(alone)
    assert training.view().sample == alone.view().sample
