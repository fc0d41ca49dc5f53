"""Driving the application in tests: keys in, conditions awaited, the screen's text out. Nothing here sleeps."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from tui import dump
from tui.app import GlassApp
from tui.cli import settle_threads

PATIENCE = 30.0
"""Seconds after which a wait has failed; no test that passes comes near."""
BREATH = 0.002
"""Seconds that this thread leaves to the engine's between two looks."""
HOPS = 6
"""Widgets on the way of a message from where it is posted to where it is answered."""
CHARACTERS = {" ": "space", ",": "comma"}


@asynccontextmanager
async def started(path: Path, size: tuple[int, int] = (120, 36), **options: Any) -> AsyncIterator[Pilot[None]]:
    """The application with the file open and everything answered."""
    settle_threads()
    with TemporaryDirectory() as folder:  # for runs that are saved
        app = GlassApp(path, **{"colors": "truecolor", "folder": Path(folder), **options})
        async with app.run_test(size=size) as pilot:
            await wait_for(pilot, lambda: has_opened(app), "the file is open")
            await settled(pilot)
            yield pilot


def has_opened(app: GlassApp) -> bool:
    return app._version > 0


async def wait_for(pilot: Pilot[Any], condition: Callable[[], object], what: str) -> None:
    """Let the application work until the condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"never came: {what}\n{dump.text(pilot.app)}"
        await pilot.pause(0 if pilot.app.engine.activity.is_idle else BREATH)


async def settled(pilot: Pilot[Any]) -> None:
    """Until the engine has answered everything, and what it said has gone from widget to widget to the screen."""
    quiet = 0

    def is_quiet() -> bool:
        nonlocal quiet
        quiet = quiet + 1 if pilot.app.engine.activity.is_idle else 0
        return quiet > HOPS

    await wait_for(pilot, is_quiet, "the engine is idle")


def send(pilot: Pilot[Any], *keys: str) -> None:
    """Keys as a terminal sends them, one behind the other."""
    for key in keys:
        name = key if len(key) > 1 or key.isalnum() else CHARACTERS.get(key) or _character_to_key(key)
        pilot.app.post_message(events.Key(name, key if len(key) == 1 else None))


async def press(pilot: Pilot[Any], keys: str) -> None:
    """Send words of keys, each once all before is answered: `10n enter` are four keys in two words."""
    for word in keys.split():
        send(pilot, *([word] if word in NAMED or "+" in word[1:-1] else word))
        await settled(pilot)


async def command(pilot: Pilot[Any], line: str) -> None:
    """Run a command of the session as the command line would."""
    pilot.app.debugger.ask(line)
    await settled(pilot)


async def enter(pilot: Pilot[Any], line: str) -> None:
    """Type a line, the prompt's own key first, and enter it."""
    command_line = pilot.app.debugger.line
    send(pilot, *line)
    await wait_for(pilot, lambda: command_line.query_one(Input).value.endswith(line[1:]), f"{line} is typed")
    send(pilot, "enter")
    await wait_for(pilot, lambda: not command_line.is_open, f"{line} is entered")
    await settled(pilot)


NAMED = {
    "tab", "shift+tab", "enter", "escape", "space", "comma", "up", "down", "left", "right", "pageup", "pagedown",
    "backspace",
    "home", "end",
}  # fmt: skip


def text(pilot: Pilot[Any]) -> str:
    return dump.text(pilot.app)


def row(pilot: Pilot[Any], y: int) -> str:
    """One row of the screen; negative from the bottom: -2 is the status row, -1 the keys."""
    return text(pilot).splitlines()[y]


def position(pilot: Pilot[Any]) -> tuple[int, int, int]:
    at = pilot.app.debugger.snapshot.position
    return at.traversal, at.place, at.edges


def focused(pilot: Pilot[Any]) -> str:
    """The panel that keys go to."""
    return str(pilot.app.debugger.focused.id)
