"""Graphs that name no moments, as a user's program makes them: every panel shows them, every key works."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import exp, op
from glassllm.debug.session import Session
from tests.tui.driving import command, press, row, started, text


def build() -> Session:
    """y = Σ (x w + w) · e^x"""
    x = Tensor(np.array([1.0, -2.0, 0.5]), requires_grad=True)
    w = Tensor(np.array([0.5, 3.0, -1.0]), requires_grad=True)
    return Session.of(((x * w + w) * exp(x)).sum(), names={"x": x, "w": w})


def scalar() -> Session:
    """y = x · x + x at 3, the smallest there is."""
    x = Tensor(np.array(3.0), requires_grad=True)
    return Session.of(x * x + x, names={"x": x})


def long() -> Session:
    """A chain far longer than any screen."""
    x = y = Tensor(np.ones(2), requires_grad=True)
    for _ in range(3000):
        y = y + 1.0
    return Session.of(y, names={"x": x})


def ruleless() -> Session:
    """The last op has a rule, the one before it has none."""

    @op
    def bare(x):
        return x * 2

    return Session.of(bare(Tensor(np.ones(2), requires_grad=True)).sum())


async def test_a_rule_that_is_missing_is_a_line_that_says_what_to_do(tmp_path):
    async with started(tmp_path / "graph.py", (160, 45), build=ruleless) as pilot:
        await press(pilot, "2c")
        assert row(pilot, -2).startswith(
            " ✗ the way back stops before node 1, bare; mend its rule and run again: Val"
        )
        assert pilot.app.screen is pilot.app.debugger
        assert "backward 1/" in row(pilot, 0)


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 18)])
@pytest.mark.parametrize("make", [build, scalar, long])
async def test_a_graph_without_moments_is_walked_both_ways(tmp_path, size, make):
    async with started(tmp_path / "graph.py", size, build=make) as pilot:
        start = text(pilot).splitlines()
        await press(pilot, "999999s")
        end = text(pilot).splitlines()
        assert "backward" in row(pilot, 0)
        assert end[1] != start[1]
        await press(pilot, "tab tab ] ] v o < > a % ^ tab 3k 2j u d")
        await press(pilot, "999999S escape escape escape")
        assert "forward 1/" in row(pilot, 0)


async def test_its_nodes_are_the_list_and_its_leaves_stand_below_in_a_traversal(tmp_path):
    async with started(tmp_path / "graph.py", (160, 45), build=build) as pilot:
        assert row(pilot, 2).startswith("▌nodes")
        names = [line[:20].split() for line in text(pilot).splitlines()[4:9]]
        assert names == [["▶", "mul", "1"], ["add", "2"], ["exp", "3"], ["mul", "4"], ["tsum", "5"]]
        await press(pilot, "2c")
        shown = text(pilot)
        assert "leaf gradients" in shown
        assert "2 of 2" in shown
        gradient = pilot.app.debugger.snapshot.tape.gradient
        at = pilot.app.debugger.snapshot.position
        x, w = np.array([1.0, -2.0, 0.5]), np.array([0.5, 3.0, -1.0])
        leaves = {
            pilot.app.debugger.snapshot.tape.rows[i].name: i for i in pilot.app.debugger.snapshot.tape.leaves
        }
        assert np.allclose(gradient(leaves["w"], at), (x + 1) * np.exp(x))
        assert np.allclose(gradient(leaves["x"], at), (w + x * w + w) * np.exp(x))


async def test_commands_of_a_models_run_are_refused_in_one_line(tmp_path):
    async with started(tmp_path / "graph.py", (80, 24), build=build) as pilot:
        for line in ("text hello", "rerun", "no_grad on"):
            await command(pilot, line)
            assert row(pilot, -2).startswith(" ✗ ")
