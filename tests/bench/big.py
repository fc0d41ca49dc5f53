"""A recorded graph of a hundred thousand nodes in the program: how it opens, what it holds, what keys take.

Wall time, from a key to the first frame that shows what it did, against a fixed limit: of many keys the slowest
but one in twenty. A machine that does something else makes all of it slower.
"""

import asyncio
import gc
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from contextlib import asynccontextmanager
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from textual import events

from glassllm.autograd import Tensor
from glassllm.autograd.functions import concat, tanh
from glassllm.debug.commands import run
from glassllm.debug.opening import open_file
from glassllm.debug.recorder import record
from glassllm.debug.session import Session, drain
from glassllm.debug.slices import finished
from glassllm.debug.tape import Tape
from tui.app import GlassApp
from tui.graph_layout.album import Album, Wish

from .driver import Counting
from .table import Result

NODES = 100_000
WIDTH = 256  # float32 of an array: 1 kB
SCREEN = (160, 45)
ROUNDS = 40
OPENING, SAVING, FRAME, ANSWER = 3.0, 8.0, 0.050, 0.100  # seconds
MEMORY = 2  # times the arrays
PATIENCE = 60.0


# Graphs


def leaf(seed: int) -> Tensor:
    values = np.random.default_rng(seed).standard_normal(WIDTH).astype(np.float32)
    return Tensor(0.05 * values, requires_grad=True)


def mixed(nodes: int) -> Tensor:
    """Deep and wide in turns: 32 steps of a recurrence with one weight, then 32 branches and their sum."""
    w, b, h = leaf(1), leaf(2), leaf(3)
    for _ in range(-(-nodes // 160)):
        for _ in range(32):
            h = tanh(h * w + b)
        branches = [h * 0.5 for _ in range(32)]
        h = branches[0]
        for branch in branches[1:]:
            h = h + branch
        h = h * 0.06
    return h.sum()


def chain(nodes: int) -> Tensor:
    """As deep as it is large."""
    h = leaf(1)
    for _ in range(nodes - 1):
        h = -h
    return h.sum()


def fan(nodes: int) -> Tensor:
    """As wide as it is large: one tensor into all branches, all branches into one."""
    h = leaf(1)
    return concat([-h for _ in range(nodes - 2)]).sum()


def leafy(nodes: int) -> Tensor:
    """Half as many leaves as nodes."""
    h = leaf(1)
    for seed in range(nodes // 2):
        h = h + leaf(seed)
    for _ in range(nodes // 2):
        h = h * 1.0
    return h.sum()


def shrinking(nodes: int) -> Tensor:
    """A chain whose arrays all differ: of others, equal ones are saved once."""
    h, w = leaf(1), Tensor(np.full(WIDTH, 0.9999, np.float32), requires_grad=True)
    for _ in range(nodes - 1):
        h = h * w
    return h.sum()


GRAPHS = {"mixed": mixed, "chain": chain, "fan": fan, "leafy": leafy}


def recorded(make: Callable[[int], Tensor], nodes: int) -> Tape:
    with record() as tape:
        make(nodes)
    return tape


# The program


class Timed(Counting):
    """Tells the time of the first frame at which a condition is met."""

    is_there: Callable[[], bool] = staticmethod(lambda: False)
    seen: "asyncio.Future[float] | None" = None

    def write(self, data: str) -> None:
        super().write(data)
        if Timed.seen is not None and not Timed.seen.done() and Timed.is_there():
            Timed.seen.set_result(time.perf_counter())


async def until(is_there: Callable[[], bool]) -> float:
    """The time of the first frame from now on at which the condition is met."""
    Timed.seen, Timed.is_there = asyncio.get_running_loop().create_future(), staticmethod(is_there)
    return await asyncio.wait_for(Timed.seen, PATIENCE)


class Debugged:
    """The whole program on one graph."""

    def __init__(self, made: Tape | Tensor):
        self.app = GlassApp(Path("graph"), build=lambda: Session.opening(made), colors="truecolor")
        self.app.driver_class = Timed

    @asynccontextmanager
    async def opened(self):
        """Yield the seconds until the first frame of the debugger."""
        began = time.perf_counter()
        first = asyncio.ensure_future(until(lambda: self.app._version > 0 and self.screen.snapshot is not None))
        async with self.app.run_test(headless=False, size=SCREEN):
            yield await first - began
        self.app.engine.wait()  # a slice that is left has its hook until it ends

    @property
    def screen(self):
        return self.app.debugger

    @property
    def is_answered(self) -> bool:
        return self.screen._asked is None

    def press(self, key: str) -> float:
        """Press a key; when that was."""
        self.app.post_message(events.Key(key, key if len(key) == 1 else None))
        return time.perf_counter()

    async def answers(self, *keys: str) -> list[float]:
        """Seconds from a key to the frame that shows the engine's answer, many times."""
        self.screen.go_to_panel(self.screen.events)
        found = []
        for key in islice(cycle(keys), ROUNDS):
            began, before = self.press(key), self.screen.snapshot
            found.append(
                await until(lambda old=before: self.screen.snapshot is not old and self.is_answered) - began
            )
        return found

    async def reaction(self) -> float:
        """Seconds from a key that only the screen answers to its frame."""
        before = self.screen.panel
        began = self.press("tab")
        return await until(lambda: self.screen.panel != before) - began

    async def command(self, line: str) -> tuple[float, list[float]]:
        """Seconds until a command is answered or said to be under way; and what keys take until it is done."""
        began = time.perf_counter()
        self.screen.ask(line)
        said = await until(lambda: self.is_answered or "esc stops" in self.screen.status.text()) - began
        reactions = []
        while not self.is_answered:
            reactions.append(await self.reaction())
        return said, reactions

    async def cancelled(self, line: str) -> float:
        """Seconds from esc to the frame that says a command has stopped."""
        self.screen.go_to_panel(self.screen.events)
        self.screen.ask(line)
        await until(lambda: "esc stops" in self.screen.status.text())
        began = self.press("escape")
        return await until(lambda: self.is_answered) - began

    async def rest(self) -> None:
        """Until statistics are counted and the graph is drawn."""
        while not self.app.engine.activity.is_idle or self.screen.graph._awaited is not None:
            await asyncio.sleep(0.05)


# What is measured


def p95(times: list[float]) -> float:
    return float(np.quantile(times, 0.95))


def limited(what: str, times: list[float], limit: float, unit: str = "ms") -> Result:
    return Result(f"{NODES // 1000}k nodes: {what}", [p95(times)], [limit], 1, unit)


def measure() -> list[Result]:
    return [of_memory(), *of_files(), *asyncio.run(of_keys())]


def of_memory() -> Result:
    """All that Python and NumPy hold of a recording that is open, counted and drawn, against its arrays."""
    nodes = NODES // 4  # counting every allocation makes them slow
    tracemalloc.start()
    session = finished(Session.opening(recorded(mixed, nodes)))
    drain(session.preparing())
    drain(session.statistics())
    picture = Album(session.tape).picture(Wish("rails", frozenset(), 0))
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    arrays = sum(array.nbytes for array in session.tape.rows.arrays)
    assert len(picture.graph.items) >= nodes
    what = f"{nodes // 1000}k nodes: MB in memory / in arrays of 1 kB"
    return Result(what, [held / 2**20], [arrays / 2**20], MEMORY, "")


def of_files() -> list[Result]:
    """Saving a recording of 100 MB, opening it, and the most that opening holds at a time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        session = Session.of(recorded(shrinking, NODES))
        saving, opening = seconds(lambda: run(session, f"save {path}")), seconds(lambda: open_file(path))
        session = Session.of(recorded(shrinking, NODES // 4))
        run(session, f"save! {path}")
        tracemalloc.start()
        open_file(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    arrays = sum(array.nbytes for array in session.tape.rows.arrays)
    what = f"{NODES // 4000}k nodes: MB to open a saved recording / in its arrays of 1 kB"
    return [
        limited("save", [saving], SAVING),
        limited("open what was saved", [opening], OPENING),
        Result(what, [peak / 2**20], [arrays / 2**20], MEMORY, ""),
    ]


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def of_keys() -> list[Result]:
    found = []
    made = mixed(NODES)
    async with Debugged(made).opened() as seconds:
        found.append(limited("open a Tensor's graph", [seconds], OPENING))
    del made
    program = Debugged(recorded(mixed, NODES))
    async with program.opened() as seconds:
        found.append(limited("open a recording", [seconds], OPENING))
        found.append(limited("n while rows are counted and the graph is drawn", await program.answers("n"), FRAME))
        await program.rest()
        for keys in ("n", "s", "N", "S", "j", "k"):
            found.append(limited(f"{keys}", await program.answers(*keys), FRAME))
        found.append(limited("a page down and up", await program.answers("pagedown", "pageup"), FRAME))
        found += await of_commands(program)
    return found


async def of_commands(program: Debugged) -> list[Result]:
    """Commands that take long: how soon they are acknowledged, what they do to keys, how soon they stop."""
    said, reactions, stops = [], [], []
    await program.command("continue")
    first, _ = await program.command("step")
    stops.append(await program.cancelled("continue"))
    for line in ("last", "search add", "search qqq", "select qqq", "run-back-to #99", "non-finite", "99999 step"):
        answer, during = await program.command(line)
        said.append(answer)
        reactions += during
    for line in ("search qqq", "non-finite"):
        stops.append(await program.cancelled(line))
    await program.command("step-back 5000")
    return [
        limited("the first step back", [first], ANSWER),
        limited("s in backward", await program.answers("s"), FRAME),
        limited("S in backward", await program.answers("S"), FRAME),
        limited("a long command is acknowledged", said, ANSWER),
        limited("a key while a long command runs", reactions, FRAME),
        limited("esc stops a long command", stops, ANSWER),
    ]
