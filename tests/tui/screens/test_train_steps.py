"""Steps of a run in the debugger: the last, an older one, a group's gradients; and back to those opened before."""

from functools import partial

import numpy as np
import pytest

from tests.tui import train_screen
from tests.tui.driving import enter, press, row, send, settled, started, text, wait_for

trained = partial(train_screen.trained, max_norm=0.1)


async def shown(pilot):
    await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the debugger is shown")
    await settled(pilot)
    return pilot.app.debugger.snapshot


async def gradients(pilot, number):
    """Of a step of the run, from 1, before clipping."""
    found = []

    def look():
        step = yield from pilot.app.engine.bench["training"].step_again(number)
        found.append(step.gradients)

    pilot.app.engine.submit(look, "look")
    await wait_for(pilot, lambda: found, "the step is taken again")
    return found[0]


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
@pytest.mark.parametrize(("downs", "parameter"), [(0, "E"), (2, "blocks.0.attn.W_Q"), (13, "norm_f.gamma")])
async def test_enter_shows_the_gradient_of_the_marked_group_s_first_parameter(
    sample, options, size, downs, parameter
):
    async with started(sample, size, **options) as pilot:
        room = await trained(pilot, "3s")
        await press(pilot, "down " * downs + "enter")
        snapshot = await shown(pilot)
        tape = snapshot.tape
        assert tape.rows[snapshot.selection].name == parameter
        assert snapshot.position.traversal == 1
        assert pilot.app.debugger.tensor.state.tab == "gradient"
        found, expected = snapshot.focus.gradient, (await gradients(pilot, 3))[parameter]
        assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
        assert f"clip × {room.view.report.clip_factor:.3f}".replace("0.", ".") in row(pilot, 0)


async def test_the_gradient_is_shown_though_the_value_was_looked_at_before(sample, options):
    async with started(sample, (160, 45), **options) as pilot:
        await press(pilot, "2c [")
        assert pilot.app.debugger.tensor.state.tab == "value"
        await trained(pilot, "s enter")
        await shown(pilot)
        assert pilot.app.debugger.tensor.state.tab == "gradient"


async def test_an_older_step_is_taken_again_and_opened(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, "5s")
        losses = room.view.curves["loss"][1]
        await room.entered("command", "debug 2")
        snapshot = await shown(pilot)
        assert row(pilot, 0).startswith(" tiny.npz step 2 ")
        assert "step 2, 2 sequences of 16" in row(pilot, -2)
        assert snapshot.run.loss == pytest.approx(losses[1], rel=1e-6)
        await pilot.app.show_screen("train")
        assert "step 5/8" in row(pilot, 0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("debug 9", "no step 9"),
        ("debug 0", "no step 0"),
        ("debug x", "whole number"),
        ("debug ²", "whole number"),
        ("debug " + "9" * 5000, "whole number"),
        ("debug -1", "whole number"),
    ],
)
async def test_a_step_that_is_none_is_refused_in_words(sample, options, line, said):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, "2s")
        await room.entered("command", line)
        await settled(pilot)
        assert said in row(pilot, -2)
        assert pilot.app.screen is room


@pytest.mark.parametrize("key", ["d", "enter"])
async def test_before_the_first_step_there_is_none(sample, options, key):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, key)
        assert pilot.app.screen is room
        assert room.view.step == 0
        assert key == "enter" or "no step is finished yet" in row(pilot, -2)


async def test_taking_a_step_again_is_said_and_stopped_by_esc(sample, options, monkeypatch):
    from glassllm.train.history import History

    def endless(self, number):
        while True:
            yield 1, number, "re-running step"

    monkeypatch.setattr(History, "again", endless)
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, "5s")
        await room.entered("command", "debug 2")
        await wait_for(
            pilot, lambda: "re-running step  1/2   esc stops" in row(pilot, -2), "it says how far it is"
        )
        send(pilot, "escape")
        await settled(pilot)
        assert "stopped" in row(pilot, -2)
        assert "re-running" not in row(pilot, -2)
        assert pilot.app.screen is room


async def test_steps_opened_are_gone_back_to_by_their_names(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot)
        for _ in range(2):
            await press(pilot, "s d")
            await shown(pilot)
            await pilot.app.show_screen("train")
        await room.entered("command", "reopen step 1")
        first = (await shown(pilot)).run
        assert first.name == "tiny.npz step 1"
        await enter(pilot, ":reopen")
        assert pilot.app.debugger.snapshot.run.name == "tiny.npz step 2"
        await enter(pilot, ":reopen 5")
        assert "there are tiny.npz, step 1, step 2" in row(pilot, -2)
        await enter(pilot, ":reopen tiny")
        assert row(pilot, 0).startswith(" tiny.npz   ")


async def test_running_a_step_again_in_the_debugger_keeps_its_name(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        await trained(pilot, "s d")
        await shown(pilot)
        await press(pilot, "r")
        assert " tiny.npz step 1 " in text(pilot)
