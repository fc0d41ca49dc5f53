"""Recordings of strangers: whatever is wrong with one is said in one line, before it costs anything."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from glassllm.checkpoint import CheckpointError
from glassllm.debug.commands import run
from glassllm.debug.opening import open_file
from glassllm.debug.recording.columns import COLUMNS
from glassllm.debug.recording.read import open_recording
from glassllm.debug.snapshot import CommandError
from tests.glassllm.debug.recording.bad import BAD, SAID
from tests.glassllm.debug.recording.edits import alone
from tests.glassllm.debug.recording.refusing import refused
from tests.glassllm.debug.recording.small import added, copied, members_of, put_together, row


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


def written(path: Path, change) -> None:
    said = copied(SAID)
    change(said)
    put_together(path, said)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_recording_is_one_line_and_costs_little(name, path):
    words, change = BAD[name]
    written(path, change)
    error, peak = refused(path, words)
    assert str(error) == f"{error.path}: {error.fault}; {error.remedy}"
    assert str(error).isprintable() and error.fault and error.remedy and len(error.fault) < 300
    assert peak < 20e6


def test_the_recording_they_were_made_of_opens(path):
    written(path, lambda said: None)
    session = open_recording(path)
    assert session.snapshot().position == type(session.position)(*SAID["position"])


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_columns_may_be_wider_than_they_need_to_be(dtype, path):
    said = copied(SAID)
    wider = {name: column.astype(dtype) for name, column in members_of(said).items() if name in COLUMNS}
    put_together(path, said | {"members": wider})
    session = open_recording(path)
    assert session.snapshot().position == type(session.position)(*SAID["position"])
    run(session, "last")


def test_files_that_are_neither(path):
    np.savez(path, x=np.zeros(3))
    with pytest.raises(CheckpointError, match=r"neither a checkpoint nor a recording: .*; name a file"):
        open_file(path)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(CheckpointError, match="a pickle, which is never read"):
        open_file(path)


def test_the_limit_is_an_option(path):
    written(path, lambda said: None)
    with pytest.raises(CheckpointError, match=r"limit of .* GiB; raise the limit if you trust the file"):
        open_recording(path, limit_bytes=1000)


def powers(said):
    """x -> x to the power of an exponent that integers cannot take: nothing a shape tells."""
    x = added(said, np.array([2, 3]))
    said["rows"] = [
        row("leaf", "x", x, flags=["place"]),
        row("node", "power", x, [0], ["tracked"], attrs={"exponent": -2}),
    ]
    alone(said)
    said["leaves"] = [0]


def test_numbers_no_rule_can_take_end_the_traversal_in_one_line(path):
    written(path, powers)
    session = open_recording(path)
    with pytest.raises(CommandError, match="visit 1 cannot be computed from what this recording holds: Integers"):
        run(session, "last")
        run(session, "backward")
    assert session.position.traversal == 0
    run(session, "where")


def test_a_visit_its_numbers_do_not_allow_ends_its_traversal(path):
    """The session that was within it opens all the same, and says why it is not where it was."""

    def stopped(said):
        powers(said)
        seed = added(said, np.array([1.0, 1.0]))
        said["traversals"] = [{"root": 1, "seed": seed, "fresh": False, "visits": 2, "sent": 0}]
        said["position"] = [1, 1, 0]

    written(path, stopped)
    session = open_recording(path)
    said = "".join(text for text, _ in session.snapshot().said)
    assert said.startswith("visit 1 cannot be computed from what this recording holds: Integers")
    assert session.position.traversal == 0 and session.selection == 0
