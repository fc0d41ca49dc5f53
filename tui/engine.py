"""The one thread that runs the engine: commands and jobs in, messages out.

Tracking is one variable of the whole process, so exactly one long-lived thread computes, one slice at a time: a
command, a training step, a token. Between two slices it turns to whatever is most urgent. Neither numpy nor
glassllm is imported before the first slice, so the screen can be painted first.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import count as numbers
from typing import TYPE_CHECKING, Any, Protocol

from textual.message import Message

from .messages import EngineFailed, JobCancelled, JobDone, JobProgress, Progress, Request, SnapshotReady
from .task import Priority, Task, Work, run_slice

if TYPE_CHECKING:
    from glassllm.autograd.tensor import Hook

NEWS_INTERVAL = 1 / 30
"""Seconds between two pieces of news of one task."""


class Session(Protocol):
    """What the engine needs to know of a session."""

    def snapshot(self) -> object:
        """The session as it stands, frozen."""


@dataclass(frozen=True)
class Activity:
    """Who holds the engine, and who waits for it."""

    running: Request | None = None
    since: float = 0.0
    """When the running slice began, by the engine's clock."""
    waiting: tuple[Request, ...] = ()
    """In the order in which their turn comes."""
    paused: tuple[Request, ...] = ()
    is_idle: bool = True
    """Whether all that was asked for, paused jobs excepted, has been answered."""


class Engine:
    """Owns the session, whatever else computes beside it, and the thread they live on.

    `build()` makes the session, `perform(session, request)` runs one command on it and returns a snapshot, or
    None for the session's own; both may be generators as `Work` may. `post` is called on the engine thread.
    All public methods return at once and may be called from any thread; those that take a Request do nothing
    once its work has ended.
    """

    def __init__(
        self,
        post: Callable[[Message], object],
        build: Callable[[], object],
        perform: Callable[[Any, Request], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._post_outside = post
        self._perform = perform
        self._clock = clock
        self._session: Session | None = None
        self._bench: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._ids = numbers(1)
        self._versions = numbers(1)
        self._changed = threading.Condition()  # guards all that follows, but for _is_closed
        self._alive: dict[Request, Task] = {}
        self._ready: dict[Priority, deque[Task]] = {priority: deque() for priority in Priority}
        self._parked: deque[Task] = deque()
        self._running: Task | None = None
        self._since = 0.0
        self._posting = threading.Lock()  # so that nothing is posted once close() has returned
        self._is_closed = False
        self.open(build)

    # From any thread

    def start(self) -> None:
        """Start the thread; what was asked before waits for it."""
        self._thread.start()

    def command(self, name: str, *args: object, count: int | None = None) -> Request:
        """Run a command on the session. One begun is finished before the next command begins."""
        request = self._ticket(name, args, count)

        def work() -> Generator[object, None, object]:
            outcome = self._perform(self.session, request)
            snapshot = (yield from outcome) if isinstance(outcome, Generator) else outcome
            return self.session.snapshot() if snapshot is None else snapshot

        return self._submit(Task(request, work, Priority.COMMAND, is_command=True))

    def open(self, build: Callable[[], object], name: str = "open") -> Request:
        """Put the session that `build` makes in the place of the one there is, which stays if that fails."""

        def work() -> Generator[object, None, object]:
            outcome = build()
            built: Any = (yield from outcome) if isinstance(outcome, Generator) else outcome
            self._session = built
            return self.session.snapshot()

        return self._submit(Task(self._ticket(name), work, Priority.COMMAND, is_command=True))

    def submit(
        self,
        work: Work,
        name: str,
        priority: Priority = Priority.JOB,
        tracking: bool = True,
        recorder: "Hook | None" = None,
    ) -> Request:
        """Run other work. Jobs alive at the same time take turns, slice by slice; at a command's priority the
        work keeps its place before the next command."""
        return self._submit(Task(self._ticket(name), work, priority, tracking=tracking, recorder=recorder))

    def cancel(self, request: Request) -> None:
        """Stop this work: at once where it waits, at its next op or slice where it runs."""
        with self._changed:
            task = self._alive.get(request)
            if task is not None:
                task.is_cancelled = True
                if self._withdraw(task):
                    self._put(task)

    def cancel_commands(self) -> None:
        """Stop the command that runs, and those that wait for it: they build on what it would have done."""
        with self._changed:
            for task in tuple(self._alive.values()):
                if task.is_command:
                    self.cancel(task.request)

    def pause(self, request: Request) -> None:
        """Give this job no further slice. A command is not paused: the next ones build on it."""
        with self._changed:
            task = self._alive.get(request)
            if task is not None and task.priority is Priority.JOB:
                task.is_paused = True

    def resume(self, request: Request) -> None:
        """Let a paused job go on, behind the jobs that wait."""
        with self._changed:
            task = self._alive.get(request)
            if task is not None and task.is_paused:
                task.is_paused = False
                if task in self._parked:
                    self._parked.remove(task)
                    self._put(task)

    def spare(self) -> None:
        """Let the rest of the running work run, though it was cancelled: what that stopped was only a part of it,
        and there is something to show."""
        with self._changed:
            if self._running is not None:
                self._running.is_cancelled = False

    @property
    def activity(self) -> Activity:
        """Who holds the engine now, and who waits."""
        with self._changed:
            ready = [self._ready[Priority.COMMAND], self._ready[Priority.JOB]]
            return Activity(
                None if self._running is None else self._running.request,
                self._since,
                tuple(t.request for queue in ready for t in queue if t is not self._running),
                tuple(t.request for t in self._parked),
                len(self._alive) == len(self._parked),
            )

    def close(self) -> None:
        """Post nothing more, and leave the thread to itself: a running slice is abandoned, never joined."""
        with self._posting:
            self._is_closed = True
        with self._changed:
            if self._running is not None:
                self._running.is_cancelled = True
            self._changed.notify()

    def wait(self) -> None:
        """Wait until a slice that ran when the engine was closed has ended; for a process that goes on."""
        if self._thread.ident is not None:
            self._thread.join()

    # On the engine thread

    def assert_engine_thread(self) -> None:
        """Raise AssertionError on any other thread."""
        here = threading.current_thread()
        assert here is self._thread, f"expected the engine thread, got {here.name}"

    @property
    def session(self) -> Any:
        """The session; for work that runs on the engine thread. ValueError while nothing is open."""
        self.assert_engine_thread()
        if self._session is None:
            raise ValueError("nothing is open")
        return self._session

    @property
    def bench(self) -> dict[str, Any]:
        """What else lives on this thread, by name: a tree of continuations, a run of training."""
        self.assert_engine_thread()
        return self._bench

    def _run(self) -> None:
        self.assert_engine_thread()
        while (task := self._take()) is not None:
            if task.is_cancelled:
                self._drop(task)
            elif task.is_paused:
                self._park(task)
            else:
                self._advance(task)
            time.sleep(0)  # whoever waits for the interpreter, the screen above all, goes first

    def _take(self) -> Task | None:
        """Wait for the most urgent task; None once closed."""
        with self._changed:
            while not self._is_closed:
                for queue in self._ready.values():
                    if queue:
                        self._running, self._since = queue.popleft(), self._clock()
                        return self._running
                self._running = None
                self._changed.wait()
            return None

    def _advance(self, task: Task) -> None:
        outcome = run_slice(task, task.advance)
        if isinstance(outcome, Message):
            self._break_off(task, outcome)
        elif outcome.is_last:
            self._finish(task, outcome.value)
        else:
            self._go_on(task, outcome.value)

    def _go_on(self, task: Task, news: object) -> None:
        if isinstance(news, tuple):
            self._tell(task, JobProgress(task.request, *Progress(*news)))
        elif news is not None:
            self._tell(task, self._shown(task, news, is_last=False))
        self._put(task)

    def _finish(self, task: Task, result: object) -> None:
        if task.is_command:
            task.news[SnapshotReady] = self._shown(task, result, is_last=True)
        else:
            task.news[JobDone] = JobDone(task.request, result)
        self._end(task)

    def _break_off(self, task: Task, why: Message) -> None:
        """End a task early; a command has moved the session all the same, so show where it stands."""
        if task.is_command and self._session is not None:
            seen = run_slice(task, self._session.snapshot)
            found = seen if isinstance(seen, Message) else self._shown(task, seen, is_last=False)
            task.news[type(found)] = found
        task.news[type(why)] = why
        self._end(task)

    def _drop(self, task: Task) -> None:
        outcome = run_slice(task, task.close)
        self._break_off(task, outcome if isinstance(outcome, EngineFailed) else JobCancelled(task.request))

    def _park(self, task: Task) -> None:
        """Set a paused task aside, its newest news told."""
        self._tell_all(task)
        with self._changed:
            if task.is_paused and not task.is_cancelled:
                self._parked.append(task)
            else:
                self._put(task)

    def _end(self, task: Task) -> None:
        self._tell_all(task)
        with self._changed:
            del self._alive[task.request]

    # News

    def _shown(self, task: Task, snapshot: Any, is_last: bool) -> SnapshotReady:
        return SnapshotReady(snapshot, next(self._versions), task.request, is_last)

    def _tell(self, task: Task, message: Message) -> None:
        """Post news of a task that goes on, unless it told some just now: then keep the newest for later."""
        task.news[type(message)] = message
        if self._clock() - task.told_at >= NEWS_INTERVAL:
            self._tell_all(task)

    def _tell_all(self, task: Task) -> None:
        task.told_at = self._clock()
        for message in task.news.values():
            self._post(message)
        task.news.clear()

    def _post(self, message: Message) -> None:
        with self._posting:
            if not self._is_closed:
                self._post_outside(message)

    # The queues

    def _ticket(self, name: str, args: tuple[object, ...] = (), count: int | None = None) -> Request:
        return Request(next(self._ids), name, args, count)

    def _submit(self, task: Task) -> Request:
        with self._changed:
            self._alive[task.request] = task
            self._put(task)
        return task.request

    def _put(self, task: Task) -> None:
        """Queue a task: a command midway in front of the other commands, all else at the end."""
        with self._changed:
            queue = self._ready[Priority.CANCELLED if task.is_cancelled else task.priority]
            if task.priority is Priority.COMMAND and task.steps is not None:
                queue.appendleft(task)
            else:
                queue.append(task)
            self._changed.notify()

    def _withdraw(self, task: Task) -> bool:
        """Take a task out of where it waits; False where it runs."""
        for queue in (*self._ready.values(), self._parked):
            if task in queue:
                queue.remove(task)
                return True
        return False
