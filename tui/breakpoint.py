"""The debugger called from a program: it takes the terminal, and gives everything back when it is left."""

import asyncio
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from glassllm.autograd import tensor as engine
from glassllm.autograd.tensor import Tensor
from glassllm.debug import script
from glassllm.debug.naming import Names
from glassllm.debug.origins import user_frames
from glassllm.debug.session import Opening, Session
from glassllm.debug.slices import finished
from glassllm.debug.tape import Tape

from . import terminal
from .cli import has_terminal, settle_threads
from .report import as_tables
from .settings import config_file, read

OF_TEXTUAL = (
    *terminal.MISLEADING,
    *("TEXTUAL_COLOR_SYSTEM", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
)
"""Variables of the environment that opening the screen may change."""


def open_on(made: Any) -> None:
    """See `tui.debug`."""
    if not isinstance(made, Tensor | Tape):
        raise TypeError(f"tui.debug takes a Tensor, or the tape of record(), not {type(made).__name__}")
    caller = user_frames()[0]
    here = f"{os.path.basename(caller.f_code.co_filename)}:{caller.f_lineno}"
    if script.running is not None:
        _have_opened(script.running, made, here)
        return
    _refuse_in_an_event_loop()
    opening = Session.opening(made, name=here, names=names_of(caller))
    if not has_terminal():
        print(f"tui.debug at {here}: no terminal to open in, so here is the report", file=sys.stderr)
        with _engine_at_rest(), redirect_stdout(sys.stderr):
            as_tables(finished(opening))
        return
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("tui.debug cannot open in another thread than the main one; call it there")
    with _engine_at_rest(), _settings_restored():
        _show(opening, here)


def names_of(caller: FrameType) -> Names:
    """What the caller's variables call their Tensors, its own before the module's."""
    names = Names()
    names.add(caller.f_locals)
    names.add(caller.f_globals, "module")
    return names


def _have_opened(running: script.Script, made: Tensor | Tape, here: str) -> None:
    """In a program under the debugger: this is what it opens on when the program has ended."""
    if isinstance(made, Tape):
        raise TypeError("in a program that glassllm-tui runs, tui.debug takes a Tensor, not a tape")
    running.open_on(made)
    print(f"tui.debug at {here}: opened when the program has ended")


def _refuse_in_an_event_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "tui.debug cannot open inside a running event loop (asyncio, a notebook); "
        "call it from plain code, or run the program as glassllm-tui PROGRAM.py"
    )


def _show(opening: Opening, here: str) -> None:
    """The screen, until it is left."""
    settings, faults = read(config_file())
    colors = settings.color or terminal.depth(os.environ)
    terminal.settle(colors)
    settle_threads()
    from .app import GlassApp

    settings = replace(settings, color=colors, ascii=settings.ascii or not terminal.has_all_signs(sys.stdout))
    app = GlassApp(Path(here), settings=settings, faults=faults, build=lambda: opening)
    app.run(mouse=settings.mouse and terminal.has_mouse(os.environ))
    app.engine.wait()


@contextmanager
def _engine_at_rest() -> Iterator[None]:
    """Tracking on and no hook, as the engine's thread finds them; then as the program had them."""
    tracking, hook = engine.set_tracking(True), engine.set_hook(None)
    try:
        yield
    finally:
        engine.set_tracking(tracking)
        engine.set_hook(hook)


@contextmanager
def _settings_restored() -> Iterator[None]:
    """What the screen needs of the process is its own matter only while it is open."""
    environment, interval = {name: os.environ.get(name) for name in OF_TEXTUAL}, sys.getswitchinterval()
    threshold = gc.get_threshold()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
        for name, value in environment.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
