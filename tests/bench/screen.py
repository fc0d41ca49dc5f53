"""From a key to the last frame it changes: panels and the whole program, against an app that is empty.

All apps live in one process and take turns. A frame includes its ANSI codes, which Textual would leave out where
there is no terminal.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from itertools import cycle, islice

from textual import events
from textual.app import App

from tui.app import GlassApp
from tui.screens.debug import DebugScreen

from .apps import MAP, PANEL, Empty, bare_map, event_list, tensor_panel, whole_program
from .driver import Counting
from .table import Result

ROUNDS = 24
WARM_UP = 3  # rounds not counted
SCREEN = (160, 45)
LIST = (34, 37)
QUIET = 0.02  # seconds without a frame after which a key has been answered
PATIENCE = 10.0  # seconds after which it never will be


def measure() -> list[Result]:
    return asyncio.run(measure_all())


async def measure_all() -> list[Result]:
    """All apps, opened one after the other and kept open."""
    async with AsyncExitStack() as stack:
        bench = Bench(stack)
        await bench.open(bench.empty, SCREEN)
        return [*await panels(bench), *await program(bench), await long_list(bench)]


class Bench:
    """The empty app, and the apps that take turns with it."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.stack = stack
        self.empty = Empty()

    async def open(self, app: App[None], size: tuple[int, int]) -> None:
        """Start an app, which stays until the end."""
        await self.stack.enter_async_context(app.run_test(headless=False, size=size))

    async def compare(
        self, what: str, app: App[None], keys: Iterable[str], goal: float | None, other: App[None] | None = None
    ) -> Result:
        """What keys cost in this app and a key in the other one, by default the empty one."""
        here, there = [], []
        for key in islice(cycle(keys), WARM_UP + ROUNDS):
            there.append(await cost(other or self.empty, "x"))
            here.append(await cost(app, key))
        return Result(what, here[WARM_UP:], there[WARM_UP:], goal)


async def cost(app: App[None], key: str) -> float:
    """CPU seconds of all threads from a key to the last frame that it changes; TimeoutError if it changes none."""
    began, frames = time.process_time(), Counting.frames
    app.post_message(events.Key(key, key if len(key) == 1 else None))
    await until(lambda: Counting.frames > frames and is_idle(app), f"key {key} changed nothing")
    return Counting.painted_at - began


async def until(condition: Callable[[], bool], otherwise: str) -> None:
    """Wait until the condition holds and no more frames come."""
    deadline = time.monotonic() + PATIENCE
    seen = -1
    while not condition() or seen != Counting.frames:
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        seen = Counting.frames
        await asyncio.sleep(QUIET)


def is_idle(app: App[None]) -> bool:
    """Whether its engine, if it has one, has answered everything."""
    return not isinstance(app, GlassApp) or app.engine.activity.is_idle


async def panels(bench: Bench) -> list[Result]:
    """A heatmap's new data, and a cursor move on one."""
    bare = bare_map()
    alone, panel = tensor_panel()
    await bench.open(bare, MAP)
    await bench.open(alone, PANEL)
    results = [
        await bench.compare("new data in a bare map of 120x40 / one line", bare, "x", 8),
        await bench.compare("new data in the tensor panel, 120x40 of maps / one line", alone, "x", 8),
    ]
    ways = cycle(("right", "down"))
    alone.act = lambda: panel.move(next(ways))
    return [*results, await bench.compare("cursor move in that panel / one line", alone, "x", 3)]


async def program(bench: Bench) -> list[Result]:
    """The whole screen, its engine included: into the forward run, about in it, back through it, then visits."""
    app = whole_program()
    await bench.open(app, SCREEN)
    await until(lambda: isinstance(app.screen, DebugScreen) and is_idle(app), "the sample was not opened")
    results = [
        await bench.compare("n, next event / one line", app, "n", 10),
        await bench.compare("j k, selection in the list / one line", app, "jjjkkk", 10),
    ]
    for key in ("tab", "tab"):  # from the list over the graph to the tensor
        await cost(app, key)
    moves = ("up", "right", "down", "left")
    results.append(await bench.compare("cell cursor on the whole screen / one line", app, moves, None))
    await cost(app, "tab")
    results.append(await bench.compare("N, event back / one line", app, "N", 10))
    await cost(app, "c")
    results.append(await bench.compare("s, one visit of the way back / one line", app, "s", 10))
    results.append(await bench.compare("S, the same again backwards / one line", app, "S", 10))
    return results


async def long_list(bench: Bench) -> Result:
    """A list's length must not be felt."""
    long, short = event_list(100_000), event_list(600)
    await bench.open(long, LIST)
    await bench.open(short, LIST)
    return await bench.compare("step in a list of 100 000 / of 600", long, "x", 2, short)
