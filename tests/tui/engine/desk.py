"""An engine at a desk: what it posts is collected, and a gate holds its thread as long as a test likes."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from textual.message import Message

from glassllm.autograd import tensor
from glassllm.autograd.tensor import Tensor
from tui.engine import Engine
from tui.messages import EngineFailed, JobCancelled, JobDone, JobProgress, Progress, Request, SnapshotReady
from tui.task import Priority

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

    def cancelled(self, work: Callable[[], object], begun: threading.Event) -> None:
        """Start work that goes on until it is cancelled, and cancel it once it has begun."""
        request = self.engine.submit(work, "work")
        assert begun.wait(PATIENCE)
        self.engine.cancel(request)
        assert isinstance(self.end_of(request), JobCancelled)

    def shown(self, request: Request) -> SnapshotReady:
        """The last snapshot of a command."""
        return self.inbox.wait(
            lambda m: isinstance(m, SnapshotReady) and m.request == request and m.is_last, f"end of {request}"
        )

    def do(self, work: Callable[[], object]) -> Any:
        """Run one slice and return its result."""
        return self.end_of(self.engine.submit(work, "do")).result


def state() -> tuple[bool, object]:
    return tensor.tracking, tensor.hook


def endless(started: threading.Event) -> None:
    """Apply ops until somebody stops it from outside."""
    x = Tensor(np.ones(2))
    while True:
        x = x + 1
        started.set()


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
