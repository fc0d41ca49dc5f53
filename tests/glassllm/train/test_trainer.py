"""A run: the steps of `train`, resumed to the bit, with everything kept that is needed to take a step again."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from glassllm import Config, GlassLM, no_grad
from glassllm.optim import clip_grad_norm
from glassllm.train import RunSettings, Trainer, evaluate, load_state, save_state, train

TINY = Config(vocab_size=16, d_model=8, n_layers=2, n_heads=2, n_kv_heads=1, max_len=16, init_std=0.3)
DATA = np.random.default_rng(0).integers(0, 16, 400)
VALID = np.random.default_rng(1).integers(0, 16, 60)
SETTINGS = RunSettings(steps=20, batch_size=3, seq_len=8, lr=0.01, warmup=4, seed=3, eval_every=6)


def trainer(settings=SETTINGS, val_data=VALID, model=None):
    return Trainer(model or GlassLM(TINY), DATA, settings, val_data)


def take(run, steps):
    """So many steps of a run; their reports."""
    return list(islice((report for report in run.run() if report is not None), steps))


def same(a, b):
    """Whether two states are the same to the bit."""
    pairs = [(getattr(a, part), getattr(b, part)) for part in ("weights", "first", "second")]
    arrays = all(np.array_equal(x[name], y[name]) for x, y in pairs for name in x)
    curves = all(np.array_equal(a.curves[name].bins, b.curves[name].bins) for name in a.curves)
    return arrays and curves and (a.run, a.counts, a.config) == (b.run, b.counts, b.config)


# The steps of `train`


def test_a_run_has_the_numbers_of_train():
    model = GlassLM(TINY)
    run = trainer(model=model)
    reports = take(run, 20)
    names = ("steps", "batch_size", "seq_len", "lr", "warmup", "seed", "eval_every")
    wanted = train(model, DATA, val_data=VALID, **{name: getattr(SETTINGS, name) for name in names})
    assert [(r.step, r.loss, r.lr) for r in reports] == [(w["step"], w["loss"], w["lr"]) for w in wanted]
    assert [r.val_loss for r in reports] == [w.get("val_loss") for w in wanted]
    for ours, theirs in zip(run.model.parameters(), model.parameters(), strict=True):
        assert np.array_equal(ours.data, theirs.data)
    assert run.is_done and list(run.run()) == []


def test_the_model_given_is_left_alone():
    model = GlassLM(TINY)
    before = {name: p.data.copy() for name, p in model.named_parameters().items()}
    take(trainer(model=model), 3)
    assert all(np.array_equal(p.data, before[name]) for name, p in model.named_parameters().items())
    assert all(p.grad is None for p in model.parameters())


def test_a_slice_is_a_step_or_a_batch_of_validation():
    run = trainer()
    slices = [run.step for _ in zip(range(12), run.run(), strict=False)]
    assert slices == [1] * 11 + [2]
    assert next(trainer(val_data=None).run()).val_loss is None


def test_what_a_step_reports():
    run = trainer()
    reports = take(run, 5)
    assert [r.tokens for r in reports] == [24, 48, 72, 96, 120]
    assert all(r.clip_factor == min(1.0, 1.0 / r.grad_norm) for r in reports)
    groups = ["E", *(f"blocks.{i}.{part}" for i in (0, 1) for part in ("norm", "attn", "ffn")), "norm_f"]
    assert list(reports[0].updates) == groups
    last = run.last_step
    moved, size = np.linalg.norm(run.model.E.data - last.weights["E"]), np.linalg.norm(last.weights["E"])
    assert run.report.updates["E"] == pytest.approx(moved / size, rel=1e-5)
    assert run.best.loss == min(r.loss for r in reports) and run.best_val.step == 0
    assert run.clipped == sum(r.clip_factor < 1 for r in reports)
    assert run.curves["loss"].table[1].tolist() == [r.loss for r in reports]
    assert run.curves["update.E"].table[1].tolist() == [r.updates["E"] for r in reports]


def test_tracking_that_is_off_is_said():
    run = trainer()
    with no_grad(), pytest.raises(ValueError, match="no_grad"):
        next(run.run())
    assert run.step == 0 and take(run, 20) == take(trainer(), 20)


def test_a_step_broken_off_has_not_happened(hooked):
    class Breaks:
        count = 0

        def applied(self, *_):
            self.count += 1
            if self.count == 30:
                raise KeyboardInterrupt

        def marked(self, *_):
            pass

        def traversed(self, *_):
            pass

    run, other = trainer(), trainer()
    take(run, 2), take(other, 2)
    with hooked(Breaks()), pytest.raises(KeyboardInterrupt):
        take(run, 1)
    assert same(run.state(), other.state())
    assert take(run, 20) == take(other, 20)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": [1, 2, 3]}, "data must be one row of more than 8"),
        ({"data": np.zeros((20, 20), int)}, "one row"),
        ({"data": np.zeros(50)}, "integers"),
        ({"data": np.full(50, 16)}, "ids from 0 to 15, got ids from 16 to 16"),
        ({"val_data": [-1] * 50}, "val_data must hold ids from 0"),
        ({"settings": replace(SETTINGS, seq_len=17)}, "at most the model's 16, got 17"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        Trainer(**{"model": GlassLM(TINY), "data": DATA, "settings": SETTINGS, **change})


def test_batches_that_fit_no_memory_are_refused():
    settings = replace(SETTINGS, batch_size=60_000, seq_len=1000)
    with pytest.raises(ValueError, match=r"batches of 60000 x 1000 tokens need arrays of .* GiB"):
        settings.check_model(Config(max_len=1000))


# Resumed


@pytest.mark.parametrize("at", [0, 1, 6, 7, 19, 20])
def test_saved_and_resumed_it_goes_on_to_the_bit(tmp_path, at):
    """Weights, moments, the batches to come, reports and curves."""
    whole, first = trainer(), trainer()
    wanted = take(whole, 20)
    take(first, at)
    save_state(tmp_path / "x.train.npz", first.state())
    resumed = Trainer.of(load_state(tmp_path / "x.train.npz"), DATA, VALID)
    assert resumed.step == at and same(resumed.state(), first.state())
    assert take(resumed, 20) == wanted[at:]
    assert same(resumed.state(), whole.state())
    draws = [run.rng.integers(0, 1 << 40, 5).tolist() for run in (resumed, whole)]
    assert draws[0] == draws[1]


def test_a_state_taken_between_validation_batches_has_the_whole_validation():
    run, whole = trainer(), trainer()
    slices = run.run()
    for _ in range(4):
        assert next(slices) is None
    state = run.state()
    take(whole, 1)
    assert same(state, whole.state()) and run.report == whole.report
    assert next(slices).step == 1 and take(run, 20)[-1].step == 19


def test_a_state_stays_as_it_is_while_the_run_goes_on():
    run, other = trainer(), trainer()
    take(run, 3), take(other, 3)
    state = run.state()
    take(run, 5)
    assert same(state, other.state())


def test_a_run_can_be_given_more_steps():
    run = trainer()
    take(run, 20)
    longer = Trainer.of(run.state(), DATA, VALID, steps=25)
    assert not longer.is_done and [r.step for r in take(longer, 99)] == [20, 21, 22, 23, 24]


@pytest.mark.parametrize("data", [(DATA[:-1], VALID), (DATA, None), (DATA, VALID[::-1])])
def test_other_data_is_refused(data):
    with pytest.raises(ValueError, match="not what this run was trained on"):
        Trainer.of(trainer().state(), *data)


# The last step, to be taken again


@pytest.mark.parametrize("steps", [1, 9])
def test_the_last_step_can_be_taken_again(steps):
    run = trainer()
    take(run, steps)
    last = run.last_step
    model = last.model()
    assert model.fused is False
    loss = model.loss(last.x, last.y)
    loss.backward()
    assert float(loss.data) == last.loss == run.report.loss
    for name, p in model.named_parameters().items():
        assert np.array_equal(p.grad, last.gradients[name]), name
    norm = clip_grad_norm(model.parameters(), SETTINGS.max_norm)
    assert last.clip_factor == min(1.0, SETTINGS.max_norm / norm)
    for name, p in model.named_parameters().items():
        assert np.array_equal(p.grad, last.gradients[name] * last.clip_factor)


def test_the_last_step_can_t_be_written_into_and_stays_while_the_run_goes_on():
    run = trainer()
    take(run, 4)
    last = run.last_step
    kept = {name: w.copy() for name, w in last.weights.items()}
    for array in (last.x, last.y, *last.weights.values(), *last.gradients.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    take(run, 3)
    assert run.last_step.step == 6 and all(np.array_equal(last.weights[name], kept[name]) for name in kept)


# Faults


def test_a_step_that_is_not_finite_updates_nothing_and_names_the_place():
    run = trainer(val_data=None)
    take(run, 2)
    weights = run.model.blocks[1].ffn.W1
    weights.data = weights.data.copy()
    weights.data[0, 0] = np.nan
    before = {name: p.data for name, p in run.model.named_parameters().items()}
    (report,) = run.run()
    assert report.fault.fault == "the loss is NaN" and report.fault.place == "blocks.1.ffn.W1"
    assert report.updates == {} and run.step == 3 and run.fault is report.fault
    assert all(p.data is before[name] for name, p in run.model.named_parameters().items())
    assert np.isnan(run.last_step.loss)
    weights.data = np.nan_to_num(weights.data)
    assert len(list(run.run())) == 17 and run.fault is None


def test_numbers_that_overflow_are_found_where_they_do():
    run = trainer(val_data=None)
    take(run, 1)
    gate = run.model.blocks[0].ffn
    gate.W1.data, gate.W3.data = np.full_like(gate.W1.data, 1e25), np.full_like(gate.W3.data, 1e25)
    (report,) = run.run()
    assert report.fault.place == "blocks.0.ffn.act" and "forward" in report.fault.where
    assert str(report.fault).startswith("step 1: the loss is NaN; first not finite in the forward pass: blocks.0")


def test_a_loss_that_rises_too_far_stops_the_run_once():
    run = trainer(replace(SETTINGS, alarm=1.5), val_data=None)
    take(run, 3)
    run.model.E.data = run.model.E.data * 40
    *_, report = run.run()
    assert report.step == 3 and report.fault.place in run.last_step.gradients
    assert "the loss rose to" in report.fault.fault and report.updates
    after = take(run, 1)
    assert after[0].step == 4 and after[0].fault is None


def test_without_an_alarm_only_what_is_not_finite_stops_it():
    run = trainer(replace(SETTINGS, alarm=None), val_data=None)
    take(run, 3)
    run.model.E.data = run.model.E.data * 40
    assert len(list(run.run())) == 17


# The model that comes of it


def test_the_model_is_saved_with_the_run_s_facts(tmp_path):
    run = trainer()
    take(run, 7)
    run.save_model(tmp_path / "x.npz")
    loaded = GlassLM.load(tmp_path / "x.npz")
    assert np.array_equal(loaded.E.data, run.model.E.data.astype(np.float16))
    assert loaded.meta["run"]["steps"] == 7 and loaded.meta["run"]["loss"] == run.report.loss
    run.model.E.data = run.model.E.data * np.float32(1e6)
    run.save_model(tmp_path / "x.npz")
    assert np.array_equal(GlassLM.load(tmp_path / "x.npz").E.data, run.model.E.data)


def test_it_learns():
    run = Trainer(GlassLM(TINY), np.tile(np.arange(16), 20), replace(SETTINGS, steps=60))
    losses = [r.loss for r in run.run()]
    assert losses[-1] < losses[0] / 2
    assert run.best.loss <= losses[-1]
    assert evaluate(run.model, np.tile(np.arange(16), 5), 2, 8) < losses[0] / 2
