"""Recordings of strangers: whatever is wrong with one is said in one line, before it costs anything."""

import copy
import pickle
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from glassllm.checkpoint import CheckpointError
from glassllm.debug.commands import run
from glassllm.debug.opening import open_file
from glassllm.debug.recording.read import open_recording
from glassllm.debug.snapshot import CommandError
from tests.glassllm.debug.recording.bad import ARRAYS, BAD, MANIFEST
from tests.glassllm.debug.recording.small import put_together


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


def written(path: Path, change) -> None:
    manifest, arrays = copy.deepcopy(MANIFEST), dict(ARRAYS)
    if isinstance(change, str):
        manifest = change
    else:
        change(manifest, arrays)
    put_together(path, manifest, arrays)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_recording_is_one_line_and_costs_little(name, path):
    words, change = BAD[name]
    written(path, change)
    start = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=words) as refusal:
            open_recording(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    error = refusal.value
    assert str(error) == f"{error.path}: {error.fault}; {error.remedy}"
    assert str(error).isprintable() and error.fault and error.remedy and len(error.fault) < 300
    assert peak < 20e6 and time.process_time() - start < 2


def test_the_recording_they_were_made_of_opens(path):
    written(path, lambda manifest, arrays: None)
    session = open_recording(path)
    assert session.snapshot().position == type(session.position)(*MANIFEST["position"])


def test_the_largest_manifest_that_is_read_costs_little(path):
    """As many members and entries as there may be, and a fault in the last row."""
    manifest, arrays = copy.deepcopy(MANIFEST), {f"array{i}": np.zeros((), "f4") for i in range(6000)}
    manifest["members"] = [["<f4", []]] * 6000
    rows = [{"op": "neg", "in": [i], "array": i % 6000, "scope": f"a.{i}"} for i in range(5_000)]
    manifest["rows"] = [{"leaf": "x", "array": 0}, *rows, {"op": "neg", "in": [99_999], "array": 0}]
    put_together(path, manifest, arrays)
    tracemalloc.start()
    with pytest.raises(CheckpointError, match="row 5001: an input"):
        open_recording(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


def test_files_that_are_neither(path):
    np.savez(path, x=np.zeros(3))
    with pytest.raises(CheckpointError, match=r"neither a checkpoint nor a recording: .*; name a file"):
        open_file(path)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(CheckpointError, match="a pickle, which is never read"):
        open_file(path)


def test_the_limit_is_an_option(path):
    written(path, lambda manifest, arrays: None)
    with pytest.raises(CheckpointError, match=r"limit of .* GiB; raise the limit if you trust the file"):
        open_recording(path, limit_bytes=1000)


def test_numbers_no_rule_can_take_end_the_traversal_in_one_line(path):
    """An exponent that integers cannot take: nothing a shape tells."""
    manifest, arrays = copy.deepcopy(MANIFEST), dict(ARRAYS)
    arrays["array0"], manifest["members"][0] = np.array([2, 3]), ["<i8", [2]]
    manifest["rows"] = [
        {"leaf": "x", "array": 0, "place": True},
        {"op": "power", "in": [0], "attrs": {"exponent": -2}, "array": 0, "tracked": True},
    ]
    manifest |= {"traversals": [], "events": [], "leaves": [0], "position": [0, 0, 0], "selection": 0}
    put_together(path, manifest, arrays)
    session = open_recording(path)
    with pytest.raises(CommandError, match="visit 1 cannot be computed from what this recording holds: Integers"):
        run(session, "last")
        run(session, "backward")
    assert session.position.traversal == 0
    run(session, "where")


def test_a_visit_its_numbers_do_not_allow_ends_its_traversal(path):
    """The session that was within it opens all the same, and says why it is not where it was."""
    manifest, arrays = copy.deepcopy(MANIFEST), dict(ARRAYS)
    arrays["array0"], manifest["members"][0] = np.array([2, 3]), ["<i8", [2]]
    arrays["array1"], manifest["members"][1] = np.array([1.0, 1.0]), ["<f8", [2]]
    manifest["rows"] = [
        {"leaf": "x", "array": 0, "place": True},
        {"op": "power", "in": [0], "attrs": {"exponent": -2}, "array": 0, "tracked": True},
    ]
    manifest |= {"events": [], "leaves": [0], "position": [1, 1, 0], "selection": 0}
    manifest["traversals"] = [{"root": 1, "seed": 1, "fresh": False, "visits": 2}]
    put_together(path, manifest, arrays)
    session = open_recording(path)
    said = "".join(text for text, _ in session.snapshot().said)
    assert said.startswith("visit 1 cannot be computed from what this recording holds: Integers")
    assert session.position.traversal == 0 and session.selection == 0
