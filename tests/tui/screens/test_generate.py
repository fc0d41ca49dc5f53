"""The Generate screen: what it shows is what generate would do, and every choice can be made otherwise."""

import math

import numpy as np
import pytest

from glassllm import GlassLM
from glassllm.generation import Continuations, Sampling
from tests.tui.driving import press, row, send, settled, started, text, wait_for


async def opened(pilot, name="generate"):
    await pilot.app.show_screen(name)
    await settled(pilot)
    return pilot.app.screen


async def enter(pilot, room, line):
    send(pilot, *line, "enter")
    await wait_for(pilot, lambda: not room.line.is_open, f"{line} is entered")
    await settled(pilot)


@pytest.fixture(scope="module")
def written(sample):
    """What generate writes after the sample's text from seed 0."""
    model = GlassLM.load(sample)
    tokens = [new.token for new in model.generate(model.sample, 40, seed=0)]
    return model, tokens


@pytest.mark.parametrize("size", [(160, 45), (120, 36), (80, 24), (60, 18)])
async def test_n_writes_what_generate_writes_and_N_goes_back(sample, written, size):
    model, tokens = written
    async with started(sample, size) as pilot:
        room = await opened(pilot)
        assert "Generate" in row(pilot, 0)
        assert "token 0/40" in row(pilot, 0)
        screens = [text(pilot)]
        for i in range(3):
            assert room.view.upcoming == tokens[i]
            await press(pilot, "n")
            assert f"token {i + 1}/40" in row(pilot, 0)
            screens.append(text(pilot))
        await press(pilot, "N N N")
        assert body(text(pilot)) == body(screens[0], taken=True)
        await press(pilot, "3n")
        assert [node.token for node in room.view.path] == tokens[:3]
        assert body(text(pilot)).splitlines()[-1] == body(screens[-1]).splitlines()[-1]
        assert len(model.sample) == room.view.prompt


def body(screen, taken=False):
    """The text's own rows: what was gone on with before, and the pace, may differ."""
    return "\n".join(line[:40] for line in screen.splitlines()[2:8])


async def test_c_writes_to_the_goal_as_generate_does(sample, written):
    _, tokens = written
    async with started(sample, (120, 36)) as pilot:
        room = await opened(pilot)
        await press(pilot, "c")
        await settled(pilot)
        assert [node.token for node in room.view.path] == tokens[: room.view.depth]
        assert room.view.depth == 40 or tokens[room.view.depth - 1] == 3
        assert "tok/s" in row(pilot, 0)


async def test_a_candidate_taken_by_hand_opens_a_branch_and_the_old_one_stays(sample):
    async with started(sample, (120, 36)) as pilot:
        room = await opened(pilot)
        await press(pilot, "n n N N down down")
        chosen = room.view.candidates.order[room.choice.rank]
        assert chosen != room.view.upcoming
        assert "by hand" in text(pilot)
        await press(pilot, "enter")
        assert [node.token for node in room.view.path] == [chosen]
        assert room.view.path[0].how == "by hand"
        await press(pilot, "N")
        assert len(room.view.taken) == 2
        assert "gone on before with" in text(pilot)
        assert room.view.upcoming == chosen


async def test_settings_change_live_and_what_each_filter_cuts_is_named(sample):
    async with started(sample, (160, 45)) as pilot:
        room = await opened(pilot)
        await press(pilot, "T")
        send(pilot, "backspace", *"0.5", "enter")
        await settled(pilot)
        assert room.view.sampling.temperature == 0.5
        await enter(pilot, room, ":top-k 20")
        await enter(pilot, room, ":top-p .8")
        screen = text(pilot)
        assert "temperature .5   top-k 20   top-p .8" in screen
        stages = {stage.name: stage for stage in room.view.candidates.stages}
        assert "top-k 20 cuts 1\u2009004, p " in screen
        assert f"top-p .8 cuts {20 - stages['top-p'].kept}" in screen
        await press(pilot, "m")
        assert room.view.sampling.greedy
        assert room.view.upcoming == room.view.candidates.order[0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (":temperature 0", "temperature must be finite and above 0"),
        (":temperature x", "a temperature is a number, not x"),
        (":top-k 0", "top_k must be at least 1"),
        (":nonsense", "no command is called nonsense"),
        (":take xyzzy", "no token is xyzzy"),
        (":take ²", "no token is ²"),
        (":event-at ²", "no event is called ²"),
        pytest.param(":next " + "9" * 5000, "a count is a whole number from 1, not 999", id="5000 digits"),
        (":event 10001", "at most 10000 at a time, not 10001"),
        (":screen nowhere", "no screen is called nowhere"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(sample, line, words):
    async with started(sample, (80, 24)) as pilot:
        room = await opened(pilot)
        before = room.view
        await enter(pilot, room, line)
        assert words in row(pilot, -2)
        assert room.view is before


async def test_numbers_on_the_screen_are_those_of_the_tree(sample):
    async with started(sample, (160, 45)) as pilot:
        room = await opened(pilot)
        await press(pilot, "n n")
        model = GlassLM.load(sample)
        tree = Continuations(model, model.sample, Sampling(), seed=0)
        tree.advance()
        tree.advance()
        assert math.isclose(room.view.perplexity, tree.perplexity)
        assert f"entropy {tree.candidates.entropy:.2f} nats" in text(pilot)
        weights = room.view.attention
        assert weights.shape == (4, 4, len(room.view.tokens))
        assert abs(weights.sum(-1) - 1).max() < 1e-5


async def test_d_opens_the_step_in_the_debugger_with_its_77_events(sample):
    async with started(sample, (120, 36)) as pilot:
        room = await opened(pilot)
        await press(pilot, "n")
        upcoming = room.view.upcoming
        await press(pilot, "d")
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the debugger is shown")
        await settled(pilot)
        tape = pilot.app.debugger.snapshot.tape
        assert len(tape.events) == 77
        assert int(tape.rows[tape.events[-1].row].array) == upcoming
        await press(pilot, "n n N")
        assert "forward 2/77" in row(pilot, 0)
        await pilot.app.show_screen("generate")
        assert room.view.depth == 1


async def test_d_shows_where_a_pass_that_no_token_can_be_chosen_from_went_wrong(sample, tmp_path):
    model = GlassLM.load(sample)
    model.blocks[1].ffn.W1.data[0, 0] = np.nan
    broken = tmp_path / "broken.npz"
    model.save(broken)
    async with started(broken, (120, 36)) as pilot:
        room = await opened(pilot)
        assert "NaN" in row(pilot, -2) and "d shows where" in row(pilot, -2)
        await press(pilot, "d")
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the debugger is shown")
        await settled(pilot)
        at = pilot.app.debugger.snapshot
        assert at.tape.events[-1].step == "logits"
        assert at.focus.row.scope == "blocks.1.ffn.gate"
        assert room.view.depth == 0


async def test_the_debugger_goes_back_to_what_was_opened_as_it_was_left(sample):
    async with started(sample, (120, 36)) as pilot:
        await press(pilot, "5n")
        before = text(pilot).splitlines()[:-2]
        await opened(pilot)
        await press(pilot, "d")
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the debugger is shown")
        await settled(pilot)
        assert "not tracked" in row(pilot, 0)
        await pilot.app.debugger.run_action("reopen()")
        await settled(pilot)
        assert text(pilot).splitlines()[:-2] == before


async def test_playing_writes_on_and_stops(sample):
    async with started(sample, (80, 24)) as pilot:
        room = await opened(pilot)
        await press(pilot, "+ + + + space")
        await wait_for(pilot, lambda: room.view.depth >= 3, "three tokens are written")
        await press(pilot, "space")
        assert not room.pace.is_playing


async def test_another_prompt_begins_anew(sample):
    async with started(sample, (80, 24)) as pilot:
        room = await opened(pilot)
        await press(pilot, "n")
        await enter(pilot, room, ":prompt The old owl")
        assert "".join(room.view.tokens).strip() == "The old owl"
        assert room.view.depth == 0


async def test_backslash_a_click_and_a_word_go_round_the_screens(sample):
    async with started(sample, (100, 30)) as pilot:
        app = pilot.app
        names = []
        for _ in range(3):
            send(pilot, "\\")
            await settled(pilot)
            names.append(app.screen.header.current)
        assert names == ["train", "generate", "debug"]
        await pilot.click(offset=(row(pilot, 0).index("Generate") + 1, 0))
        await wait_for(pilot, lambda: app.screen.header.current == "generate", "the click is answered")
        await enter(pilot, app.screen, ":screen debug")
        assert app.screen is app.debugger
        await press(pilot, "n")
        assert "forward 2/77" in row(pilot, 0)


async def test_a_program_has_no_model_and_each_screen_says_so_in_one_line(tmp_path):
    path = tmp_path / "graph.py"
    path.write_text(
        "from glassllm import Tensor\nx = Tensor([2.0], requires_grad=True)\ny = (x * x).sum()\ny.backward()\n"
    )
    async with started(path, (80, 24)) as pilot:
        for name in ("train", "generate"):
            room = await opened(pilot, name)
            assert room.view is None
            assert sum("this needs a model" in line for line in text(pilot).splitlines()[:-2]) == 1
            await press(pilot, "n s d m space")
        await press(pilot, "\\")
        assert pilot.app.screen is pilot.app.debugger
