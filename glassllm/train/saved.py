"""Where runs are saved: NAME.npz, the model, and NAME.train.npz, the run; with a number where these are taken."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from glassllm.checkpoint import CheckpointError
from glassllm.config import Config
from glassllm.files import shown

from .state import Run, load_run, state_path


def free_file(folder: Path, name: str) -> Path:
    """The model's file of a new run: no file is written over."""
    number = 1
    while True:
        path = folder / (f"{name}.npz" if number == 1 else f"{name}-{number}.npz")
        if not path.exists() and not state_path(path).exists():
            return path
        number += 1


def place_for(path: Path, name: str) -> Path:
    """The model's file where a person wants a run: NAME.npz, or of this name in a folder.

    ValueError where something is there already.
    """
    if path.is_dir():
        return free_file(path, name)
    file = model_file(state_path(path))
    for taken in (file, state_path(file)):
        if taken.exists():
            raise ValueError(f"{shown(taken)} is there already; choose another name")
    return file


def model_file(run: Path) -> Path:
    """NAME.npz for NAME.train.npz."""
    return run.with_name(run.name.removesuffix(".train.npz") + ".npz")


def unfinished(folder: Path, name: str, config: Config) -> tuple[Path, Run] | None:
    """The newest run of this name and of such a model that has steps to go; None where there is none."""
    for path in _newest_first(folder, name):
        try:
            found, run = load_run(path)
        except CheckpointError:
            continue  # whatever it is, there is nothing to go on with
        if found == config and run.step < run.settings.steps:
            return path, run
    return None


def _newest_first(folder: Path, name: str) -> Iterator[Path]:
    pattern = re.compile(rf"{re.escape(name)}(-\d+)?\.train\.npz")
    try:
        entries = [entry for entry in os.scandir(folder) if pattern.fullmatch(entry.name) and entry.is_file()]
        entries.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
    except OSError:
        return  # a folder that cannot be looked into offers nothing
    yield from (Path(entry.path) for entry in entries)
