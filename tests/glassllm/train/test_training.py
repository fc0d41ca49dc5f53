"""A run under a person's hands: what may be changed when, and that looking and holding change nothing."""

import numpy as np
import pytest

from glassllm import GlassLM
from glassllm.checkpoint import CheckpointError
from glassllm.train import Trainer, Training, load_state, read_corpus, reading_corpus
from tests.glassllm.train.runs import finish


def weights(trainer):
    return {name: p.data.copy() for name, p in trainer.model.named_parameters().items()}


def test_before_it_begins_there_is_nothing_to_see_but_the_settings(training):
    view = training.view()
    assert (view.state, view.step, view.report, dict(view.curves)) == ("not begun", 0, None, {})
    for nothing in (lambda: training.last_step, lambda: finish(training.saving())):
        with pytest.raises(ValueError, match=r"no step is finished yet|no run to save"):
            nothing()


def test_held_looked_at_and_stepped_it_ends_as_one_left_alone(training, tmp_path):
    corpus = read_corpus(training.path, training.model.tokenizer, 8)
    alone = Trainer(GlassLM(training.model.config, 0), corpus.train, training.settings, corpus.valid)
    finish(alone.run())
    finish(training.running(1))
    assert (training.view().step, training.state) == (1, "paused")
    for i, _ in enumerate(training.running()):
        training.view()
        if i == 6:
            training.hold()
    assert training.state == "paused"
    assert 1 < training.trainer.step < 12
    finish(training.running(2))
    finish(training.running())
    assert training.state == "done"
    found, expected = weights(training.trainer), weights(alone)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)
    assert training.view().report == alone.report
    assert load_state(tmp_path / "small.train.npz").run.step == 12
    assert GlassLM.load(tmp_path / "small.npz").config == training.model.config


def test_steps_asked_for_while_the_text_is_read_are_all_taken(training, monkeypatch):
    """In turns, a slice each; the text is read once."""
    read = []
    monkeypatch.setattr(
        "glassllm.train.training.reading_corpus", lambda *words: read.append(words) or reading_corpus(*words)
    )
    alive = [training.running(1) for _ in range(5)]
    while alive:
        alive = [each for each in alive if next(each, "ended") != "ended"]
    assert (training.trainer.step, len(read)) == (5, 1)


def test_a_text_that_was_not_read_to_its_end_is_read_by_the_next(training):
    first, second = training.running(1), training.running(1)
    assert next(first) is not None and next(second) is None
    first.close()
    finish(second)
    assert training.trainer.step == 1


def test_settings_are_free_until_it_begins_and_again_when_it_is_stopped(training):
    training.set(lr=0.5, fresh=False)
    finish(training.running(1))
    with pytest.raises(ValueError, match="under way; stop it first"):
        training.set(lr=0.1)
    training.leave()
    training.set(lr=0.1)
    assert training.view().settings.lr == 0.1
    with pytest.raises(ValueError, match="seq_len must be at most the model's 16"):
        training.set(seq_len=17)


def test_a_run_that_is_stopped_is_saved_first(training, tmp_path):
    file = tmp_path / "small.train.npz"
    finish(training.running(2))
    before = weights(training.trainer)
    finish(training.stopping())
    assert (training.state, training.view().resumable, training.view().resumable_step) == (
        "not begun",
        file.name,
        2,
    )
    finish(training.resuming())
    assert all(np.array_equal(array, before[name]) for name, array in weights(training.trainer).items())
    written = file.stat().st_mtime_ns
    finish(training.stopping())  # nothing is new
    assert file.stat().st_mtime_ns == written
    finish(training.stopping())
    assert training.state == "not begun"


def test_a_run_that_cannot_be_saved_is_not_left_unless_told_so(training, tmp_path):
    finish(training.running(2))
    (tmp_path / "small.train.npz").mkdir()
    with pytest.raises(CheckpointError, match=r"small\.train\.npz"):
        finish(training.stopping())
    assert (training.state, training.view().step) == ("paused", 2)
    training.leave()
    assert training.state == "not begun"


@pytest.mark.parametrize("wanted", ["other/mine", "other/mine.npz", "other/mine.train.npz", "other"])
def test_a_run_that_cannot_be_saved_is_saved_elsewhere_from_now_on(training, tmp_path, wanted):
    (tmp_path / "other").mkdir()
    finish(training.running(2))
    (tmp_path / "small.train.npz").mkdir()
    with pytest.raises(CheckpointError):
        finish(training.saving())
    assert "cannot be written" in training.view().saving_fault
    finish(training.saving(tmp_path / wanted))
    name = "small" if wanted == "other" else "mine"
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == [f"{name}.npz", f"{name}.train.npz"]
    assert (training.view().saving_fault, training.view().saved_in, training.view().saved) == (
        "",
        f"{name}.npz",
        2,
    )
    finish(training.running(1))
    finish(training.saving())
    assert load_state(tmp_path / "other" / f"{name}.train.npz").run.step == 3


def test_a_run_moves_to_no_place_that_is_taken_or_bad(training, tmp_path):
    finish(training.running(2))
    finish(training.saving())
    before = (tmp_path / "small.npz").read_bytes()
    with pytest.raises(ValueError, match=r"small\.npz is there already; choose another name"):
        finish(training.saving(tmp_path / "small.npz"))
    with pytest.raises(CheckpointError, match=r"none/x\.train\.npz: cannot be written"):
        finish(training.saving(tmp_path / "none" / "x"))
    assert (training.view().saved_in, training.view().saved, training.view().saving_fault) == ("small.npz", 2, "")
    assert (tmp_path / "small.npz").read_bytes() == before


def test_a_file_that_another_has_saved_meanwhile_is_not_written_over(training, tmp_path):
    assert training.view().run_file == "small.train.npz"
    others = tmp_path / "small.train.npz"
    others.write_bytes(b"another run")
    finish(training.running(1))
    finish(training.stopping())
    assert others.read_bytes() == b"another run"
    assert load_state(tmp_path / "small-2.train.npz").run.step == 1


def test_from_kept_weights_it_starts_where_the_model_is(training):
    training.set(fresh=False, lr=1e-9)
    finish(training.running(1))
    before = training.last_step.weights
    assert all(np.array_equal(before[name], p.data) for name, p in training.model.named_parameters().items())


def test_a_text_that_cannot_be_used_leaves_the_one_before(training, tmp_path):
    finish(training.running(1))
    training.leave()
    with pytest.raises(CheckpointError, match="missing"):
        finish(training.reading(tmp_path / "missing.txt"))
    assert training.view().corpus == "words.txt"


def test_astray_it_stops_and_says_where_to_look(training):
    training.set(lr=10.0, warmup=0, steps=200, weight_decay=10.0)
    with np.errstate(all="ignore"):
        finish(training.running())
    view = training.view()
    assert view.state == "astray"
    assert view.fault is not None and view.fault.place
    assert training.last_step.step == view.fault.step


def test_no_file_is_written_over(model, tmp_path):
    (tmp_path / "small.npz").write_bytes(b"mine")
    assert Training(model, tmp_path / "x.txt", tmp_path, "small").view().saved_in == "small-2.npz"
