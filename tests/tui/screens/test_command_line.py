"""The command line: completion, history, what its commands do, and how it refuses."""

import re

import pytest

from glassllm.debug.commands import COMMANDS
from tests.tui.driving import command, enter, position, press, row, send, settled, started, text, wait_for
from tui.screens.generate import GenerateScreen
from tui.screens.train import TrainScreen
from tui.screens.words import DEBUGGING, EVERYWHERE


def line(pilot) -> str:
    return pilot.app.debugger.line.query_one("#line").value


def completions(pilot) -> list[str]:
    return [s.split()[1] if s.startswith(" ▸") else s.split()[0] for s in
            pilot.app.debugger.line.query_one("#completions").text().splitlines()[1:]]  # fmt: skip


async def test_completions_rise_tab_takes_one_and_arrows_choose(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, ":")
        assert row(pilot, -2).startswith(" :")
        assert len(completions(pilot)) == 8
        assert re.search(rf" commands +{len(COMMANDS) + len(DEBUGGING)}$", text(pilot), re.MULTILINE)
        await press(pilot, "c o n")
        assert completions(pilot) == ["consumer", "continue", "continue-back", "contribution", "contribution-back"]
        await press(pilot, "down down up tab")
        assert line(pilot) == "continue "
        assert completions(pilot) == []
        await press(pilot, "enter")
        assert position(pilot)[:2] == (0, 175)


async def test_the_words_of_the_screen_are_among_the_completions_and_each_is_known(sample):
    assert not DEBUGGING.keys() & COMMANDS.keys()
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, ": f o r")
        assert completions(pilot) == ["format"]
        assert "format [FORM]" in text(pilot) and DEBUGGING["format"].help in text(pilot)
        for word in DEBUGGING.values():
            assert hasattr(pilot.app.debugger, f"action_{word.name}"), word
    for screen in (TrainScreen, GenerateScreen):
        assert not EVERYWHERE.keys() & screen.table.keys()
        assert all(hasattr(screen, f"action_{name}") for name in EVERYWHERE)


async def test_the_rest_of_the_first_match_is_a_ghost_and_right_takes_it(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, ": z e r")
        await wait_for(pilot, lambda: row(pilot, -2).startswith(" :zero-grad"), "the ghost")
        assert line(pilot) == "zer"
        await press(pilot, "right")
        assert line(pilot) == "zero-grad"


async def test_up_and_down_walk_through_the_lines_entered_before(sample):
    async with started(sample, (80, 24)) as pilot:
        for entered in (":next 2", ":step", "/blocks.2.attn.q"):
            await enter(pilot, entered)
        await press(pilot, ":")
        seen = []
        for key in ("up", "up", "up", "up", "down", "down", "down"):
            await press(pilot, key)
            seen.append(line(pilot))
        assert seen == ["blocks.2.attn.q", "step", "next 2", "next 2", "step", "blocks.2.attn.q", ""]


async def test_letters_are_letters_while_it_is_open_and_an_empty_line_closes_it(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "tab :")
        send(pilot, *"ncq?tab")
        await settled(pilot)
        assert line(pilot) == "ncq?tab"
        assert position(pilot) == (0, 0, 0)
        await press(pilot, "home end " + "backspace " * 7 + "enter")
        assert not pilot.app.debugger.line.is_open
        assert pilot.app.debugger.focused.id == "graph"


BURSTS = [
    [*":select 20", "enter", *"tnn"],
    [*":first", "enter", "n", *":next 2", "enter", "n"],
    [*":nextX", "backspace", "enter", "n"],
    [*":next 9", "escape", "n"],
    [*":con", "down", "tab", "enter", "N"],
    [*":help", "enter", "escape", "n"],
    [*"/mask", "enter", *"tn"],
    [*"?", "space", *"?n"],
    ["p", "down", "down", "enter", *"tn"],
    [*"Ljjqwujwn"],
]


@pytest.mark.parametrize("keys", BURSTS, ids="".join)
async def test_keys_in_one_burst_do_what_they_do_one_by_one(sample, keys):
    screens = []
    for is_burst in (False, True):
        async with started(sample, (80, 24)) as pilot:
            for group in [keys] if is_burst else [[key] for key in keys]:
                send(pilot, *group)
                await settled(pilot)
            screens.append(text(pilot))
            assert position(pilot) != (0, 0, 0)
    assert screens[0] == screens[1]


async def test_a_click_elsewhere_closes_it(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, ": n")
        await pilot.click("#events", offset=(10, 5))
        await settled(pilot)
        assert not pilot.app.debugger.line.is_open
        await press(pilot, "n")
        assert position(pilot) != (0, 0, 0)


REFUSED = [
    (":nope", "no command is called nope; ? lists them"),
    (":nxt", "no command is called nxt; did you mean next"),
    (":backward nope", "nope"),
    (":ids 1,2,x", "ids are whole numbers with spaces between, not 1,2,x"),
    (":ids 1 99999", "go from 0 to 1023"),
    (":next many", "a count is a whole number from 1, not many"),
    (":text", "the command is text TEXT"),
    (":no_grad maybe", "say on or off, not maybe"),
    (":backward loss loud", "a seed is a number, not loud"),
    (":targets 1 2", "12 ids need 12 targets, got 2"),
    (":select blocks.9.attn.q", "blocks.9.attn.q"),
    ("/zzz", "nothing matches zzz"),
]


async def test_what_cannot_be_done_is_one_line_and_changes_nothing(sample):
    async with started(sample) as pilot:
        before = text(pilot)
        for entered, words in REFUSED:
            await enter(pilot, entered)
            said = row(pilot, -2)
            assert said.startswith(" ✗ ") and words in said, entered
            lines, was = text(pilot).splitlines(), before.splitlines()
            assert lines[:-2] + lines[-1:] == was[:-2] + was[-1:], entered


async def test_backward_from_one_cell_sends_its_gradient_only(sample):
    async with started(sample, (160, 45)) as pilot:
        await enter(pilot, ":backward logits[5,42]")
        assert "backward" in row(pilot, 0)
        assert position(pilot)[0] == 1
        gradient = pilot.app.debugger.snapshot.tape.gradient
        at = pilot.app.debugger.snapshot.position
        root = pilot.app.debugger.snapshot.tape.root(1)
        sent = gradient(root, at)
        assert sent.sum() == 1
        assert sent[0, 5, 42] == 1


async def test_zero_grad_lets_the_next_traversal_start_from_nothing(sample):
    async with started(sample) as pilot:
        norms = []
        for lines in (["backward", "continue"], ["backward", "continue"], ["zero-grad", "backward", "continue"]):
            for each in lines:
                await command(pilot, each)
            snapshot = pilot.app.debugger.snapshot
            leaf = next(row for row in snapshot.tape.leaves if snapshot.tape.rows[row].name == "norm_f.gamma")
            norms.append(snapshot.tape.gradient_norm(leaf, snapshot.position))
        assert norms[1] == pytest.approx(2 * norms[0])
        assert norms[2] == pytest.approx(norms[0])


async def test_no_grad_runs_again_without_a_graph_and_says_so(sample):
    async with started(sample, (160, 45)) as pilot:
        await enter(pilot, ":no_grad on")
        assert "ran again" in row(pilot, -2)
        assert "grad not tracked" in row(pilot, 0)
        await press(pilot, "G n")
        assert "the run built no graph; no_grad off runs it again with one" in row(pilot, -2)
        assert "■ –" in text(pilot)
        await enter(pilot, ":no_grad off")
        assert "grad tracked" in row(pilot, 0)


async def test_e_shows_what_ran_and_the_same_line_runs_the_same(sample):
    async with started(sample, (160, 45)) as pilot:
        await press(pilot, "5n e")
        assert row(pilot, -2).startswith(" :text Once upon a time there was a small fox named Pip. He")
        before = text(pilot).splitlines()
        await press(pilot, "enter")
        assert "ran again" in row(pilot, -2)
        assert text(pilot).splitlines()[3:40] == before[3:40]


async def test_other_text_runs_and_the_place_stays(sample):
    async with started(sample, (160, 45)) as pilot:
        await press(pilot, "5n")
        await enter(pilot, ":text Once there was a bear.")
        assert re.search(r"ran again  \d tokens, 77 events, loss ", row(pilot, -2))
        assert "forward 6/77" in row(pilot, 0)
        assert "·bear" in row(pilot, -3)
        await enter(pilot, ":text ∂∂ 日本")
        assert "ran again" in row(pilot, -2)
        await enter(pilot, ":ids 5")
        assert "no loss" in row(pilot, -2)
        await press(pilot, "999n")
        assert "75/75" in row(pilot, 0)
        await press(pilot, "r")
        assert "ran again  1 token, 75 events, no loss" in row(pilot, -2)


async def test_words_of_the_screens_own(sample):
    async with started(sample, (160, 45)) as pilot:
        await press(pilot, "12n")
        before = text(pilot)
        await enter(pilot, ":view")
        assert text(pilot) != before
        await enter(pilot, ":view")
        await enter(pilot, ":enlarge")
        assert pilot.app.debugger.is_enlarged
        await enter(pilot, ":help")
        await wait_for(pilot, lambda: "help  events panel" in text(pilot), "the help")
        await press(pilot, "escape")
        await enter(pilot, ":q")
        await wait_for(pilot, lambda: pilot.app.return_code == 0, "the end")


@pytest.mark.parametrize("word", [*(name for name, word in DEBUGGING.items() if not word.arguments), "q"])
async def test_a_word_that_takes_nothing_says_so_and_does_nothing(sample, word):
    async with started(sample, (80, 24)) as pilot:
        before = text(pilot)
        await enter(pilot, f":{word} it's now")
        assert row(pilot, -2).startswith(
            f' ✗ {"quit" if word == "q" else word} takes nothing behind it, not "it\'s now"'
        )
        assert pilot.app.is_running and pilot.app.screen is pilot.app.debugger
        assert [a for a, b in zip(before.splitlines(), text(pilot).splitlines(), strict=True) if a != b] == [
            before.splitlines()[-2]
        ]
