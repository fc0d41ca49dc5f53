"""What stands on the Train screen and is pointed at there: groups, axes, panes; validation, samples, resuming."""

from dataclasses import replace

import pytest
from textual import events

from tests.tui.driving import press, row, settled, started, text, wait_for
from tests.tui.train_screen import trained


def find(pilot, words):
    for y, line in enumerate(text(pilot).splitlines()):
        if words in line:
            return line.index(words), y
    raise AssertionError(f"{words!r} is not on the screen\n{text(pilot)}")


async def click(pilot, words, times=1):
    await pilot.click(offset=find(pilot, words), times=times)
    await settled(pilot)


async def test_v_validates_now_and_has_a_sample_written(sample, options):
    async with started(sample, (160, 45), **options) as pilot:
        room = await trained(pilot, "3s v")
        assert room.view.report.val_loss is not None
        assert room.view.sample.step == 3
        _, y = find(pilot, "greedy, at the last validation")
        assert row(pilot, y).endswith("step 3")
        written = "".join(room.view.sample.tokens)
        assert written[:20] in text(pilot)


async def test_a_count_repeats_a_step(sample, options):
    async with started(sample, (80, 24), **options) as pilot:
        room = await trained(pilot, "3s")
        assert room.view.step == 3


@pytest.mark.parametrize("size", [(160, 45), (120, 36), (80, 24)])
async def test_a_click_marks_a_group_and_a_second_one_opens_its_gradients(sample, options, size):
    async with started(sample, size, **options) as pilot:
        room = await trained(pilot, "s")
        await click(pilot, "1 ffn")
        assert room.look.here == 6
        await click(pilot, "2 attn", times=2)
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the debugger is shown")
        await settled(pilot)
        snapshot = pilot.app.debugger.snapshot
        assert snapshot.tape.rows[snapshot.selection].name == "blocks.2.attn.W_Q"


@pytest.mark.parametrize("size", [(160, 45), (120, 36), (80, 24)])
async def test_a_click_on_the_title_of_the_loss_turns_its_axis(sample, options, size):
    async with started(sample, size, **options) as pilot:
        room = await trained(pilot, "s")
        for is_log in (True, False):
            await click(pilot, "nats per token")
            assert room.look.is_log is is_log


async def test_the_wheel_and_the_arrows_move_the_mark_and_the_ends_hold(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, "s 9 9 down")
        assert room.look.here == 13
        x, y = room.board.region.offset
        for kind, here in ((events.MouseScrollUp, 12), (events.MouseScrollDown, 13), (events.MouseScrollDown, 13)):
            pilot.app.post_message(kind(None, x + 3, y + 3, 0, 0, 0, False, False, False, x + 3, y + 3))
            await settled(pilot)
            assert room.look.here == here
        await press(pilot, "9 9 up")
        assert room.look.here == 0


@pytest.mark.parametrize("size", [(80, 24), (60, 18)])
async def test_panes_that_share_a_place_are_turned_by_tab_and_by_a_click_on_their_names(sample, options, size):
    async with started(sample, size, **options) as pilot:
        await trained(pilot, "4s")
        for name, words in (("run", "batch_size"), ("sample", "epoch"), ("update / weight", "healthy")):
            await click(pilot, name)
            assert words in text(pilot)
        await press(pilot, "tab")
        assert "epoch" in text(pilot)
        await press(pilot, "tab")
        assert "batch_size" in text(pilot)


async def test_a_saved_run_is_named_before_a_run_begins_and_R_goes_on_with_it(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        before = await trained(pilot, "3s w")
        loss = before.view.report.loss
    async with started(sample, (120, 36), **options) as pilot:
        await pilot.app.show_screen("train")
        await settled(pilot)
        assert "tiny-trained.train.npz, step 3; R goes on, space begins anew" in row(pilot, -2)
        await press(pilot, "R")
        room = pilot.app.screen
        assert (room.view.step, room.view.state, room.unsaved) == (3, "paused", "")
        assert room.view.curves["loss"][1, -1] == pytest.approx(loss)
        await press(pilot, "s")
        assert "step 4/8" in row(pilot, 0)
        assert room.unsaved == "1 of a run of 4 steps not saved yet"


async def test_a_run_is_resumed_by_its_file(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        await trained(pilot, "2s w x")
        room = pilot.app.screen
        await room.entered("command", f"resume {options['folder'] / 'tiny-trained.train.npz'}")
        await settled(pilot)
        assert room.view.step == 2
        await press(pilot, "x")
        await room.entered("command", f"resume {options['folder'] / 'none.train.npz'}")
        await settled(pilot)
        assert "none.train.npz" in row(pilot, -2)
        assert room.view.step == 0


async def test_esc_stops_several_steps_and_a_text_that_is_being_read(sample, options, monkeypatch):
    from tui.screens import train

    def endless(training, path):
        while True:
            yield 1, 2

    reading = train.TrainScreen.table["text"]
    monkeypatch.setitem(train.TrainScreen.table, "text", replace(reading, method=endless))
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot)
        room.do("set steps=100000")
        room.do("step 99999")
        await wait_for(pilot, lambda: room.view.step >= 2, "steps are taken")
        await press(pilot, "escape")
        assert room.view.state == "paused"
        await room.entered("command", "text words.txt")
        await wait_for(pilot, lambda: "train text  1/2   esc stops" in row(pilot, -2), "it says how far it is")
        await press(pilot, "escape")
        assert "stopped" in row(pilot, -2)
