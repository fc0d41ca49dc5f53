"""What is asked of the engine's thread: sessions opened, commands and jobs in their order."""

import subprocess
import sys
import threading
from collections.abc import Iterator

from tests.tui.engine.desk import Desk, Inbox, Session, about, perform
from tui.engine import Engine
from tui.messages import JobProgress, Progress

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
