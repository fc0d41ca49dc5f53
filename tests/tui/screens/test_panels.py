"""What keys do in the lists and the graph and to the whole screen: search, help, palette, export."""

import re
from pathlib import Path

import pytest

from tests.tui.driving import command, enter, focused, position, press, row, started, text, wait_for
from tui.keys import LATER

WIDE = (160, 45)


# The event list


async def test_o_shuts_the_block_one_is_in_and_opens_it_again(sample):
    async with started(sample) as pilot:
        await press(pilot, "12n")
        before = text(pilot)
        await press(pilot, "o")
        assert "▸ blocks.0–3 ×72" in text(pilot)
        await press(pilot, "o")
        assert text(pilot) == before


async def test_the_list_keeps_the_current_line_in_its_middle_third(sample):
    async with started(sample, (120, 24)) as pilot:
        for key in ["n"] * 40 + ["N"] * 30:
            await press(pilot, key)
            lines = text(pilot).splitlines()[4:-3]
            at = next(y for y, line in enumerate(lines) if line[2] == "▶")
            panel = pilot.app.debugger.events
            is_at_an_end = panel._top in (0, max(0, len(panel._lines) - panel._list_height))
            assert is_at_an_end or panel._list_height // 3 <= at < panel._list_height - panel._list_height // 3


async def test_pages_move_by_what_is_seen(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "2n pagedown")
        assert row(pilot, -2).startswith(" ▷ blocks.0.ffn.act")
        await press(pilot, "pageup")
        assert row(pilot, -2).startswith(" ▷ blocks.0.attn.q")


# The graph


async def test_v_turns_the_graphs_view_and_arrows_select_in_it(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        assert "layered ‹v› rails" in text(pilot)
        before = text(pilot)
        await press(pilot, "v")
        assert text(pilot) != before
        await press(pilot, "v")
        assert text(pilot) == before
        await press(pilot, "tab k")
        assert row(pilot, -2).startswith(" ▷ ")
        assert focused(pilot) == "graph"


# Finding


async def test_search_selects_the_first_match_and_dot_and_comma_walk_on(sample):
    async with started(sample) as pilot:
        await press(pilot, "3n")
        at = position(pilot)
        await enter(pilot, "/blocks.*.attn.softmax")
        said = [row(pilot, -2)]
        for key in (".", ".", "comma", "comma", "comma"):
            await press(pilot, key)
            said.append(row(pilot, -2))
        blocks = [re.match(r" ▷ blocks\.(\d)\.attn\.softmax.*match (\d) of 4", line).groups() for line in said]
        assert blocks == [(str(i), str(i + 1)) for i in (0, 1, 2, 1, 0, 3)]
        assert position(pilot) == at
        await enter(pilot, "/nothing.like.this")
        assert "nothing matches nothing.like.this" in row(pilot, -2)


async def test_the_next_fault_of_a_healthy_run_is_none(sample):
    async with started(sample) as pilot:
        await press(pilot, "!")
        assert "every value and gradient here is finite" in row(pilot, -2)


# Everything else


async def test_help_turns_its_pages_closes_and_leaves_all_as_it_was(sample):
    async with started(sample, (80, 24)) as pilot:
        before = text(pilot)
        await press(pilot, "?")
        assert "help  events panel" in text(pilot)
        first = text(pilot)
        await press(pilot, "down")
        assert text(pilot) != first
        await press(pilot, "up")
        assert text(pilot) == first
        await press(pilot, "escape")
        assert text(pilot) == before
        await press(pilot, "tab ?")
        assert "help  events panel" not in text(pilot)
        await press(pilot, "?")
        assert pilot.app.screen is pilot.app.debugger


async def test_keys_kept_for_later_say_so(sample):
    async with started(sample, (80, 24)) as pilot:
        for key, thing in LATER.items():
            await press(pilot, key)
            assert row(pilot, -2).startswith(f" {key} is kept for {thing}")


async def test_the_palette_lists_the_sessions_commands_and_runs_them(sample):
    async with started(sample) as pilot:
        await press(pilot, "ctrl+p")
        await wait_for(pilot, lambda: "to the next event" in text(pilot), "the palette's list")
        assert "Theme" not in text(pilot)
        for letter in "zero-g":
            await press(pilot, letter)
        await wait_for(pilot, lambda: "zero-grad" in text(pilot), "the match")
        await press(pilot, "enter")
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the palette has closed")
        await press(pilot, "")
        await wait_for(pilot, lambda: "start from nothing" in row(pilot, -2), "the command's answer")


async def test_a_command_with_arguments_chosen_in_the_palette_opens_the_line(sample):
    async with started(sample) as pilot:
        pilot.app.debugger.action_chosen("text")
        await press(pilot, "x")
        assert row(pilot, -2).startswith(" :text x")


async def test_ctrl_e_writes_the_screen_beside_the_user(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with started(sample, (80, 24)) as pilot:
        shown = text(pilot)
        await press(pilot, "ctrl+e ctrl+e")
        names = sorted(path.name for path in tmp_path.iterdir())
        assert names == [f"{sample.stem}-screen-{i}.{kind}" for i in (1, 2) for kind in ("svg", "txt")]
        assert (tmp_path / f"{sample.stem}-screen-1.txt").read_text() == shown
        assert "exported" in row(pilot, -2)


async def test_two_programs_in_one_folder_export_under_different_names(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    looked_for = {tmp_path / "tiny-screen-1.svg", tmp_path / "tiny-screen-1.txt"}
    (tmp_path / "tiny-screen-1.svg").write_text("another's")
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: path not in looked_for and exists(path))
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "ctrl+e")
        assert "exported  tiny-screen-2.svg  tiny-screen-2.txt" in row(pilot, -2)
    assert (tmp_path / "tiny-screen-1.svg").read_text() == "another's"


async def test_an_export_that_cannot_be_written_is_one_line(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o500)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tui.dump.write", refuse)
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "ctrl+e")
        said = " ✗ not exported: Permission denied; start in a folder you can write"
        assert row(pilot, -2).rstrip() == said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_quitting_leaves_with_nothing_to_say(sample, key):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, key)
        assert pilot.app.return_code == 0
        assert pilot.app.refusal == ""


@pytest.mark.parametrize("view", ["layered", "rails"])
async def test_a_block_is_folded_in_list_and_graph_alike(sample, view):
    async with started(sample, (160, 45)) as pilot:
        screen = pilot.app.debugger
        await press(pilot, "10n")
        if screen.graph.view != view:
            await press(pilot, "v")

        def is_folded():
            in_list = any(line.layers and 0 in line.layers and not line.is_open for line in screen.events._lines)
            in_graph = all(item.group != "blocks.0" for item in screen.graph._picture.graph.items)
            return in_list, in_graph

        assert is_folded() == (False, False)
        await press(pilot, "o")
        assert is_folded() == (True, True)
        await press(pilot, "o")
        assert is_folded() == (False, False)
        await command(pilot, "run-to blocks.0.resid.attn")  # one node: `o` closes its block, not the event
        await press(pilot, "tab o")
        assert is_folded() == (True, True)
        await press(pilot, "o")
        assert is_folded() == (False, False)
