"""Saving now and then: a disk that is full costs nothing but the save; and how fast a run goes."""

import numpy as np
import pytest

from glassllm import Config, GlassLM
from glassllm.train import Autosave, Pace, RunSettings, Trainer, load_state

TINY = Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8)
DATA = np.arange(40) % 9


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def run():
    return Trainer(GlassLM(TINY), DATA, RunSettings(steps=9, batch_size=2, seq_len=4, warmup=1))


def test_it_saves_when_the_time_has_come(run, tmp_path):
    clock = Clock()
    save = Autosave(tmp_path / "x.train.npz", every=60, clock=clock)
    assert not save.is_due and save.saved is None
    clock.now += 60
    next(run.run())
    assert save.is_due and save.save(run) and save.saved == 1 and not save.is_due
    assert load_state(save.path).run.step == 1


def test_a_full_disk_is_said_and_tried_again_and_loses_nothing(run, tmp_path, full):
    clock = Clock()
    save = Autosave(tmp_path / "x.train.npz", every=60, clock=clock)
    steps = run.run()
    next(steps)
    assert save.save(run)
    full.append(True)
    next(steps)
    assert not save.save(run) and save.saved == 1
    assert str(save.fault) == f"{save.path}: cannot be written: No space left on device; choose another place"
    assert load_state(save.path).run.step == 1 and len(list(tmp_path.iterdir())) == 1
    assert not save.is_due
    clock.now += 10
    assert save.is_due
    full.clear()
    assert next(steps).step == 2 and save.save(run) and save.fault is None
    assert load_state(save.path).run.step == 3


@pytest.mark.parametrize("name", ["nowhere/x.train.npz", "file/x.train.npz", ""])
def test_a_place_that_can_t_be_written_stops_nothing(run, tmp_path, name):
    (tmp_path / "file").write_text("")
    save = Autosave(tmp_path / name)
    assert not save.save(run) and save.fault.remedy == "choose another place"
    assert len(list(run.run())) == 9


def test_the_pace_is_that_of_the_last_steps():
    clock = Clock()
    pace = Pace(clock)
    assert pace.tokens_per_second is None and pace.seconds_left(3) is None
    pace.start(0, 0)
    assert pace.tokens_per_second is None and pace.seconds_per_step is None
    for step in range(1, 200):
        clock.now += 0.5 if step < 100 else 2.0
        pace.add(step, 64 * step)
    assert pace.tokens_per_second == 32 and pace.seconds_left(10) == 20
    clock.now += 1000  # a pause
    pace.start(199, 199 * 64)
    assert pace.tokens_per_second is None
    clock.now += 1
    pace.add(200, 200 * 64)
    assert pace.tokens_per_second == 64
