"""Failures, and the state between slices: whatever work does, the thread goes on and finds all at rest."""

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from glassllm.autograd import tensor
from glassllm.autograd.tensor import Tensor
from glassllm.trace import is_heard
from tests.tui.engine.desk import (
    JOB_ENDINGS,
    PATIENCE,
    Desk,
    Recording,
    Session,
    about,
    endless,
    state,
)
from tui.messages import EngineFailed, JobDone, SnapshotReady

# Failures, and the state between slices


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize("error", [ValueError("bad shape"), SystemExit(3), KeyboardInterrupt(), Mute()])
def test_a_failure_is_told_and_the_thread_goes_on(desk: Desk, error: BaseException) -> None:
    def fail(session: Session) -> None:
        session.seen.append("halfway")
        raise error

    request = desk.engine.command("say", fail)
    failed = desk.end_of(request)
    assert (failed.request.name, failed.kind) == ("say", type(error).__name__)
    assert "in fail" in failed.details
    assert [m.snapshot for m in desk.inbox.of(request) if isinstance(m, SnapshotReady)] == [("halfway",)]
    assert desk.shown(desk.engine.command("note", "on")).snapshot == ("halfway", "on")
    assert desk.do(threading.current_thread) is desk.engine._thread


def test_a_failure_carries_the_exceptions_own_words(desk: Desk) -> None:
    def fail() -> None:
        raise ValueError("shapes (4,12) and (2,16) do not fit")

    assert desk.end_of(desk.engine.submit(fail, "job")).text == "shapes (4,12) and (2,16) do not fit"


def leave_a_mess() -> None:
    tensor.set_tracking(not tensor.tracking)
    tensor.set_hook(Recording())


def succeed_in_mess() -> None:
    leave_a_mess()


def fail_in_mess() -> None:
    leave_a_mess()
    raise ValueError("in a mess")


def step_in_mess() -> Iterator[None]:
    leave_a_mess()
    yield
    leave_a_mess()


@pytest.mark.parametrize("recorder", [None, Recording()])
def test_the_hook_of_a_slice_records_only_where_its_job_does(desk: Desk, recorder: Any) -> None:
    request = desk.engine.submit(lambda: is_heard(None), "look", recorder=recorder)
    assert desk.end_of(request).result is (recorder is not None)


@pytest.mark.parametrize("tracking", [True, False])
@pytest.mark.parametrize("work", [succeed_in_mess, fail_in_mess, step_in_mess])
def test_tracking_and_hook_are_restored_after_every_slice(
    desk: Desk, work: Callable[[], object], tracking: bool
) -> None:
    found: list[bool] = []

    def look() -> Iterator[None]:
        for _ in range(3):
            found.append(tensor.tracking)
            assert type(tensor.hook).__name__ == "CancelHook"
            yield

    gate = desk.hold()
    messy = desk.engine.submit(work, "messy", tracking=tracking)
    beside = desk.engine.submit(look, "look", tracking=tracking)
    gate.set()
    assert not isinstance(desk.end_of(beside), EngineFailed)
    desk.end_of(messy)
    assert found == [tracking] * 3


def test_they_are_restored_after_a_cancel_too(desk: Desk) -> None:
    begun = threading.Event()

    def work() -> None:
        tensor.set_tracking(False)
        endless(begun)

    desk.cancelled(work, begun)
    assert desk.do(state)[0] is True


def test_a_job_declares_its_tracking_and_its_recorder(desk: Desk) -> None:
    recording = Recording()

    def work() -> Iterator[None]:
        x = Tensor(np.ones(2), requires_grad=True)
        y = x * x
        yield
        assert y.requires_grad is False
        tensor.hook.marked("embed", y, None)
        _ = y + x

    request = desk.engine.submit(work, "work", tracking=False, recorder=recording)
    beside = desk.engine.submit(lambda: (Tensor(np.ones(2), requires_grad=True) - 1).requires_grad, "beside")
    assert isinstance(desk.end_of(request), JobDone)
    assert desk.end_of(beside).result is True
    assert (recording.ops, recording.marks) == (["mul", "add"], ["embed"])


@pytest.mark.parametrize("meddle", [lambda: tensor.set_tracking(False), lambda: tensor.set_hook(Recording())])
def test_a_state_that_was_not_at_rest_is_said_and_put_right(desk: Desk, meddle: Callable[[], object]) -> None:
    desk.do(lambda: None)
    meddle()
    failed = desk.end_of(desk.engine.submit(lambda: None, "job"))
    assert (failed.kind, "between two slices" in failed.text) == ("AssertionError", True)
    assert desk.do(state)[0] is True


def test_the_session_is_refused_on_any_other_thread(desk: Desk) -> None:
    with pytest.raises(AssertionError, match="expected the engine thread, got MainThread"):
        _ = desk.engine.session
    assert desk.do(lambda: desk.engine.session) is desk.session


# Many at once


def test_never_two_slices_at_once_and_every_job_ends_exactly_once(desk: Desk) -> None:
    inside, overlaps, jobs, lock = [0], [], [], threading.Lock()

    def job(length: int, fails: bool) -> Iterator[None]:
        for _ in range(length):
            inside[0] += 1
            _ = Tensor(np.ones(2)) + 1
            if inside[0] != 1:
                overlaps.append(inside[0])
            inside[0] -= 1
            yield
        if fails:
            raise ValueError("as planned")

    def client(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(250):
            length, fails = rng.randrange(4), rng.random() < 0.2
            request = desk.engine.submit(lambda length=length, fails=fails: job(length, fails), "job")
            with lock:
                jobs.append(request)
                chosen = rng.choice(jobs)
            rng.choice([desk.engine.cancel, desk.engine.pause, desk.engine.resume, str, str])(chosen)

    clients = [threading.Thread(target=client, args=(seed,)) for seed in range(8)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join(PATIENCE)
    for request in jobs:
        desk.engine.resume(request)
    for request in jobs:
        desk.end_of(request)
    ended = [about(m).id for m in desk.inbox.messages if isinstance(m, JOB_ENDINGS)]
    assert sorted(ended) == sorted(request.id for request in jobs)
    assert len(jobs) == 2000
    assert overlaps == []
