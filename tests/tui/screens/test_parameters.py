"""The table of parameters over the screen."""

import re

import numpy as np

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
        assert in_order[0] == "E" and "38, 245" in text(pilot) and " in order " in text(pilot)
        await press(pilot, ">")
        assert "sorted by shape" in text(pilot) and names(pilot)[0] == "E"
        for heading, column in (("‖w‖", "weight"), ("‖g‖", "gradient"), ("‖g‖/‖w‖", "ratio")):
            await press(pilot, ">")
            values = [getattr(each, column) for each in screen.table.entries]
            assert values == sorted(values, reverse=True) and f"sorted by {heading}" in text(pilot)
        await press(pilot, "r")
        assert [each.ratio for each in screen.table.entries] == sorted(values)
        assert "sorted by ‖g‖/‖w‖, reversed" in text(pilot)
        chosen = screen.table.entries[2]
        await press(pilot, "j j j k enter")
        assert pilot.app.debugger.snapshot.selection == chosen.row
        assert chosen.name in text(pilot)


PROGRAM = """
import numpy as np
from glassllm import Tensor
from glassllm.autograd import tanh
rng = np.random.default_rng(0)
W, b, V = (Tensor(rng.normal(size=shape) * scale, requires_grad=True)
           for shape, scale in (((3, 8), 1), ((8,), 1e-6), ((8, 2), 1e3)))
bad = Tensor(np.array([1.0, np.nan]), requires_grad=True)
far = Tensor(np.array([np.inf, 2.0]), requires_grad=True)
out = (tanh(Tensor(np.ones((5, 3))) @ W + b) @ V).sum() + (bad * 0.5).sum() + (far * 2).sum()
out.backward()
"""
HEADS = ["shape", "‖w‖", "‖g‖", "‖g‖/‖w‖"]


def read(text_of_cell: str) -> float:
    return float(text_of_cell.replace("−", "-").replace("+Inf", "inf"))


def columns_in_sight(pilot):
    """By name: what stands in each column."""
    lines = re.findall(r"[●○◐–] (\S+) +([\d×]+) +(\S+) +(\S+) +(\S+)", text(pilot))
    return {name: cells for name, *cells in lines}


async def test_every_column_is_what_numpy_says(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    async with started(path, (120, 36)) as pilot:
        await press(pilot, "2c p")
        snapshot, found = pilot.app.debugger.snapshot, columns_in_sight(pilot)
        assert list(found) == ["W", "b", "V", "bad", "far"]
        for leaf in snapshot.tape.leaves:
            row = snapshot.tape.rows[leaf]
            weight, gradient = row.array, snapshot.tape.gradient(leaf, snapshot.position)
            shape, *norms = found[row.name]
            w, g = np.linalg.norm(weight), np.linalg.norm(gradient)
            assert shape == "×".join(map(str, weight.shape))
            np.testing.assert_allclose([read(each) for each in norms], [w, g, g / w], rtol=0.06)


async def test_clicks_sort_choose_and_jump(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    async with started(path, (120, 36)) as pilot:
        await press(pilot, "2c p")

        async def click(words: str, behind: str = "") -> None:
            lines = [f"{line} " for line in text(pilot).splitlines()]
            found = [i for i, line in enumerate(lines) if words in line and behind in line]
            assert found, f"{words!r} with {behind!r} not in\n{text(pilot)}"
            y = found[0]
            await pilot.click(offset=(lines[y].index(words) + 1, y))
            await settled(pilot)

        for head, column in zip(HEADS, ("size", "weight", "gradient", "ratio"), strict=True):
            await click(f" {head} ", "name")
            values = [getattr(each, column) for each in pilot.app.screen.table.entries]
            numbers = [value for value in values if value == value]
            assert numbers == sorted(numbers, reverse=True) and f"sorted by {head} " in text(pilot)
            await click(f" {head} ", "name")
            assert f"sorted by {head}, reversed" in text(pilot)
        await click("name", "shape")
        assert list(columns_in_sight(pilot)) == ["W", "b", "V", "bad", "far"]
        await click("● V", "8×2")
        assert isinstance(pilot.app.screen, ParametersScreen) and "▸ ● V" in text(pilot)
        await click("● V", "8×2")
        assert not isinstance(pilot.app.screen, ParametersScreen)
        assert pilot.app.debugger.snapshot.focus.title == "V"


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
