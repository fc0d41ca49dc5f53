"""The apps that are measured: one that is empty, panels on their own, and the whole program."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count, cycle

import numpy as np
from numpy.typing import NDArray
from textual.app import App, ComposeResult
from textual.widgets import Static

from glassllm.autograd import Tensor
from glassllm.debug.health import health_of
from glassllm.debug.opening import open_file
from glassllm.debug.recorder import record
from glassllm.debug.session import Session, drain
from glassllm.debug.snapshot import Axis, GradientState, Snapshot
from tui.app import GlassApp
from tui.cli import sample_path
from tui.draw.heatmap import fit_plane, map_rows, shown_codes
from tui.draw.palette import Palette
from tui.draw.plane import PanelState, plane_of
from tui.draw.scale import scale_of
from tui.widgets.events import EventsPanel
from tui.widgets.page import Page
from tui.widgets.tensor import TensorPanel

from .driver import Counting

MAP = (120, 40)  # columns and lines of the terminal; a line holds two rows of values
PANEL = (140, 53)  # room for value and gradient beside each other, together as large as that map
ARRAYS = 40  # more than there are rounds, so that each is new
PALETTE = Palette()

Array = NDArray[np.float32]


class Empty(App[None]):
    """One line, which every key changes."""

    def __init__(self) -> None:
        super().__init__(driver_class=Counting)
        self.line = Static("0")
        self.numbers = count(1)

    def compose(self) -> ComposeResult:
        yield self.line

    def on_key(self) -> None:
        self.line.update(f"line {next(self.numbers)}", layout=False)


class Alone(App[None]):
    """One panel, and what every key does to it."""

    def __init__(self, panel: Page, act: Callable[[], object]) -> None:
        super().__init__(driver_class=Counting)
        self.panel = panel
        self.act = act

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_key(self) -> None:
        self.act()


def noise(seed: int, columns: int = MAP[0]) -> Array:
    """Values for a map as high as MAP, no two neighbours alike: the most a map can cost."""
    return np.random.default_rng(seed).standard_normal((2 * MAP[1], columns), np.float32)


def bare_map() -> Alone:
    """A heatmap and nothing else; every key brings new data."""
    page = Page(PALETTE)
    arrays = cycle([noise(seed) for seed in range(ARRAYS)])

    def show() -> None:
        array = next(arrays)
        plane = plane_of(array, None, PanelState(cell=(0, 0)))
        fit, scale = fit_plane(plane, *MAP), scale_of(array)
        page.show(map_rows(shown_codes(plane, fit, scale, PALETTE), fit, PALETTE, scale.kind))

    return Alone(page, show)


def tensor_panel() -> tuple[Alone, TensorPanel]:
    """The tensor panel with all that stands around its maps; every key brings new data."""
    panel = TensorPanel(PALETTE)
    snapshot = open_file(sample_path()).snapshot()
    snapshots = cycle([holding(snapshot, seed) for seed in range(ARRAYS)])
    return Alone(panel, lambda: panel.draw(next(snapshots))), panel


def holding(snapshot: Snapshot, seed: int) -> Snapshot:
    """The snapshot with another tensor selected, its value and its gradient each half as wide as MAP."""
    value, gradient = noise(seed, MAP[0] // 2), noise(seed + ARRAYS, MAP[0] // 2)
    focus = replace(
        snapshot.focus,
        axes=(Axis("row"), Axis("column")),
        value=value,
        masked=None,
        state=GradientState(True, 1, 1),
        gradient=gradient,
        recorded=True,
    )
    return replace(
        snapshot,
        focus=focus,
        selection=seed,
        value_health=health_of(value),
        gradient_health=health_of(gradient),
    )


def event_list(ops: int) -> Alone:
    """The list of a program with so many ops; every key makes the next one the current."""
    with record() as tape:
        x = Tensor(np.ones(1), requires_grad=True)
        for _ in range(ops):
            x = x * 1.0
    session = Session.of(tape)
    panel = EventsPanel(PALETTE)

    def step() -> None:
        drain(session.next())
        panel.draw(session.snapshot())

    return Alone(panel, step)


def whole_program() -> GlassApp:
    """The program with the sample."""
    app = GlassApp(sample_path(), colors="truecolor")
    app.driver_class = Counting
    return app
