"""Saving a checkpoint: the right weights, whole or not at all, whatever happens meanwhile."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassllm.checkpoint import Archive, CheckpointError, save_checkpoint
from glassllm.checkpoint.npz import Writable, write_npz
from tests.glassllm.checkpoint.members import CONFIG, random_weights


@pytest.mark.parametrize(
    "weights", [{}, {"more": np.zeros(3)}, {"E": np.zeros((9, 5))}, {"E": np.zeros((9, 4), int)}]
)
def test_only_the_configs_weights_are_saved(path: Path, weights: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="weight"):
        save_checkpoint(path, CONFIG, (random_weights(CONFIG) | weights) if weights else {})
    assert not path.exists()


KILLED_WHILE_SAVING = """
import os, sys, numpy as np
from glassllm.checkpoint import save_checkpoint
from glassllm.config import Config

def killed(*args, **kwargs):
    os.kill(os.getpid(), 9)

config = Config(9, 4, 2, 2, 1, 6)
weights = {name: np.ones(shape, np.float32) for name, shape in config.parameter_shapes().items()}
moments = {"fsync": os, "replace": os, "write_array_header_1_0": np.lib.format}
setattr(moments[sys.argv[2]], sys.argv[2], killed)
save_checkpoint(sys.argv[1], config, weights)
"""


@pytest.mark.parametrize("moment", ["write_array_header_1_0", "fsync", "replace"])
def test_killed_while_saving_the_old_file_is_whole(path: Path, moment: str) -> None:
    save_checkpoint(path, CONFIG, random_weights(CONFIG))
    before = path.read_bytes()
    child = subprocess.run([sys.executable, "-c", KILLED_WHILE_SAVING, path, moment], check=False)
    assert abs(child.returncode) == 9
    assert path.read_bytes() == before


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(path, CONFIG, random_weights(CONFIG))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="cannot be written: No space left on device; choose"):
        save_checkpoint(path, CONFIG, random_weights(CONFIG))
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


NOISE = np.random.default_rng(0).normal(size=100_000)
HELD = {
    "noise": (NOISE, zipfile.ZIP_STORED),
    "noise behind noise": ([NOISE[:7], NOISE[7:]], zipfile.ZIP_STORED),
    "noise that ends": ([NOISE[:9], *[np.zeros(2000)] * 40], zipfile.ZIP_DEFLATED),
    "half noise, half zeros": (np.concatenate([NOISE, np.zeros(NOISE.size)]), zipfile.ZIP_DEFLATED),
    "zeros": (np.zeros(100_000), zipfile.ZIP_DEFLATED),
    "whole numbers": (np.arange(100_000) // 7, zipfile.ZIP_DEFLATED),
    "text": (np.array("a text of letters"), zipfile.ZIP_DEFLATED),
    "nothing": (np.zeros(0), zipfile.ZIP_STORED),
}


@pytest.mark.parametrize(("array", "method"), HELD.values(), ids=HELD)
def test_numbers_are_compressed_where_that_is_worth_its_time(path: Path, array: Writable, method: int) -> None:
    write_npz(path, {"x": array})
    with zipfile.ZipFile(path) as archive:
        assert [info.compress_type for info in archive.infolist()] == [method]
    expected = np.concatenate(array) if isinstance(array, list) else array
    with np.load(path) as others, Archive(path) as ours:
        assert np.array_equal(others["x"], expected)
        assert "x" in ours and ours.header("x").shape == expected.shape
