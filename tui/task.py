"""One piece of work, and the state in which each of its slices runs.

A slice finds tracking and recorder as its task declares them and leaves both at rest. Its hook is the only way to
stop it midway: it looks at the task's cancel flag at every op. Importing this imports neither numpy nor glassllm.
"""

import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from textual.message import Message

from .messages import EngineFailed, JobCancelled, Request

if TYPE_CHECKING:
    from glassllm.autograd.tensor import Hook

T = TypeVar("T")
Work = Callable[[], object]
"""Runs on the engine thread. What it returns is the result, unless that is a generator: then every step of it
is a slice, what it yields is news (a Progress, or its first fields; a snapshot; None for nothing to say), and
what it returns is the result."""


class Priority(IntEnum):
    """Which queue is looked at first. A cancelled task only has to be closed, so it goes before all."""

    CANCELLED = 0
    COMMAND = 1
    JOB = 2


class Outcome(NamedTuple):
    """What a slice gave: news, or the result of the last one."""

    is_last: bool
    value: object


class Cancelled(BaseException):
    """Leaves a slice whose task was cancelled; no `except Exception` on the way stops it."""


@dataclass(eq=False)
class Task:
    """One piece of work as the thread sees it."""

    request: Request
    work: Work
    priority: Priority
    is_command: bool = False
    """Commands act on the session, so however they end the session is shown."""
    tracking: bool = True
    recorder: "Hook | None" = None
    is_cancelled: bool = False
    is_paused: bool = False
    steps: Generator[object, None, object] | None = None
    """None before the first slice, and in work that is one slice."""
    news: dict[type[Message], Message] = field(default_factory=dict)
    """The newest of each kind not told yet."""
    told_at: float = float("-inf")

    def advance(self) -> Outcome:
        """Run one slice."""
        if self.steps is None:
            outcome = self.work()
            if not isinstance(outcome, Generator):
                return Outcome(True, outcome)
            self.steps = outcome
        try:
            return Outcome(False, next(self.steps))
        except StopIteration as stop:
            return Outcome(True, stop.value)

    def close(self) -> None:
        """Let a generator that will not be resumed run its `finally`."""
        if self.steps is not None:
            self.steps.close()


class CancelHook:
    """The hook of every slice: first looks whether its task was cancelled, then lets the recorder hear."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._recorder = task.recorder
        self.is_recording = task.recorder is not None

    def applied(self, op: Any, inputs: Any, attrs: Any, saved: Any, result: Any) -> None:
        """An op was applied."""
        self._look()
        if self._recorder is not None:
            self._recorder.applied(op, inputs, attrs, saved, result)

    def marked(self, step_id: str, value: Any, layer: int | None) -> None:
        """The model named a moment of its forward."""
        self._look()
        if self._recorder is not None:
            self._recorder.marked(step_id, value, layer)

    def traversed(self, root: Any, seed: Any) -> None:
        """A Tensor's backward() was called."""
        self._look()
        if self._recorder is not None:
            self._recorder.traversed(root, seed)

    def _look(self) -> None:
        if self._task.is_cancelled:
            raise Cancelled


@contextmanager
def declared_state(task: Task) -> Iterator[None]:
    """Tracking and hook as the task declares them; at rest, tracking and without a hook, before and after."""
    from glassllm.autograd import tensor

    try:
        assert tensor.tracking is True, "tracking was off between two slices"
        assert tensor.hook is None, f"a hook stood between two slices: {tensor.hook!r}"
        tensor.set_tracking(task.tracking)
        tensor.set_hook(CancelHook(task))
        yield
    finally:
        tensor.set_hook(None)
        tensor.set_tracking(True)


def failure(request: Request, error: BaseException) -> EngineFailed:
    """The message that tells of an exception."""
    told = traceback.TracebackException.from_exception(error)
    return EngineFailed(request, str(told), "".join(told.format()), type(error).__name__)


def run_slice(task: Task, work: Callable[[], T]) -> T | JobCancelled | EngineFailed:
    """Run `work` in the task's declared state: its result, or the message that says what became of it."""
    try:
        with declared_state(task):
            return work()
    except Cancelled:
        return JobCancelled(task.request)
    except BaseException as error:  # a user's script may raise anything, SystemExit too
        return failure(task.request, error)
