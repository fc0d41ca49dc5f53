"""Large recordings on the screen: what a frame takes, counted in lines of Python, does not grow with them."""

import threading
from pathlib import Path

import pytest

from glassllm.debug.recorder import record
from glassllm.debug.session import Session
from tests.large import LARGE, SMALL, fan, lines_of, mixed
from tests.tui.driving import PATIENCE, command, press, settled, started, wait_for
from tui import dump
from tui.app import GlassApp

SIZE = (160, 45)
PLACES = {
    "first": [],
    "amid the run": ["300 step"],
    "at its end": ["continue"],
    "amid the way back": ["continue", "300 step"],
    "a leaf that all use": ["continue", "300 step", "select #0"],
    "what is made of all": ["continue", "2 step", "select concat"],
}


def opened(make, nodes):
    with record() as tape:
        make(nodes)
    return started(Path("graph"), SIZE, build=lambda: Session.opening(tape))


async def drawn(pilot):
    await settled(pilot)
    await wait_for(pilot, lambda: pilot.app.debugger.graph._awaited is None, "the graph is drawn")


@pytest.mark.parametrize("make", [mixed, fan])
@pytest.mark.parametrize("place", PLACES)
async def test_a_frame_costs_the_same_however_much_is_recorded(make, place):
    if place == "what is made of all" and make is mixed:
        return
    counts = []
    for nodes in (SMALL, LARGE):
        async with opened(make, nodes) as pilot:
            for line in PLACES[place]:
                await command(pilot, line)
            await drawn(pilot)
            screen = pilot.app.debugger
            for _ in screen.tensor.state.tabs:
                screen.tensor.turn_tab(1)
                screen.take(screen.snapshot)
                counts.append(lines_of(lambda screen=screen: screen.take(screen.snapshot)))
    small, large = counts[: len(counts) // 2], counts[len(counts) // 2 :]
    assert all(b <= 1.3 * a + 500 for a, b in zip(small, large, strict=True)), f"{small}, {large} lines"


async def test_far_jumps_in_a_panel_take_no_walk():
    counts = []
    for nodes in (SMALL, LARGE):
        async with opened(mixed, nodes) as pilot:
            await drawn(pilot)
            screen = pilot.app.debugger
            counts.append(lines_of(lambda screen=screen: screen.events.move(SMALL // 2)))
            counts.append(lines_of(lambda screen=screen: screen.graph.move("down", SMALL // 2)))
    assert counts[2] <= counts[0] + 50 and counts[3] <= counts[1] + 50, f"{counts} lines"
    assert max(counts) < 500


async def test_a_large_graph_is_shown_on_rails_however_it_is_asked_for():
    async with opened(fan, SMALL) as pilot:
        await drawn(pilot)
        graph = pilot.app.debugger.graph
        assert graph.view == "rails"
        await press(pilot, "v")
        await drawn(pilot)
        assert graph.view == "rails"


async def test_opening_shows_how_far_it_is_and_goes_on_to_the_debugger():
    gate = threading.Event()

    def build():
        yield 40_000, 100_000, "recording"
        assert gate.wait(PATIENCE)
        return Session.of(mixed(20))

    app = GlassApp(Path("graph"), build=build, colors="truecolor")
    async with app.run_test(size=SIZE) as pilot:
        await wait_for(pilot, lambda: "recording 40 000/100 000" in dump.text(app), "how far it is")
        assert "esc stops" in dump.text(app)
        gate.set()
        await wait_for(pilot, lambda: app._version > 0, "the debugger")
        await settled(pilot)
        assert "forward 1/" in dump.text(app)
