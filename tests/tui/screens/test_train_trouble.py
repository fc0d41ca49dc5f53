"""What cannot be done while a run goes on: it says why, long enough to be read, and the run goes on."""

import pytest

from tests.tui.driving import press, row, send, settled, started, wait_for
from tests.tui.train_screen import trained


async def running(pilot):
    """The Train screen, a long run begun."""
    room = await trained(pilot, steps=100_000)
    send(pilot, "space")
    await wait_for(pilot, lambda: room.view.step >= 2, "the run goes on")
    return room


@pytest.mark.parametrize("line", ["debug 99999", "debug abc", "set lr=nan", "nonsense", "resume"])
async def test_why_not_can_be_read_while_a_run_goes_on(sample, corpus, tmp_path, line):
    """And what is told ten times a second does not fill the log."""
    async with started(sample, (120, 36), corpus=corpus, folder=tmp_path) as pilot:
        room = await running(pilot)
        await room.entered("command", line)
        await wait_for(pilot, lambda: row(pilot, -2).startswith(" ✗ "), "it is refused")
        refusal, step = row(pilot, -2), room.view.step
        await wait_for(pilot, lambda: room.view.step >= step + 10, "the run goes on")
        assert row(pilot, -2) == refusal
        assert not any("next in" in said for said in room.said)
        send(pilot, "space")
        await wait_for(pilot, lambda: room.view.state == "paused", "it is held")
        await settled(pilot)
        assert "paused" in row(pilot, -2)


async def test_a_run_that_cannot_be_saved_stays_and_says_why(sample, corpus, tmp_path):
    async with started(sample, (120, 36), corpus=corpus, folder=tmp_path / "none") as pilot:
        room = await running(pilot)
        await press(pilot, "x")
        assert room.view.state == "paused"
        assert "✗" in row(pilot, -2) and "cannot be written: No such file or directory" in row(pilot, -2)
        await press(pilot, "s")
        assert "paused  not saved: No such file or directory; :save PATH saves it elsewhere" in row(pilot, -2)
        room.do(f"save {tmp_path / 'kept'}")
        await settled(pilot)
        assert not room.unsaved and (tmp_path / "kept.train.npz").exists() and (tmp_path / "kept.npz").exists()
        assert "not saved" not in row(pilot, -2)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("set speed=3", "no setting is called speed; there are steps, batch_size, seq_len, lr, warmup, seed, "),
        ("set lr", "lr is set with its value, lr=…"),
        ("set lr=", "lr is set with its value, lr=…"),
        ("set weights=old", "weights is new or kept, not old"),
        ("set fused=maybe", "say on or off, not maybe"),
        ("set steps=0", "steps must be from 1 to 1000000000, got 0"),
        ("set lr=nan", "lr must be above 0 and at most 10, got nan"),
    ],
)
async def test_a_setting_that_cannot_be_is_refused_in_one_line(sample, corpus, tmp_path, line, why):
    async with started(sample, (160, 45), corpus=corpus, folder=tmp_path) as pilot:
        await pilot.app.show_screen("train")
        await settled(pilot)
        before = pilot.app.screen.view.settings
        pilot.app.screen.do(line)
        await settled(pilot)
        assert row(pilot, -2).startswith(f" ✗ {why}")
        assert pilot.app.screen.view.settings == before


async def test_settings_are_offered_to_be_edited_as_they_are(sample, corpus, tmp_path):
    async with started(sample, (160, 45), corpus=corpus, folder=tmp_path) as pilot:
        await pilot.app.show_screen("train")
        await settled(pilot)
        room = pilot.app.screen
        room.do("set lr=0.00123456789 alarm=off weights=kept")
        await settled(pilot)
        before = room.view.settings
        await press(pilot, "e enter")
        assert room.view.settings == before and before.lr == 0.00123456789 and not room.view.fresh
