"""Checkpoints of strangers: no file costs more than one line, a moment and a little memory."""

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from glassllm.checkpoint import CheckpointError, load_checkpoint
from tests.glassllm.checkpoint.bad import BAD, LARGE, LAST, MERGES, large, tokenizer_of
from tests.glassllm.checkpoint.members import CONFIG, members


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line_and_costs_little(name: str, path: Path) -> None:
    words, build = BAD[name]
    build(path)
    error, peak = refused(path, words)
    assert str(error) == f"{error.path}: {error.fault}; {error.remedy}"
    assert str(error).isprintable() and error.fault and error.remedy and len(error.fault) < 300
    assert str(path.parent) in str(error.path)
    assert peak < 10e6


@pytest.mark.parametrize("name", LARGE)
def test_one_fault_in_a_large_file(name: str, path: Path) -> None:
    words, build = LARGE[name]
    build(path)
    error, peak = refused(path, words)
    assert str(error).isprintable() and len(error.fault) < 300
    assert peak < 20e6


def test_the_largest_tokenizer_may_go_with_a_model(path: Path) -> None:
    large(tokenizer_of([*MERGES, LAST]))(path)
    assert load_checkpoint(path).warnings == ("the tokenizer names 51200 of the model's 60000 ids",)


def refused(path: Path, words: str) -> tuple[CheckpointError, int]:
    """How, and with how much memory at most; a refusal that is not quick fails."""
    start = time.process_time()
    with pytest.raises(CheckpointError, match=words) as refusal:
        load_checkpoint(path)
    assert time.process_time() - start < 2
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError):
            load_checkpoint(path)
        return refusal.value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_long_path_is_not_repeated_whole(tmp_path: Path) -> None:
    long = tmp_path.joinpath(*["folder" * 20] * 12, "model.npz")
    with pytest.raises(CheckpointError) as refusal:
        load_checkpoint(long)
    assert refusal.value.path == str(long)
    assert str(refusal.value).startswith("…") and len(str(refusal.value)) < 500
    assert "/model.npz: no such file; there is no folder …" in str(refusal.value)


@pytest.mark.parametrize("name", ["", "a\0b", "none/x.npz", "x" * 5000, "\ud800"])
def test_names_that_are_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError) as refusal:
        load_checkpoint(name)
    assert str(refusal.value).isprintable()


def test_escape_codes_in_names_never_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2Jb.npz").write_text("x")
    with pytest.raises(CheckpointError) as refusal:
        load_checkpoint(tmp_path / "a\x1b[2Jc.npz")
    assert str(refusal.value).endswith(r"a\x1b[2Jc.npz: no such file; did you mean a\x1b[2Jb.npz?")


def test_every_prefix_of_a_file_is_refused(path: Path) -> None:
    np.savez_compressed(path, **members())
    whole = path.read_bytes()
    for length in range(0, len(whole), 211):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            load_checkpoint(path)


def test_no_file_with_a_wrong_byte_raises_anything_else(path: Path) -> None:
    np.savez_compressed(path, **members())
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            loaded = load_checkpoint(path)  # a byte that carries nothing, such as a date
        except CheckpointError as error:
            assert str(error).isprintable()
        else:
            assert loaded.config == CONFIG
