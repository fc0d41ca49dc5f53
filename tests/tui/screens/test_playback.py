"""Playing a token's events on the Generate screen: on, back, paused anywhere, by keys and by the mouse."""

import numpy as np
import pytest

from glassllm import GlassLM
from tests.tui.driving import press, row, send, settled, started, text, wait_for
from tui.draw.writing import page


async def opened(pilot):
    await pilot.app.show_screen("generate")
    await settled(pilot)
    return pilot.app.screen


async def click(pilot, room, what, number, times=1):
    """Click the middle of what stands for this on the board."""
    panes = page.panes(room.view, room.choice, *room.board.size, room._palette)
    x, y = next((left + s.x + s.width // 2, top + s.y) for left, top, pane in panes for s in pane.spots
                if (s.what, s.number) == (what, number))  # fmt: skip
    await pilot.click(room.board, offset=(x, y), times=times)
    await settled(pilot)


@pytest.fixture(scope="module")
def traced(sample):
    """What generate traces after the sample's text from seed 0."""
    model = GlassLM.load(sample)
    return list(model.generate(model.sample, 3, seed=0, trace=True))


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 18)])
async def test_i_walks_through_the_events_of_each_token_and_I_back(sample, traced, size):
    async with started(sample, size) as pilot:
        room = await opened(pilot)
        await press(pilot, "n")
        for i in range(1, 5):
            await press(pilot, "i")
            moment, record = room.view.moment, traced[1].trace.records[i - 1]
            assert (moment.step, moment.layer) == (record.id, record.layer)
            assert np.array_equal(moment.value, record.value)
            assert f"event {i}/77" in row(pilot, 0) and moment.scope[-20:] in text(pilot)
        await press(pilot, "73i")
        assert room.view.moment.step == "sample" and room.view.upcoming == traced[1].token
        await press(pilot, "i")
        assert (room.view.event, room.view.depth) == (1, 2)
        await press(pilot, "I")
        assert (room.view.event, room.view.depth) == (77, 1)
        await press(pilot, "77I")
        assert (room.view.event, room.view.depth) == (77, 0)


async def test_n_and_N_take_whole_tokens_and_esc_leaves_the_events(sample):
    async with started(sample, (120, 36)) as pilot:
        room = await opened(pilot)
        await press(pilot, "20i n")
        assert (room.view.event, room.view.depth) == (1, 1)
        await press(pilot, "30i N")
        assert (room.view.event, room.view.depth) == (1, 0)
        await press(pilot, "escape")
        assert room.view.event == 0 and "drawn u = " in text(pilot)
        await press(pilot, "n I f")
        assert (room.view.event, room.view.depth) == (1, 2)
        await press(pilot, "f F f")
        assert room.view.moment.scope == "blocks.0.resid.ffn"


async def test_candidates_come_with_probs_and_can_be_taken_at_any_event(sample, traced):
    async with started(sample, (160, 45)) as pilot:
        room = await opened(pilot)
        await press(pilot, "40i down down")
        assert "candidates come with probs, event 76 of 77" in text(pilot)
        await press(pilot, "enter")
        assert room.view.moment.step == "probs" and room.view.upcoming is None
        assert np.array_equal(room.view.candidates.probs, traced[0].probs)
        await press(pilot, "down enter")
        second = int(traced[0].probs.argsort()[-2])
        assert [node.token for node in room.view.path] == [second]
        assert (room.view.path[0].how, room.view.event) == ("by hand", 1)
        await press(pilot, "I enter")
        assert room.view.depth == 1, "what was gone on with by hand is taken again"
        room.do("take 7")
        await settled(pilot)
        assert room.view.path[-1].token == 7


async def test_space_plays_events_inside_a_token_and_stops_at_any(sample):
    async with started(sample, (120, 36)) as pilot:
        room = await opened(pilot)
        await press(pilot, "i + + + space")
        await wait_for(pilot, lambda: room.view.event > 4, "some events were played")
        await press(pilot, "space")
        here = room.view.event
        assert room.view.depth == 0 and not room.pace.is_playing and "events/s" in row(pilot, 1)
        await press(pilot, "i")
        assert room.view.event == here + 1
        room.do("event-at sample")
        await settled(pilot)
        await press(pilot, "space")
        await wait_for(
            pilot, lambda: room.view.depth == 1 and room.view.event > 1, "it went on with the next token"
        )
        await press(pilot, "escape escape")
        assert not room.pace.is_playing and room.view.event == 0
        await press(pilot, "space")
        await wait_for(pilot, lambda: room.view.depth >= 3, "tokens are played again")
        assert room.view.event == 0 and "tokens/s" in row(pilot, 1)
        await press(pilot, "space")


async def test_playing_stops_at_the_end_of_the_text(sample):
    async with started(sample, (80, 24)) as pilot:
        room = await opened(pilot)
        await press(pilot, "+ + + + + space")
        await wait_for(pilot, lambda: not room.pace.is_playing, "the end of the text was reached")
        assert room.view.path[-1].token == 3 and all(node.token != 3 for node in room.view.path[:-1])


async def test_d_opens_the_debugger_at_that_event(sample):
    async with started(sample, (120, 36)) as pilot:
        room = await opened(pilot)
        await press(pilot, "n 28i d")
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the debugger is shown")
        await settled(pilot)
        assert "forward 28/77" in row(pilot, 0)
        assert "attn.softmax" in text(pilot)
        assert room.view.event == 28


@pytest.mark.parametrize(
    ("line", "place"),
    [("event-at 30", 30), ("event-at attn.softmax", 10), ("event-at 2.attn.softmax", 46), ("event-at probs", 76)],
)
async def test_an_event_is_found_by_number_or_name(sample, line, place):
    async with started(sample, (80, 24)) as pilot:
        room = await opened(pilot)
        room.do(line)
        await settled(pilot)
        assert room.view.event == place


@pytest.mark.parametrize("line", ["event-at 78", "event-at 0", "event-at nonsense"])
async def test_an_event_that_is_not_there_is_said(sample, line):
    async with started(sample, (80, 24)) as pilot:
        room = await opened(pilot)
        room.do(line)
        await settled(pilot)
        assert "✗ " in row(pilot, -2) and room.view.event == 0


async def test_the_head_shown_follows_the_layer_that_looks(sample):
    async with started(sample, (160, 45)) as pilot:
        room = await opened(pilot)
        await press(pilot, "> 10i")
        assert room.choice.head // 4 == 0
        assert "blocks.0 head" in row(pilot, 2)
        await press(pilot, "18i")
        assert room.choice.head // 4 == 1


async def test_the_mouse_marks_candidates_chooses_heads_and_goes_back(sample):
    async with started(sample, (160, 45)) as pilot:
        room = await opened(pilot)
        await press(pilot, "3n")
        third = int(room.view.candidates.order[2])
        await click(pilot, room, "candidate", third)
        assert room.choice.rank == 2 and "by hand" in text(pilot)
        room.wheel(1)
        assert room.choice.rank == 3
        await click(pilot, room, "candidate", third, times=2)
        assert (room.view.path[-1].token, room.view.path[-1].how) == (third, "by hand")
        await click(pilot, room, "head", 5)
        assert room.choice.head == 5 and "blocks.1 head 2" in row(pilot, 2)
        await click(pilot, room, "token", room.view.prompt)
        assert room.view.depth == 1
        await click(pilot, room, "token", 0)
        assert room.view.depth == 0
        await click(pilot, room, "token", len(room.view.tokens))
        assert room.view.depth == 1, "the token that comes next is taken"
        await pilot.click(room.board, offset=(0, 0))
        send(pilot, "n")
        await settled(pilot)
        assert room.view.depth == 2
