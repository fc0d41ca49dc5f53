"""Leaving: at once where nothing would be lost; a run that is not saved is asked about, on every screen."""

import re
import signal

import pytest

from glassllm.train import load_state
from tests.tui.driving import press, row, send, settled, started, text, wait_for
from tests.tui.pseudo_terminal import terminal
from tests.tui.train_screen import trained
from tui.screens.leave import LeaveScreen

SIZES = [(160, 45), (60, 18), (40, 8)]


def is_asked(pilot):
    return isinstance(pilot.app.screen, LeaveScreen)


async def left(pilot):
    await wait_for(pilot, lambda: pilot.app._exit, "the application ends")


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_with_nothing_to_lose_it_leaves_at_once(sample, options, key):
    async with started(sample, (80, 24), **options) as pilot:
        await trained(pilot)
        send(pilot, key)
        await left(pilot)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("screen", ["train", "debug", "generate"])
async def test_a_run_is_asked_about_and_left_at_the_second_q(sample, options, screen, size):
    async with started(sample, size, **options) as pilot:
        await trained(pilot, "2s")
        await pilot.app.show_screen(screen)
        await settled(pilot)
        shown = pilot.app.screen
        await press(pilot, "q")
        assert is_asked(pilot)
        assert "a run of" in text(pilot)
        await press(pilot, "escape")
        assert pilot.app.screen is shown
        await press(pilot, "q")
        send(pilot, "q")
        await left(pilot)
        assert not list(options["folder"].glob("*.npz"))


async def going_on(pilot):
    """A long run that has begun and is not held."""
    room = await trained(pilot, steps=100_000)
    send(pilot, "space")
    await wait_for(pilot, lambda: room.view.step >= 2, "the run goes on")


async def test_it_says_how_many_steps_would_be_lost(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        await trained(pilot, "s s ctrl+q")
        assert "a run of 2 steps is not saved" in text(pilot)
        await press(pilot, "escape w")
        assert not pilot.app.rooms.unsaved
        await press(pilot, "s q")
        assert "1 of a run of 3 steps not saved yet" in text(pilot)
        send(pilot, "ctrl+q")
        await left(pilot)


async def test_w_saves_and_then_leaves(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        await going_on(pilot)
        send(pilot, "q", "w")
        await left(pilot)
        assert sorted(path.name for path in options["folder"].glob("*.npz")) == [
            "tiny-trained.npz",
            "tiny-trained.train.npz",
        ]


async def test_where_it_cannot_be_saved_one_stays_and_hears_why(sample, options):
    folder = options["folder"] / "none"
    async with started(sample, (80, 24), **options | {"folder": folder}) as pilot:
        await trained(pilot, "s q w")
        await wait_for(pilot, lambda: "not saved" in text(pilot), "it says so")
        assert is_asked(pilot)
        assert "No such file or directory" in " ".join(re.sub("[^ -~]", " ", text(pilot)).split())
        await press(pilot, "escape")
        assert "step 1/8" in row(pilot, 0)


async def test_a_run_that_was_left_or_is_saved_is_not_asked_about(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        await trained(pilot, "s x")
        assert not pilot.app.rooms.unsaved
        await press(pilot, "space")
        await settled(pilot)
        assert pilot.app.screen.view.state == "done"
        send(pilot, "q")
        await left(pilot)


# What a signal does


async def test_what_ends_the_program_has_the_run_saved_first(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        await going_on(pilot)
        pilot.app.rooms.end(pilot.app.exit)
        await left(pilot)
        assert load_state(options["folder"] / "tiny-trained.train.npz").run.step >= 2


async def test_it_ends_though_nothing_can_be_saved(sample, options):
    async with started(sample, (80, 24), **options | {"folder": options["folder"] / "none"}) as pilot:
        await trained(pilot, "s")
        pilot.app.rooms.end(pilot.app.exit)
        await left(pilot)


async def test_a_terminal_that_hangs_up_says_so_twice(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        await trained(pilot, "2s")
        for _ in range(2):
            pilot.app.rooms.end(pilot.app.exit)
        await left(pilot)
        assert load_state(options["folder"] / "tiny-trained.train.npz").run.step == 2


async def test_with_nothing_to_lose_it_ends_at_once(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        await trained(pilot, "s x")
        pilot.app.rooms.end(pilot.app.exit)
        assert pilot.app._exit


def test_a_window_that_is_closed_costs_no_step(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with terminal(str(sample), "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"all keys")
        before = at.type("\\")
        at.await_written(b"space begins", before)
        before = at.type("s")
        at.await_written(b"after step 1", before)
        at.hang_up()
        at.process.send_signal(signal.SIGHUP)
        assert at.process.wait(20) == -signal.SIGHUP
    assert load_state(tmp_path / "tiny-trained.train.npz").run.step == 1
