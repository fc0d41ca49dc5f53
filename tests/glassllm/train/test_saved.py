"""Where runs are saved: which name is free, and which run could be gone on with."""

import os

import numpy as np
import pytest

from glassllm import Config, GlassLM
from glassllm.train import RunSettings, Trainer, save_state
from glassllm.train.saved import free_file, model_file, unfinished

TINY = Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8)
OTHER = Config(vocab_size=9, d_model=8, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8)


def put(path, steps=1, config=TINY, age=0):
    """A saved run of three steps that has done so many of them, written so many seconds ago."""
    run = Trainer(GlassLM(config), np.arange(40) % 9, RunSettings(steps=3, batch_size=2, seq_len=4, warmup=1))
    for _ in range(steps):
        run.advance()
    save_state(path, run.state())
    os.utime(path, (1e9 - age, 1e9 - age))


@pytest.mark.parametrize(
    ("taken", "free"),
    [
        ([], "a.npz"),
        (["a.npz"], "a-2.npz"),
        (["a.train.npz"], "a-2.npz"),
        (["a.npz", "a-2.train.npz", "a-4.npz"], "a-3.npz"),
        (["b.npz"], "a.npz"),
    ],
)
def test_a_name_is_free_where_neither_model_nor_run_has_it(tmp_path, taken, free):
    for name in taken:
        (tmp_path / name).touch()
    assert free_file(tmp_path, "a") == tmp_path / free


def test_the_newest_that_has_steps_to_go_is_found(tmp_path):
    name = "a (1)[x]"
    assert unfinished(tmp_path, name, TINY) is None
    put(tmp_path / f"{name}.train.npz", age=50)
    put(tmp_path / f"{name}-2.train.npz", steps=2, age=40)
    put(tmp_path / f"{name}-3.train.npz", steps=3, age=30)  # done
    put(tmp_path / f"{name}-4.train.npz", config=OTHER, age=20)
    put(tmp_path / f"{name}b.train.npz", age=10)
    (tmp_path / f"{name}-5.train.npz").write_bytes(b"no archive")
    (tmp_path / f"{name}-6.train.npz").mkdir()
    path, run = unfinished(tmp_path, name, TINY)
    assert (path.name, run.step) == (f"{name}-2.train.npz", 2)
    assert unfinished(tmp_path / "nowhere", name, TINY) is None


def test_model_and_run_lie_side_by_side(tmp_path):
    assert model_file(tmp_path / "a.train.npz") == tmp_path / "a.npz"
