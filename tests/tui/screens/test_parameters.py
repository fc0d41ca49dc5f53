"""The table of parameters over the screen."""

import re

from tests.tui.driving import press, row, settled, started, text
from tui.screens.parameters import ParametersScreen


def names(pilot):
    """Those in sight, from the top."""
    return re.findall(r"[●○◐–] (\S+) +[\d×]+   ", text(pilot))


async def test_it_lists_sorts_and_jumps(sample):
    async with started(sample, (120, 36)) as pilot:
        await press(pilot, "c c c p")
        screen = pilot.app.screen
        assert isinstance(screen, ParametersScreen)
        in_order = names(pilot)
        assert in_order[0] == "E" and "38, 245" in text(pilot) and "sorted in order" in text(pilot)
        await press(pilot, ">")
        assert "sorted by shape" in text(pilot) and names(pilot)[0] == "E"
        for heading, column in (("‖w‖", "weight"), ("‖g‖", "gradient"), ("‖g‖/‖w‖", "ratio")):
            await press(pilot, ">")
            values = [getattr(each, column) for each in screen.table.entries]
            assert values == sorted(values, reverse=True) and f"sorted by {heading}" in text(pilot)
        await press(pilot, "r")
        assert [each.ratio for each in screen.table.entries] == sorted(values) and "sorted reversed by" in text(
            pilot
        )
        chosen = screen.table.entries[2]
        await press(pilot, "j j j k enter")
        assert pilot.app.debugger.snapshot.selection == chosen.row
        assert chosen.name in text(pilot)


async def test_left_of_the_first_column_comes_the_last(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "p <")
        assert "sorted by ‖g‖/‖w‖" in text(pilot)
        await press(pilot, "G")
        assert "38/38" in text(pilot)
        await press(pilot, "pageup g pagedown p")
        assert not isinstance(pilot.app.screen, ParametersScreen)
        await settled(pilot)
        assert "forward 1/77" in row(pilot, 0)


async def test_statistics_appear_when_they_are_counted(sample):
    async with started(sample, (120, 36)) as pilot:
        await press(pilot, "p")
        await settled(pilot)
        assert re.search(r"E +1024×64 +\d", text(pilot))
