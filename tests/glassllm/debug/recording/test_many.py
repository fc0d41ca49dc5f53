"""Graphs of thousands of nodes: saved and opened in short slices, the same to the bit, and never too much."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.debug.commands import perform, run
from glassllm.debug.opening import opening_file
from glassllm.debug.recorder import record
from glassllm.debug.recording.read import open_recording
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from tests.glassllm.debug.recording.sameness import assert_same_look, same_array
from tests.large import LARGE, Lines, fan, mixed

MOST = 60_000  # lines of Python in one slice; they take some milliseconds


def session_of(make, nodes=LARGE):
    with record() as tape:
        make(nodes)
    return Session.of(tape)


def chain(nodes):
    """Each node with another array."""
    h = Tensor(np.array([0.3, 0.5]), requires_grad=True)
    for _ in range(nodes):
        h = h * 0.999
    return h.sum()


@pytest.mark.parametrize("make", [mixed, fan, chain])
def test_it_goes_on_as_the_original(make, again):
    session = session_of(make)
    for line in ("last", "backward", "last", "2000 step-back"):
        run(session, line)
    opened = again(session)
    rows, others = session.tape.rows, opened.tape.rows
    assert all(map(same_array, rows.arrays, others.arrays))
    for name in ("names", "scopes", "events", "numbers", "_flags", "_inputs", "_ends", "_made_at"):
        assert getattr(rows, name) == getattr(others, name), name
    for line in ("step", "last", "first", "3 next", "previous", "continue 2", "backward", "last"):
        run(session, line)
        run(opened, line)
        assert session.position == opened.position
    for leaf in session.tape.leaves:
        at = session.position
        assert same_array(session.tape.gradient(leaf, at), opened.tape.gradient(leaf, at))


@pytest.mark.parametrize("make", [mixed, chain])
def test_both_go_in_short_slices(make, tmp_path):
    path = tmp_path / "run.npz"
    session = session_of(make)
    run(session, "last")
    run(session, "backward")
    run(session, "last")
    for work in (perform(session, f"save {path}"), opening_file(path)):
        with Lines() as lines:
            for done, total, *_ in work:
                assert 0 <= done <= total
                lines.mark()
        assert len(lines.counts) > 10
        assert max(lines.counts) < MOST


@pytest.mark.parametrize("stop", [1, 20, 40])
def test_left_at_any_slice_nothing_is_there(stop, tmp_path):
    session = session_of(mixed)
    work = perform(session, f"save {tmp_path / 'run.npz'}")
    for _ in range(stop):
        next(work)
    work.close()
    assert list(tmp_path.iterdir()) == []
    run(session, f"save {tmp_path / 'run.npz'}")
    opening = opening_file(tmp_path / "run.npz")
    for _ in range(stop):
        next(opening)
    opening.close()
    assert_same_look(Session.of(session.tape), open_recording(tmp_path / "run.npz"))


def test_too_many_rows_are_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("glassllm.debug.recording.write.COLUMN_BYTES", 60_000)
    words = r"this run cannot be recorded: \d+ rows need .* MB besides their arrays, more than 0\.1"
    with pytest.raises(CommandError, match=words):
        run(session_of(mixed), f"save {tmp_path / 'run.npz'}")
    assert list(tmp_path.iterdir()) == []
