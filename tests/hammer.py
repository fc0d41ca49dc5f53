"""`python -m tests.hammer [--jobs 100000]`: the engine's thread under more work than anybody gives it.

Many threads ask for commands and jobs that compute, record, turn tracking off, use ops of their own, fail, never
end or leave the engine in disorder; they cancel, pause and resume at random. Whatever comes, slices must not
overlap, tracking and hook must be at rest between them, there is one engine thread, every request gets one final
answer and nothing after it, and memory does not grow.
"""

import argparse
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from textual.message import Message

from glassllm import Tensor, no_grad
from glassllm.autograd import op
from glassllm.autograd import tensor as engine_state
from glassllm.debug.recorder import Recorder, record
from glassllm.debug.session import Session
from tui import engine as engine_module
from tui import task as task_module
from tui.app import perform
from tui.engine import Engine
from tui.messages import EngineFailed, JobCancelled, JobDone, Progress, Request
from tui.task import Outcome, Priority, Task

CALLERS = 8
AT_A_TIME = 20  # requests of one caller that are not answered yet
SETTLED = 1_000  # requests after which memory must not grow any more
MOST_GROWTH = 5 << 20
PATIENCE = 120.0
COMMANDS = (
    "next", "previous", "step", "step-back", "contribution", "contribution-back", "5 step", "select #3",
    "select cubed", "select-next", "producer", "consumer", "search mul", "match", "where", "here", "non-finite",
    "run-to #4", "nonsense", "select nothing", "backward #0", "targets off", "continue",
)  # fmt: skip


# What is asked for


@op
def cubed(x):
    return x**3, x


@cubed.rule
def _(g, y, kept, x):
    return g * 3 * kept**2


def graph() -> Tensor:
    w = Tensor(np.linspace(-1, 1, 4), requires_grad=True)
    h = w
    for _ in range(6):
        h = cubed(h * w + 0.5) / 2
    return h.sum()


def compute() -> float:
    y = graph()
    y.backward()
    return float(y.data.item())


def step_by_step() -> Iterator[object]:
    for i in range(4):
        compute()
        yield (None, (i, 4), Progress(i, 4, "computing"))[i % 3]


def without_graph() -> None:
    with no_grad():
        assert graph().node is None


def recorded_inside() -> None:
    with record() as tape:
        graph()
    assert tape.forward


def fail_at_once() -> None:
    raise ConnectionRefusedError("refused")


def fail_inside() -> Iterator[None]:
    yield
    with no_grad(), record():
        graph()
        raise BufferError("in the middle")


def leave() -> Iterator[None]:
    yield
    raise SystemExit(3)


def leave_disorder() -> Iterator[None]:
    engine_state.set_tracking(False)
    engine_state.set_hook(Recorder())
    yield
    assert engine_state.tracking, "what a slice left was there in the next one"


def never_end() -> None:
    x = Tensor(np.ones(2))
    while True:
        x = x * 1.0


def never_end_in_slices() -> Iterator[None]:
    while True:
        compute()
        yield


def opened() -> Iterator[tuple[int, int]]:
    return Session.opening(graph())


JOBS: tuple[Callable[[], object], ...] = (
    compute, step_by_step, without_graph, recorded_inside, fail_at_once, fail_inside, leave, leave_disorder,
    never_end, never_end_in_slices,
)  # fmt: skip
FAILURES = ("CommandError", "ConnectionRefusedError", "BufferError", "SystemExit")
ENDLESS = (never_end, never_end_in_slices)


# What must hold


class Watch:
    """Looks at every slice and at every message; `faults` is what was wrong."""

    def __init__(self, engine: Engine, requests: int):
        self.faults: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.answered = 0
        self.memory_settled = 0
        self._engine = engine
        self._answers = bytearray(requests + 1)
        self._begun = bytearray(requests + 1)
        self._is_inside = False
        self._command: Task | None = None  # the one that is midway
        self._news = threading.Condition()
        self._run_slice = task_module.run_slice
        self._computed = compute()

    def fault(self, what: str) -> None:
        if len(self.faults) < 20:
            self.faults.append(what)

    def slice(self, task: Task, work: Callable[[], Any]) -> Any:
        """What stands in for `run_slice`."""
        if threading.current_thread() is not self._engine._thread:
            self.fault(f"{task.request} runs on {threading.current_thread().name}")
        if self._is_inside:
            self.fault(f"{task.request} overlaps another slice")
        self._is_inside = True
        self._look("before", task)
        self._note_beginning(task)
        outcome = self._run_slice(task, work)
        if task.priority is Priority.COMMAND:
            if self._command not in (None, task) and not task.is_cancelled:  # one cancelled is closed before all
                self.fault(f"{task.request} cuts in on {self._command}")
            if self._command in (None, task):
                self._command = task if isinstance(outcome, Outcome) and not outcome.is_last else None
        self._look("after", task)
        self._is_inside = False
        return outcome

    def _note_beginning(self, task: Task) -> None:
        if not self._begun[task.request.id]:
            with self._news:
                self._begun[task.request.id] = True
                self._news.notify_all()

    def _look(self, when: str, task: Task) -> None:
        if engine_state.tracking is not True or engine_state.hook is not None:
            self.fault(f"{when} a slice of {task.request}: {engine_state.tracking}, {engine_state.hook}")

    def post(self, message: Message) -> None:
        """What the engine is given to post with."""
        request: Request = getattr(message, "job", None) or message.request  # type: ignore[attr-defined]
        if isinstance(message, EngineFailed) and message.kind not in FAILURES:
            self.fault(f"{request} failed: {message.details}")
        if isinstance(message, JobDone) and request.name == "compute" and message.result != self._computed:
            self.fault(f"{request} computed {message.result}")
        with self._news:
            if self._answers[request.id]:
                self.fault(f"{type(message).__name__} of {request} after its final answer")
            if isinstance(message, (JobDone, JobCancelled, EngineFailed)) or getattr(message, "is_last", False):
                self._answers[request.id] += 1
                self.answered += 1
                self.kinds[type(message).__name__] += 1
                if self.answered == SETTLED:
                    self.memory_settled = memory()
                self._news.notify_all()

    def is_answered(self, request: Request) -> bool:
        return bool(self._answers[request.id])

    def has_begun(self, request: Request) -> bool:
        return bool(self._begun[request.id]) or self.is_answered(request)

    def wait(self, is_there: Callable[[], bool], what: str) -> None:
        with self._news:
            if not self._news.wait_for(is_there, PATIENCE):
                raise AssertionError(f"never came: {what}; {self.faults}")


def memory() -> int:
    """Bytes that the process has in memory; 0 where the system does not say."""
    if not os.path.exists("/proc/self/statm"):
        return 0
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096


# Who asks


class Caller(threading.Thread):
    """Asks for so many things, and changes its mind."""

    def __init__(self, engine: Engine, watch: Watch, requests: int, seed: int):
        super().__init__(name=f"caller {seed}", daemon=True)
        self._engine, self._watch, self._count = engine, watch, requests
        self._random = random.Random(seed)
        self._open: list[Request] = []  # not answered when last looked at
        self._endless: set[Request] = set()
        self._paused: set[Request] = set()

    def run(self) -> None:
        try:
            for _ in range(self._count):
                self._ask()
                self._meddle()
                if len(self._open) >= AT_A_TIME:
                    self._let_go()
            self._let_go(0)
        except BaseException as error:
            self._watch.fault(f"{self.name}: {error!r}")

    def _ask(self) -> None:
        engine, chance = self._engine, self._random
        kind = chance.random()
        if kind < 0.45:
            request = engine.command(chance.choice(COMMANDS))
        elif kind < 0.46:
            request = engine.open(chance.choice((opened, fail_at_once)))
        else:
            work = chance.choice(JOBS)
            recorder = Recorder() if chance.random() < 0.2 and work is not never_end else None
            priority = Priority.COMMAND if work not in ENDLESS and chance.random() < 0.1 else Priority.JOB
            request = engine.submit(
                work, work.__name__, priority, tracking=chance.random() < 0.7 or work is leave_disorder,
                recorder=recorder,
            )  # fmt: skip
            if work in ENDLESS:
                self._endless.add(request)
        self._open.append(request)

    def _meddle(self) -> None:
        """Cancel, pause or resume something, answered or not."""
        chance = self._random.random()
        if chance < 0.01:
            self._engine.cancel_commands()
        if chance < 0.6 or not self._open:
            return
        request = self._random.choice(self._open)
        if chance < 0.75:
            self._engine.cancel(request)
        else:
            self._engine.pause(request)
            (self._paused.add if chance < 0.9 else self._engine.resume)(request)

    def _let_go(self, most: int = AT_A_TIME // 2) -> None:
        """Resume what was paused, cancel what would never end once it runs, and wait for answers."""
        asked, watch = self._open, self._watch
        for request in self._paused:
            self._engine.resume(request)
        self._paused.clear()
        while self._endless:
            watch.wait(lambda: any(map(watch.has_begun, self._endless)), f"a beginning of {self._endless}")
            for request in list(filter(watch.has_begun, self._endless)):
                self._engine.cancel(request)
                self._endless.remove(request)
        watch.wait(lambda: sum(not watch.is_answered(r) for r in asked) <= most, f"answers to {asked[:3]}")
        self._open = [request for request in asked if not watch.is_answered(request)]


def hammer(jobs: int, seed: int = 0) -> tuple[Watch, int]:
    """Give the engine so many jobs and commands; what was seen, and the bytes that memory grew by."""
    watch: Watch
    engine = Engine(lambda message: watch.post(message), opened, perform)
    each = jobs // CALLERS
    watch = Watch(engine, each * CALLERS + 1)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads change hands in the middle of everything
    engine_module.run_slice = watch.slice  # type: ignore[assignment]
    try:
        engine.start()
        callers = [Caller(engine, watch, each, seed + i) for i in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        if not watch.faults:
            watch.wait(lambda: watch.answered == each * CALLERS + 1, "the last answers")
        if (threads := [thread.name for thread in threading.enumerate()].count("engine")) != 1:
            watch.fault(f"{threads} engine threads")
        grown = memory() - (watch.memory_settled or memory())
    finally:
        engine.close()
        engine._thread.join(PATIENCE)
        engine_module.run_slice = task_module.run_slice
        sys.setswitchinterval(interval)
    if not engine.activity.is_idle:
        watch.fault(f"left behind: {engine.activity}")
    return watch, grown


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hammer", description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000, help="how many jobs and commands (default 100000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.perf_counter()
    watch, grown = hammer(options.jobs, options.seed)
    print(f"{watch.answered} requests answered in {time.perf_counter() - began:.0f} s: {dict(watch.kinds)}")
    print(f"memory after the first {SETTLED}: {grown / 2**20:+.1f} MB")
    if grown > MOST_GROWTH:
        watch.fault("memory grows")
    for fault in watch.faults:
        print(f"fault: {fault}")
    raise SystemExit(bool(watch.faults))


if __name__ == "__main__":
    main()
