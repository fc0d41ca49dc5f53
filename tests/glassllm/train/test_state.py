"""Training states: saved and read back to the bit, opened as checkpoints too, refused in one line."""

import json
import zipfile

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.checkpoint import CheckpointError, write_npz
from glassllm.train import RunSettings, Trainer, load_state, save_state, state_path, writing_state

TINY = Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8)
DATA = np.arange(40) % 9
SETTINGS = RunSettings(steps=4, batch_size=2, seq_len=4, warmup=1, eval_every=2)


@pytest.fixture(scope="module")
def state():
    model = GlassLM(TINY)
    model.tokenizer = Tokenizer("ab▁", [("a", "b")])
    model.meta, model.sample = {"by": "hand"}, np.array([4, 5])
    run = Trainer(model, DATA, SETTINGS, DATA)
    for report in run.run():
        if report and report.step == 2:
            break
    return run.state()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.train.npz"


def members(path, state):
    save_state(path, state)
    with np.load(path) as file:
        return dict(file)


@pytest.mark.parametrize("name", ["x.npz", "x.train.npz", "x"])
def test_where_it_lies(name):
    assert str(state_path(f"folder/{name}")) == "folder/x.train.npz"


def test_what_is_saved_is_read(path, state):
    save_state(path, state)
    read = load_state(path)
    assert (read.config, read.run, read.counts) == (state.config, state.run, state.counts)
    for part in ("weights", "first", "second"):
        ours, theirs = getattr(state, part), getattr(read, part)
        assert list(ours) == list(theirs)
        assert all(np.array_equal(ours[name], theirs[name]) and theirs[name].dtype == np.float32 for name in ours)
    assert list(read.curves) == list(state.curves)
    assert read.tokenizer.merges == state.tokenizer.merges and read.meta == {"by": "hand"}
    assert read.sample.tolist() == [4, 5]
    assert any(moment.any() for moment in read.first.values()) and read.counts["E"] == 3


def test_it_is_a_checkpoint_too(path, state):
    save_state(path, state)
    model = GlassLM.load(path)
    assert np.array_equal(model.E.data, state.weights["E"]) and model.tokenizer.vocab_size == 8


def test_the_same_state_gives_the_same_bytes(tmp_path, state):
    for name in ("a", "b"):
        save_state(tmp_path / name, state)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_abandoned_midway_nothing_is_written(path, state):
    path.write_text("before")
    steps = writing_state(path, state)
    done, total = next(steps)
    assert 0 < done < total
    steps.close()
    assert path.read_text() == "before" and [p.name for p in path.parent.iterdir()] == [path.name]


def run_values(**changes):
    return lambda m: {"__run__": np.array(json.dumps(json.loads(str(m["__run__"])) | changes))}


def settings(**changes):
    return lambda m: run_values(settings=json.loads(str(m["__run__"]))["settings"] | changes)(m)


def rng(**changes):
    return lambda m: run_values(rng=json.loads(str(m["__run__"]))["rng"] | changes)(m)


def gone(name):
    return lambda m: {name: None}


def put(name, value):
    return lambda m: {name: value}


BAD = [
    (gone("__run__"), "no __run__ in it: not a training state"),
    (gone("adamw.first.E"), "'adamw.first.E' is missing"),
    (gone("adamw.counts"), "'adamw.counts' is missing"),
    (gone("curve.loss"), "'curve.loss' is missing"),
    (put("adamw.second.E", np.zeros((9, 5), np.float32)), r"'adamw.second.E' has shape \(9, 5\)"),
    (put("adamw.second.E", np.zeros((9, 4))), "'adamw.second.E' is float64, not float32"),
    (put("E", np.zeros((9, 4), np.float16)), "'E' is float16, not float32"),
    (put("adamw.counts", np.zeros(3, np.int64)), "'adamw.counts' must be int64"),
    (put("curve.loss", np.zeros((2, 3))), "'curve.loss' must be float64"),
    (put("curve.loss", np.zeros((5, 4000))), r"'curve.loss' must be float64 of shape \(5, 2048\)"),
    (put("curve.loss", np.full((5, 3), np.nan)), "bad 'curve.loss'"),
    (put("curve.loss", np.ones((5, 3))), "bad 'curve.loss': a curve has whole, rising steps"),
    (put("__run__", np.array("{")), "__run__: not JSON"),
    (put("__run__", np.array("[" * 5000)), "__run__: JSON that is nested too deeply"),
    (put("__run__", np.array("[]")), "__run__ must be a JSON object"),
    (put("__run__", np.array("x" * 600_000)), "'__run__' has 600000 characters"),
    (put("__run__", np.array([{}])), "objects"),
    (run_values(version=2), "version 2, not 1"),
    (run_values(step=-1), "step must be from 0"),
    (run_values(step=True), "step must be from 0"),
    (run_values(clipped=1.5), "clipped must be from 0"),
    (run_values(best=[1]), "best must be a step and a loss"),
    (run_values(best=[1, float("nan")]), "best must be a finite number"),
    (run_values(reference="x"), "reference must be a finite number"),
    (run_values(reference=10**400), "reference must be a finite number"),
    (run_values(data="x"), "data must be a fingerprint"),
    (run_values(strides={}), "bad 'curve.loss'"),
    (run_values(rng=None), "rng must have state"),
    (rng(state="zz"), "rng's state must be 128 bits"),
    (rng(has_uint32="2"), "rng's has_uint32 must be 1 bits"),
    (settings(lr=0), "lr must be above 0"),
    (settings(steps="many"), "steps must be from 1"),
    (settings(colour="red"), "unknown keys: 'colour'"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=[words for _, words in BAD])
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_state_is_refused_in_one_line(path, state, change, words):
    arrays = members(path, state)
    arrays |= change(arrays)
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(CheckpointError, match=words) as refused:
        load_state(path)
    assert str(refused.value).startswith(f"{path}: ") and "\n" not in str(refused.value)


def test_sizes_are_looked_at_before_any_number_is_read(path, state, monkeypatch):
    arrays = members(path, state) | {"adamw.second.norm_f.gamma": np.zeros(5, np.float32)}
    write_npz(path, arrays)
    monkeypatch.setattr("glassllm.checkpoint.Archive.read", lambda *_: pytest.fail("read"))
    with pytest.raises(CheckpointError, match="has shape"):
        load_state(path)


def test_a_damaged_file_is_refused(path, state):
    save_state(path, state)
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("adamw.first.E.npy").header_offset
    content = bytearray(path.read_bytes())
    content[start + 120] ^= 255
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"damaged|claims"):
        load_state(path)


def test_a_checkpoint_is_not_a_state(path):
    GlassLM(TINY).save(path)
    with pytest.raises(CheckpointError, match="not a training state"):
        load_state(path)
