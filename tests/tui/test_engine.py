"""The engine's thread: order, cancelling, failures, and the state between slices; no clock decides anything."""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import pytest
from textual.app import App
from textual.message import Message

from glassllm.autograd import tensor
from glassllm.autograd.tensor import Tensor
from glassllm.debug.recorder import record
from glassllm.trace import is_heard
from tui.engine import NEWS_INTERVAL, Engine
from tui.messages import (
    EngineFailed,
    JobCancelled,
    JobDone,
    JobProgress,
    Progress,
    Request,
    SnapshotReady,
)
from tui.task import Cancelled, Priority

PATIENCE = 30.0
"""Seconds after which a wait has failed; no test that passes comes near."""
JOB_ENDINGS = (JobDone, JobCancelled, EngineFailed)


class Inbox:
    """Collects what is posted; `wait` returns the first message that meets a condition."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.arrived = threading.Condition()

    def __call__(self, message: Message) -> None:
        with self.arrived:
            self.messages.append(message)
            self.arrived.notify_all()

    def wait(self, is_it: Callable[[Any], bool], what: str) -> Any:
        def found() -> list[Message]:
            return [m for m in self.messages if is_it(m)]

        with self.arrived:
            assert self.arrived.wait_for(found, PATIENCE), f"never came: {what}; got {self.messages}"
            return found()[0]

    def of(self, request: Request) -> list[Any]:
        """Everything said about one request."""
        with self.arrived:
            return [m for m in self.messages if about(m) == request]


def about(message: Any) -> Request:
    return message.job if isinstance(message, (JobProgress, JobDone, JobCancelled)) else message.request


class Session:
    """A session that only remembers which commands it saw."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def snapshot(self) -> tuple[str, ...]:
        return tuple(self.seen)


def perform(session: Session, request: Request) -> object:
    """`note` is one slice; `walk` is a long command of `count` slices; `say` hands its argument to be called."""
    if request.name == "say":
        return request.args[0](session)  # type: ignore[operator]
    if request.name == "walk":
        return walk(session, request.count or 0)
    session.seen.append(str(request.args[0]))
    return None


def walk(session: Session, count: int) -> Iterator[Progress]:
    for i in range(count):
        session.seen.append(f"walked {i}")
        yield Progress(i + 1, count)


class Desk:
    """An engine with its inbox, and a gate that holds the thread inside a slice until it is opened."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.inbox = Inbox()
        self.session = Session()
        self.engine = Engine(self.inbox, lambda: self.session, perform, clock)

    def hold(self) -> threading.Event:
        """Occupy the thread; returns once it is inside, and lets it go when the event is set."""
        inside, gate = threading.Event(), threading.Event()

        def stand() -> None:
            inside.set()
            assert gate.wait(PATIENCE)

        self.engine.submit(stand, "hold", Priority.COMMAND)
        assert inside.wait(PATIENCE)
        return gate

    def end_of(self, request: Request) -> Any:
        """The message that ends a job."""
        return self.inbox.wait(lambda m: isinstance(m, JOB_ENDINGS) and about(m) == request, f"end of {request}")

    def shown(self, request: Request) -> SnapshotReady:
        """The last snapshot of a command."""
        return self.inbox.wait(
            lambda m: isinstance(m, SnapshotReady) and m.request == request and m.is_last, f"end of {request}"
        )

    def do(self, work: Callable[[], object]) -> Any:
        """Run one slice and return its result."""
        return self.end_of(self.engine.submit(work, "do")).result


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    made.engine.start()
    yield made
    made.engine.close()
    made.engine._thread.join(PATIENCE)
    assert not made.engine._thread.is_alive()
    assert tensor.tracking is True
    assert tensor.hook is None


def state() -> tuple[bool, object]:
    return tensor.tracking, tensor.hook


def endless(started: threading.Event) -> None:
    """Apply ops until somebody stops it from outside."""
    x = Tensor(np.ones(2))
    while True:
        x = x + 1
        started.set()


# Opening and commands


def test_importing_the_engine_imports_no_numpy() -> None:
    code = (
        "import sys, tui.engine; print(sorted({'numpy', 'glassllm'} & {m.partition('.')[0] for m in sys.modules}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_session_is_built_on_the_thread_before_any_command() -> None:
    inbox, session = Inbox(), Session()

    def build() -> Session:
        session.seen.append(threading.current_thread().name)
        return session

    engine = Engine(inbox, build, perform)
    asked = engine.command("note", "after")
    engine.start()
    answer = inbox.wait(lambda m: m.request == asked, "the command's snapshot")
    assert answer.snapshot == ("engine", "after")
    assert inbox.messages[0].snapshot == ("engine",)
    engine.close()


def test_a_build_in_steps_tells_its_progress_and_one_that_fails_leaves_what_was(desk: Desk) -> None:
    other = Session()
    other.seen.append("other")

    def build() -> Iterator[Progress]:
        yield Progress(1, 2, "reading")
        return other

    def broken() -> Session:
        raise OSError("no such file")

    opened = desk.engine.open(build)
    assert desk.shown(opened).snapshot == ("other",)
    assert [m.text for m in desk.inbox.of(opened) if isinstance(m, JobProgress)] == ["reading"]
    failed = desk.end_of(desk.engine.open(broken))
    assert (failed.kind, failed.text) == ("OSError", "no such file")
    assert desk.shown(desk.engine.command("note", "still")).snapshot == ("other", "still")


def test_without_a_session_a_command_says_so() -> None:
    inbox = Inbox()

    def build() -> Session:
        raise ValueError("not a checkpoint")

    engine = Engine(inbox, build, perform)
    engine.start()
    asked = engine.command("note", "x")
    assert inbox.wait(lambda m: about(m) == asked, "the refusal").text == "nothing is open"
    engine.close()


def test_a_command_returns_its_own_snapshot_or_the_sessions(desk: Desk) -> None:
    assert desk.shown(desk.engine.command("say", lambda session: "mine")).snapshot == "mine"
    assert desk.shown(desk.engine.command("say", lambda session: None)).snapshot == ()


def test_versions_rise_and_requests_carry_what_was_asked(desk: Desk) -> None:
    asked = [desk.engine.command("note", i, count=i) for i in range(5)]
    shown = [desk.shown(request) for request in asked]
    assert [m.version for m in shown] == sorted({m.version for m in shown})
    assert str(shown[3].request) == "note 3 3"


# Order


def test_commands_go_before_jobs_and_each_kind_in_the_order_given(desk: Desk) -> None:
    gate, log = desk.hold(), []
    jobs = [desk.engine.submit(lambda i=i: log.append(f"job {i}"), "job") for i in range(3)]
    commands = [desk.engine.command("say", lambda session, i=i: log.append(f"command {i}")) for i in range(3)]
    assert desk.engine.activity.waiting == (*commands, *jobs)
    gate.set()
    desk.end_of(jobs[-1])
    assert log == ["command 0", "command 1", "command 2", "job 0", "job 1", "job 2"]


def test_jobs_take_turns_and_a_command_comes_between_two_slices(desk: Desk) -> None:
    gate, log = desk.hold(), []

    def job(name: str) -> Iterator[None]:
        for i in range(3):
            log.append(f"{name}{i}")
            if log == ["a0", "b0"]:
                desk.engine.command("say", lambda session: log.append("command"))
            yield

    jobs = [desk.engine.submit(lambda name=name: job(name), name) for name in "ab"]
    gate.set()
    for request in jobs:
        desk.end_of(request)
    assert log == ["a0", "b0", "command", "a1", "b1", "a2", "b2"]


def test_a_long_command_is_finished_before_the_next_begins_and_before_any_job(desk: Desk) -> None:
    gate = desk.hold()
    job = desk.engine.submit(lambda: desk.session.seen.append("job"), "job")
    desk.engine.command("walk", count=3)
    desk.engine.command("note", "next")
    gate.set()
    desk.end_of(job)
    assert desk.session.seen == ["walked 0", "walked 1", "walked 2", "next", "job"]


def test_activity_names_who_holds_the_engine_and_who_waits(desk: Desk) -> None:
    gate = desk.hold()
    behind = desk.engine.command("note", "x")
    busy = desk.engine.activity
    assert busy.running is not None
    assert (busy.running.name, busy.waiting, busy.is_idle) == ("hold", (behind,), False)
    gate.set()
    desk.do(lambda: None)
    idle_or_ending = desk.engine.activity
    assert idle_or_ending.waiting == ()


# Cancelling


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

    request = desk.engine.submit(work, "work")
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    assert isinstance(desk.end_of(request), JobCancelled)
    assert desk.do(state)[0] is True


class Recording:
    """A recorder that looks at the hook it found before it writes anything down, as `record()` does."""

    def __init__(self, before: Any = None) -> None:
        self.before, self.ops, self.marks = before, [], []

    def applied(self, op: Any, inputs: Any, attrs: Any, saved: Any, result: Any) -> None:
        if self.before is not None:
            self.before.applied(op, inputs, attrs, saved, result)
        self.ops.append(op.name)

    def marked(self, step_id: str, value: Any, layer: int | None) -> None:
        if self.before is not None:
            self.before.marked(step_id, value, layer)
        self.marks.append(step_id)


def test_a_hook_installed_inside_a_slice_keeps_the_cancelling_one_behind_it(desk: Desk) -> None:
    begun, recording = threading.Event(), Recording()

    def work() -> None:
        recording.before = tensor.hook
        tensor.set_hook(recording)
        endless(begun)

    request = desk.engine.submit(work, "work")
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    assert isinstance(desk.end_of(request), JobCancelled)
    assert set(recording.ops) == {"add"}


def test_a_recording_is_cancelled_like_any_slice_and_left_complete(desk: Desk) -> None:
    begun, tapes = threading.Event(), []

    def work() -> None:
        with record() as tape:
            tapes.append(tape)
            endless(begun)

    request = desk.engine.submit(work, "work")
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    assert isinstance(desk.end_of(request), JobCancelled)
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

    request = desk.engine.submit(work, "work")
    assert begun.wait(PATIENCE)
    desk.engine.cancel(request)
    assert isinstance(desk.end_of(request), JobCancelled)
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


# Closing


def test_closing_during_a_long_job_costs_nothing_and_silences_the_engine() -> None:
    desk, begun = Desk(), threading.Event()

    def job() -> Iterator[Progress]:
        x = Tensor(np.ones(2))
        for i in range(100_000):
            x = x + 1
            begun.set()
            yield Progress(i, 100_000)

    desk.engine.start()
    desk.engine.submit(job, "job")
    desk.engine.submit(job, "another")
    assert begun.wait(PATIENCE)
    before = time.thread_time()
    desk.engine.close()
    assert time.thread_time() - before < 0.001
    said = len(desk.inbox.messages)
    desk.engine._thread.join(PATIENCE)
    assert not desk.engine._thread.is_alive()
    assert len(desk.inbox.messages) == said
    assert state() == (True, None)


def test_closing_abandons_a_slice_that_does_not_end() -> None:
    desk = Desk()
    desk.engine.start()
    gate = desk.hold()
    waiting = desk.engine.command("note", "x")
    desk.engine.close()
    assert desk.engine._thread.is_alive()
    assert desk.engine._thread.daemon
    gate.set()
    desk.engine._thread.join(PATIENCE)
    assert not desk.engine._thread.is_alive()
    assert desk.inbox.of(waiting) == []
    assert desk.session.seen == []


def test_closing_before_the_start_and_twice_is_harmless() -> None:
    desk = Desk()
    desk.engine.close()
    desk.engine.close()
    desk.engine.start()
    desk.engine._thread.join(PATIENCE)
    assert desk.inbox.messages == []


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


# News


def test_news_comes_thirty_times_a_second_at_most_and_the_newest_is_never_lost() -> None:
    now = [0.0]
    desk = Desk(clock=lambda: now[0])
    desk.engine.start()

    def job() -> Iterator[tuple[int, int] | str]:
        for i in range(10):
            now[0] = i * NEWS_INTERVAL / 4
            yield i, 10
        yield "a snapshot"
        return "done"

    request = desk.engine.submit(job, "job")
    desk.end_of(request)
    said = desk.inbox.of(request)
    told = [(m.done, m.total) for m in said if isinstance(m, JobProgress)]
    assert told == [(0, 10), (4, 10), (8, 10), (9, 10)]
    assert [type(m) for m in said[-2:]] == [SnapshotReady, JobDone]
    desk.engine.close()


JOB, OTHER = Request(1, "train"), Request(2, "generate")


@pytest.mark.parametrize(
    ("older", "newer", "replaces"),
    [
        (SnapshotReady("a", 1), SnapshotReady("b", 2), True),
        (JobProgress(JOB, 1), JobProgress(JOB, 2), True),
        (JobProgress(JOB, 1), JobProgress(OTHER, 2), False),
        (SnapshotReady("a"), JobProgress(JOB, 1), False),
        (JobDone(JOB), JobDone(JOB), False),
        (EngineFailed(JOB, "a"), EngineFailed(JOB, "b"), False),
    ],
)
def test_which_news_takes_the_place_of_which(older: Message, newer: Message, replaces: bool) -> None:
    assert older.can_replace(newer) is replaces


async def test_a_screen_that_is_behind_reads_only_the_newest_snapshot() -> None:
    class Reader(App[None]):
        read: tuple[object, ...] = ()

        def on_snapshot_ready(self, message: SnapshotReady) -> None:
            self.read += (message.snapshot,)

    app = Reader()
    async with app.run_test() as pilot:
        for i in range(100):
            app.post_message(SnapshotReady(i))  # type: ignore[arg-type]
        await pilot.pause()
        assert app.read == (99,)
