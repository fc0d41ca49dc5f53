"""Batches, steps and reports; a model that learns a batch by heart."""

from dataclasses import replace

import numpy as np
import pytest

from glassllm import Config, GlassLM, no_grad
from glassllm.optim import AdamW, clip_grad_norm, lr_schedule
from glassllm.train import evaluate, get_batch, train, train_step, train_steps

TINY = Config(vocab_size=16, d_model=16, n_layers=2, n_heads=2, n_kv_heads=1, max_len=16)
DATA = np.random.default_rng(0).integers(0, 16, 200)
SMALL = {"batch_size": 4, "seq_len": 8, "warmup": 2}


@pytest.mark.parametrize("as_list", [False, True])
def test_a_batch_is_the_data_at_the_starts_drawn(as_list):
    data = np.arange(50, 150)
    x, y = get_batch(list(data) if as_list else data, 6, 9, np.random.default_rng(4))
    starts = np.random.default_rng(4).integers(0, 100 - 9, size=6)
    assert x.shape == y.shape == (6, 9)
    for row, (a, b) in enumerate(zip(x, y, strict=True)):
        assert np.array_equal(a, data[starts[row] : starts[row] + 9])
        assert np.array_equal(b, data[starts[row] + 1 : starts[row] + 10])


def test_the_shortest_data_gives_its_only_piece():
    x, y = get_batch(np.arange(5), 3, 4, np.random.default_rng(0))
    assert np.array_equal(x, [[0, 1, 2, 3]] * 3) and np.array_equal(y, [[1, 2, 3, 4]] * 3)


@pytest.mark.parametrize("data", [np.arange(4), np.zeros((10, 10), int), 3])
def test_data_too_short_or_not_in_one_row_is_refused(data):
    with pytest.raises(ValueError, match="more than 4 ids"):
        get_batch(data, 1, 4, np.random.default_rng(0))


def test_a_step_is_zero_grad_loss_backward_clip_and_update():
    lively = replace(TINY, init_std=0.5)  # gradients above the limit, so that clipping shows
    model, by_hand = GlassLM(lively), GlassLM(lively)
    params = by_hand.parameters()
    optimizer, other = AdamW(model.parameters()), AdamW(params)
    rng = np.random.default_rng(0)
    for lr in (0.01, 0.02, 0.005):
        x, y = get_batch(DATA, 2, 8, rng)
        loss = by_hand.loss(x, y)
        loss.backward()
        assert clip_grad_norm(params, 1.0) > 1.0
        other.step(lr)
        for p in params:
            p.grad = None
        assert train_step(model, optimizer, x, y, lr) == float(loss.data)
    for a, b in zip(model.parameters(), params, strict=True):
        assert np.array_equal(a.data, b.data)


def test_one_batch_is_learnt_by_heart():
    model = GlassLM(TINY)
    optimizer = AdamW(model.parameters(), lr=1e-2)
    x, y = get_batch(DATA, 2, 8, np.random.default_rng(0))
    losses = [train_step(model, optimizer, x, y, 1e-2) for _ in range(100)]
    assert losses[0] == pytest.approx(np.log(16), abs=0.2)
    assert losses[-1] < 0.1


def test_reports_say_step_loss_rate_and_now_and_then_the_validation_loss():
    reports = train(GlassLM(TINY), DATA, 6, **SMALL, lr=0.01, val_data=DATA, eval_every=4)
    assert [r["step"] for r in reports] == list(range(6))
    assert [r["lr"] for r in reports] == [lr_schedule(i, 6, 0.01, 2) for i in range(6)]
    assert [i for i, r in enumerate(reports) if "val_loss" in r] == [0, 4, 5]
    assert all(type(r["loss"]) is float for r in reports)


def test_train_is_its_steps_and_a_seed_repeats_them():
    runs = [GlassLM(TINY) for _ in range(3)]
    drained = train(runs[0], DATA, 5, **SMALL)
    pulled = list(train_steps(runs[1], DATA, 5, **SMALL))
    other = train(runs[2], DATA, 5, **SMALL, seed=1)
    assert drained == pulled != other
    for a, b in zip(runs[0].parameters(), runs[1].parameters(), strict=True):
        assert np.array_equal(a.data, b.data) and a.dtype == np.float32


def test_training_can_stop_between_two_steps():
    steps = train_steps(GlassLM(TINY), DATA, 1000, **SMALL)
    assert next(steps)["step"] == 0 and next(steps)["step"] == 1
    steps.close()


def test_training_where_nothing_is_tracked_is_refused():
    with no_grad(), pytest.raises(ValueError, match="no_grad"):
        train(GlassLM(TINY), DATA, 1, **SMALL)


class Ear:
    """A hook that writes down whether anything was tracked."""

    def __init__(self):
        self.tracked = []

    def applied(self, op, inputs, attrs, saved, result):
        self.tracked.append(result.requires_grad)

    def marked(self, step_id, value, layer):
        pass


def test_evaluation_is_the_mean_over_its_own_batches_and_tracks_nothing(hooked):
    model = GlassLM(TINY)
    rng = np.random.default_rng(1234)
    batches = [get_batch(DATA, 3, 8, rng) for _ in range(4)]
    wanted = np.mean([float(model.loss(x, y).data) for x, y in batches])
    assert evaluate(model, DATA, 3, 8, n_batches=4) == pytest.approx(wanted, rel=1e-6)
    assert evaluate(model, DATA, 3, 8, n_batches=4, seed=5) != pytest.approx(wanted, rel=1e-6)
    with hooked(Ear()) as ear:
        evaluate(model, DATA, 3, 8, n_batches=1)
    assert ear.tracked and not any(ear.tracked)
