"""Work that is cancelled or paused: where it stops, and what is told of it."""

import threading
from collections.abc import Generator, Iterator

import pytest

from glassllm.autograd import tensor
from glassllm.debug.recorder import record
from tests.tui.engine.desk import PATIENCE, Desk, Recording, Session, endless, state
from tui.messages import JobCancelled, JobDone, JobProgress, Progress
from tui.task import Cancelled


def test_a_job_is_cancelled_between_slices_and_its_finally_runs(desk: Desk) -> None:
    closed, begun = threading.Event(), threading.Event()

    def job() -> Iterator[None]:
        try:
            while True:
                begun.set()
                yield
        finally:
            closed.set()

    request = desk.engine.submit(job, "job")
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    assert isinstance(desk.end_of(request), JobCancelled)
    assert closed.is_set()


@pytest.mark.parametrize("swallows", [False, True], ids=["plain", "except Exception around"])
def test_a_slice_is_cancelled_at_its_next_op(desk: Desk, swallows: bool) -> None:
    begun = threading.Event()

    def work() -> None:
        while True:
            try:
                endless(begun)
            except Exception:
                if not swallows:
                    raise

    desk.cancelled(work, begun)
    assert desk.do(state)[0] is True


def test_a_hook_installed_inside_a_slice_keeps_the_cancelling_one_behind_it(desk: Desk) -> None:
    begun, recording = threading.Event(), Recording()

    def work() -> None:
        recording.before = tensor.hook
        tensor.set_hook(recording)
        endless(begun)

    desk.cancelled(work, begun)
    assert set(recording.ops) == {"add"}


def test_a_recording_is_cancelled_like_any_slice_and_left_complete(desk: Desk) -> None:
    begun, tapes = threading.Event(), []

    def work() -> None:
        with record() as tape:
            tapes.append(tape)
            endless(begun)

    desk.cancelled(work, begun)
    assert {row.name for row in tapes[0].rows if row.kind == "node"} == {"add"}


def test_work_that_was_spared_after_its_cancel_goes_on_to_its_end(desk: Desk) -> None:
    begun = threading.Event()

    def work() -> Generator[None, None, str]:
        try:
            endless(begun)
        except Cancelled:
            desk.engine.spare()
        yield
        return "the rest"

    request = desk.engine.submit(work, "work")
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    assert desk.end_of(request) == JobDone(request, "the rest")


def test_what_waits_is_cancelled_without_ever_beginning(desk: Desk) -> None:
    gate, ran = desk.hold(), []
    job = desk.engine.submit(lambda: ran.append("job"), "job")
    command = desk.engine.command("say", lambda session: ran.append("command"))
    for request in (job, command, job, command):
        desk.engine.cancel(request)
    assert desk.engine.activity.waiting == ()
    gate.set()
    assert [type(desk.end_of(r)) for r in (job, command)] == [JobCancelled, JobCancelled]
    desk.do(lambda: None)
    assert ran == []
    assert len([m for m in desk.inbox.of(job) if isinstance(m, JobCancelled)]) == 1


def test_the_command_that_runs_is_cancelled_with_those_behind_it_and_no_job(desk: Desk) -> None:
    begun, ran = threading.Event(), []
    running = desk.engine.command("say", lambda session: endless(begun))
    assert begun.wait(PATIENCE)
    waiting = desk.engine.command("say", lambda session: ran.append("command"))
    job = desk.engine.submit(lambda: ran.append("job"), "job")
    desk.engine.cancel_commands()
    assert [type(desk.end_of(r)) for r in (running, waiting, job)] == [JobCancelled, JobCancelled, JobDone]
    assert ran == ["job"]


def test_cancelling_what_has_ended_does_nothing(desk: Desk) -> None:
    request = desk.engine.submit(lambda: 7, "job")
    assert desk.end_of(request).result == 7
    desk.engine.cancel(request)
    desk.do(lambda: None)
    assert [type(m) for m in desk.inbox.of(request)] == [JobDone]


def test_a_cancelled_command_shows_where_it_stopped(desk: Desk) -> None:
    begun, gate = threading.Event(), threading.Event()

    def steps(session: Session) -> Iterator[None]:
        session.seen.append("one")
        yield
        begun.set()
        assert gate.wait(PATIENCE)
        session.seen.append("two")
        yield
        session.seen.append("never")

    request = desk.engine.command("say", steps)
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    gate.set()
    desk.end_of(request)
    shown, cancelled = desk.inbox.of(request)
    assert (shown.snapshot, shown.is_last) == (("one", "two"), False)
    assert isinstance(cancelled, JobCancelled)


def test_a_paused_job_tells_its_newest_and_stands_still_until_resumed(desk: Desk) -> None:
    begun, slices = threading.Event(), []

    def job() -> Iterator[Progress]:
        while True:
            slices.append(1)
            yield Progress(len(slices))
            if len(slices) == 3:
                begun.set()

    request = desk.engine.submit(job, "job")
    assert begun.wait(PATIENCE)
    desk.engine.pause(request)
    desk.do(lambda: None)  # behind the job in the queue, so the job has been set aside
    stood, told = len(slices), desk.inbox.of(request)[-1].done
    assert desk.engine.activity.paused == (request,)
    desk.do(lambda: None)
    assert (len(slices), told) == (stood, stood)
    desk.engine.resume(request)
    desk.inbox.wait(lambda m: isinstance(m, JobProgress) and m.done > stood, "a slice after the pause")
    desk.engine.pause(request)
    desk.do(lambda: None)
    desk.engine.cancel(request)
    assert isinstance(desk.end_of(request), JobCancelled)
