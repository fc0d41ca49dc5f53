"""The interpreter's own variables while a program runs as `__main__`, and as they were when it has ended."""

import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import numpy as np

from glassllm.autograd import tensor as engine

from .output import Output

PATIENCE = 0.5  # seconds that threads get when the program itself has ended


@contextmanager
def as_main(module: ModuleType, arguments: Sequence[str], folder: Path, output: Output) -> Iterator[None]:
    """Inside, `module` is `__main__`, `arguments` are sys.argv, imports look into `folder` first, stdin is empty
    and what is printed goes to `output`. All of it is put back, and what else a program often changes."""
    main, argv, path, stdin, place = sys.modules["__main__"], sys.argv, list(sys.path), sys.stdin, os.getcwd()
    sys.modules["__main__"], sys.argv = module, list(arguments)
    sys.path.insert(0, str(folder))
    try:
        with (
            open(os.devnull, encoding="utf-8") as nothing,
            redirect_stdout(output.stream("out")),
            redirect_stderr(output.stream("err")),
            warnings.catch_warnings(),
            np.errstate(),
            _exits_kept(),
        ):
            sys.stdin = nothing
            yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:], sys.stdin = main, argv, path, stdin
        with suppress(OSError):  # the folder it was started in may be gone
            os.chdir(place)


@contextmanager
def _exits_kept() -> Iterator[None]:
    """Inside, os._exit ends the program as sys.exit does, not the debugger; in a child process it ends that."""
    leave, process = os._exit, os.getpid()

    def kept(status: int) -> NoReturn:
        if os.getpid() != process:
            leave(status)
        raise SystemExit(status)

    os._exit = kept
    try:
        yield
    finally:
        os._exit = leave


@contextmanager
def heard_by(hook: engine.Hook) -> Iterator[None]:
    """Inside, the engine's hook is this one and tracking is on."""
    before, tracking = engine.set_hook(hook), engine.set_tracking(True)
    try:
        yield
    finally:
        engine.set_hook(before)
        engine.set_tracking(tracking)


def still_running(before: set[threading.Thread]) -> int:
    """How many threads that were not there before go on, once all were given a little time to end."""
    until = time.monotonic() + PATIENCE
    started = [t for t in threading.enumerate() if t not in before and t is not threading.current_thread()]
    for thread in started:
        thread.join(max(until - time.monotonic(), 0))
    return sum(thread.is_alive() for thread in started)
