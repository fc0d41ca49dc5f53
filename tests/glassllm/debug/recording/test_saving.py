"""Saving and opening: ops of others, the commands, and what needs a model that is not there."""

from dataclasses import replace

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import op
from glassllm.autograd.ops import OPS
from glassllm.debug.commands import perform, run
from glassllm.debug.opening import open_file
from glassllm.debug.recorder import record
from glassllm.debug.recording.read import open_recording
from glassllm.debug.report import report
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError, Fault, Line
from tests.glassllm.debug.recording.sameness import (
    assert_same,
    assert_same_look,
    assert_same_walk,
    same_array,
    saved_and_opened,
)
from tests.glassllm.debug.recording.small import spelled_out

# Ops of others


def custom_session():
    """x -> cube (a user's op) -> by hand -> sum, and x · 2 beside it."""

    @op
    def cube(x, *, what):
        return x**3, x

    @cube.rule
    def _(g, y, saved, x, *, what):
        return (g * 3 * saved**2,)

    x = Tensor(np.array([3.0, -2.0]), requires_grad=True)
    with record({"x": x}) as tape:
        y = cube(x, what=object)
        z = Tensor(y.data * 2, (y, x), lambda g: (g * 2, None))
        (z + x * 2).sum()
    return Session.of(tape)


def test_custom_ops_send_what_they_sent(again):
    session = custom_session()
    run(session, "last")
    run(session, "backward")
    run(session, "last")
    opened = again(session)
    assert_same(session, opened)
    assert_same_walk(session, opened, ["3 step-back", "contribution-back", "first", "last"])
    assert opened.tape.rows[1].name == "cube"
    assert "object" in opened.tape.rows[1].attrs["what"]


def test_a_traversal_ends_before_a_custom_op_that_had_not_sent(again, tmp_path):
    opened = again(custom_session())
    run(opened, "continue")
    words = "custom has no rule here: what lies behind it is not recomputed"
    for line in ("continue", "step", "last", "run-to x"):
        with pytest.raises(CommandError, match=words):
            run(opened, line)
    reached = opened.position
    assert 0 < reached.place < len(opened.tape.plan(1))
    assert opened.tape.rows[opened.tape.row_at(reached)].name in ("mul", "add", "x")
    run(opened, "backward #4")
    run(opened, "last")
    assert opened.tape.traversals[1].is_finished
    second = saved_and_opened(opened, tmp_path / "second.npz", open_recording)
    assert_same(opened, second)


def test_a_new_traversal_does_not_reuse_what_an_earlier_one_sent(again):
    session = custom_session()
    run(session, "continue 2")
    opened = again(session)
    run(opened, "backward")
    with pytest.raises(CommandError, match="has no rule here"):
        run(opened, "last")


def test_the_report_of_what_cannot_be_recomputed(again):
    data = report(again(custom_session()))
    assert [leaf["grad_norm"] for leaf in data["gradients"]] == [None]
    assert report(custom_session())["gradients"][0]["grad_norm"] > 0


def test_an_op_of_ours_whose_attributes_cannot_be_written_is_custom(again):
    x = Tensor(np.array([3.0, -2.0]), requires_grad=True)
    with record() as tape:
        (x[range(2)] * 2).sum()
    session = Session.of(tape)
    run(session, "last")
    run(session, "backward")
    run(session, "last")
    opened = again(session)
    assert opened.tape.rows[1].name == "custom"
    assert same_array(opened.tape.gradient(0, opened.position), session.tape.gradient(0, session.position))


def test_a_users_op_with_a_name_of_ours_stays_a_users(again):
    @op
    def softmax(x):
        return x + 1

    softmax.rule(lambda g, y, x: (g,))
    with record() as tape:
        softmax(Tensor(np.ones(2), requires_grad=True)).sum()
    row = again(Session.of(tape)).tape.rows[1]
    assert row.name == "custom" and row.op is not OPS["softmax"]


# The file and the commands


def test_a_recording_opens_by_what_it_holds(session, tmp_path):
    run(session, f"save {tmp_path / 'run.dat'}")
    assert open_file(tmp_path / "run.dat").facts == session.facts
    with pytest.raises(CommandError, match="holds one run and no model"):
        open_file(tmp_path / "run.dat", text="a")


@pytest.mark.parametrize("line", ["text a", "ids 1 2", "targets off", "no_grad on", "rerun", "apply"])
def test_what_needs_the_model_says_so(session, again, line):
    run(session, "continue 2")
    opened = again(session)
    with pytest.raises(CommandError, match=r"a recording holds (one run and )?no model"):
        run(opened, line)
    assert_same_look(session, opened)


def test_arrays_are_stored_once_and_never_written(session, again, tmp_path):
    opened = again(session)
    said = spelled_out(dict(np.load(tmp_path / "run.npz")))
    contents = {(array.dtype.str, array.tobytes()) for array in said["arrays"]}
    assert len(contents) == len(said["arrays"])
    assert not any(row.array.flags.writeable for row in opened.tape.rows)


def test_what_this_session_did_not_write_is_replaced_only_when_told(session, tmp_path, model):
    others = {"notes.txt": b"words", "model.npz": b"", "another.npz": b""}
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
    model.save(tmp_path / "model.npz")
    run(Session.open(model, ids=[1, 2]), f"save! {tmp_path / 'another.npz'}")
    for name in others:
        before = (tmp_path / name).read_bytes()
        with pytest.raises(CommandError) as refusal:
            run(session, f"save {tmp_path / name}")
        assert str(refusal.value) == f"{tmp_path / name} is there already; :save! PATH replaces it"
        assert (tmp_path / name).read_bytes() == before
        run(session, f"save! {tmp_path / name}")
        assert open_file(tmp_path / name).facts == session.facts
        run(session, f"save {tmp_path / name}")


def test_what_it_wrote_or_came_from_is_replaced(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(session, "save run.npz")
    (tmp_path / "link.npz").symlink_to(tmp_path / "run.npz")
    for name in ("run.npz", "./run.npz", tmp_path / "run.npz", "link.npz"):
        run(session, f"save {name}")
    run(session, "no_grad on")
    run(session, "save run.npz")
    opened = open_file(tmp_path / "run.npz")
    run(opened, "save run.npz")
    run(opened, "save other.npz")
    with pytest.raises(CommandError, match=r"other\.npz is there already"):
        run(session, "save other.npz")


def test_what_it_did_not_finish_is_not_its_own(session, tmp_path):
    work = perform(session, f"save {tmp_path / 'run.npz'}")
    next(work)
    work.close()
    (tmp_path / "run.npz").write_text("of somebody else")
    with pytest.raises(CommandError, match="is there already"):
        run(session, f"save {tmp_path / 'run.npz'}")


@pytest.mark.parametrize("name", ["a" * 300, "a\0b", "a/" * 5000 + "x"])
def test_names_that_are_none(session, tmp_path, name):
    with pytest.raises(CommandError) as refusal:
        run(session, f"save {tmp_path}/{name}")
    assert str(refusal.value).isprintable() and len(str(refusal.value)) < 400


def test_saving_goes_slice_by_slice_and_abandoned_leaves_nothing(session, tmp_path):
    work = perform(session, f"save {tmp_path / 'run.npz'}")
    next(done for done, _ in work if list(tmp_path.iterdir()) and done > 1)
    work.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("array", [np.ones(2, complex), np.array(["a"]), np.ones(2, np.longdouble)])
def test_numbers_it_cannot_hold(array, tmp_path):
    with record() as tape:
        Tensor(array)[0:1]
    with pytest.raises(CommandError, match=r"cannot be recorded: row 0, .* numbers cannot be recorded"):
        run(Session.of(tape), f"save {tmp_path / 'run.npz'}")
    assert list(tmp_path.iterdir()) == []


def test_what_a_program_left_behind(again):
    x = Tensor(np.array([3.0, -2.0]), requires_grad=True)
    with record() as tape:
        y = x * 2
        y.sum()
    tape.open_on(tape.row_of[y.node], np.array([0.5, 0.25]))
    session = Session.of(tape)
    fault = Fault("ValueError", "no", ("  File x, line 3", "    y.sum()"))
    session.facts = replace(session.facts, printed=(Line("out", "hi"), Line("err", "")), exit_code=-9, fault=fault)
    opened = again(session)
    assert_same(session, opened)
    assert [row.made_at for row in opened.tape.rows] == [row.made_at for row in tape.rows] != [()] * 4
    assert_same_walk(session, opened, ["last", "step", "last"])
    assert np.array_equal(opened.tape.gradient(0, opened.position), [1, 0.5])
