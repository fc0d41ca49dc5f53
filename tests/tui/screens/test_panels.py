"""What keys do inside panels and to them: focus, tabs, slices, cells, search, help, copying, export."""

import re
from pathlib import Path

import pytest

from tests.tui.driving import command, enter, position, press, row, send, settled, started, text, wait_for
from tui.keys import LATER

WIDE = (160, 45)


def focused(pilot) -> str:
    return pilot.app.debugger.focused.id


def marked(pilot) -> list[str]:
    """The panels whose title has the mark of the focus."""
    return re.findall(r"▌(events|graph|[\w.· ]+?)(?= {2}|$)", row(pilot, 2))


def cell(pilot):
    return pilot.app.debugger.tensor.cell


# Focus


async def test_tab_goes_round_the_panels_and_the_mark_with_it(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        seen = []
        for _ in range(4):
            assert row(pilot, 2).count("▌") == 1
            seen.append((focused(pilot), marked(pilot)[0].split()[0]))
            await press(pilot, "tab")
        assert seen == [("events", "events"), ("graph", "graph"), ("tensor", "blocks.0"), ("events", "events")]
        assert focused(pilot) == "graph"
        await press(pilot, "shift+tab shift+tab")
        assert focused(pilot) == "tensor"
        assert row(pilot, 2).count("▌") == 1


async def test_the_footer_follows_the_focus_and_the_direction_of_time(sample):
    async with started(sample, WIDE) as pilot:
        assert "o open" in row(pilot, -1)
        await press(pilot, "tab tab")
        assert "</> slice" in row(pilot, -1)
        assert "s/S op" in row(pilot, -1)
        await press(pilot, "c s")
        assert "s/S visit  i/I contribution" in row(pilot, -1)


async def test_typed_ahead_every_key_finds_what_the_one_before_has_done(sample):
    async with started(sample) as pilot:
        send(pilot, "tab", "tab", *":next")
        await settled(pilot)
        assert row(pilot, -2).startswith(" :next")
        assert position(pilot) == (0, 0, 0)
        await press(pilot, "escape")
        assert not pilot.app.debugger.line.is_open
        assert focused(pilot) == "tensor"


async def test_escape_takes_back_one_thing_at_a_time(sample):
    async with started(sample) as pilot:
        await press(pilot, "10n 3j tab z : escape")
        screen = pilot.app.debugger
        assert (screen.line.is_open, screen.is_enlarged, focused(pilot)) == (False, True, "graph")
        await press(pilot, "escape")
        assert (screen.is_enlarged, focused(pilot)) == (False, "graph")
        await press(pilot, "escape")
        assert focused(pilot) == "events"
        assert screen.snapshot.selection != screen.snapshot.current
        await press(pilot, "escape")
        assert screen.snapshot.selection == screen.snapshot.current


async def test_enter_opens_a_fold_then_leads_to_the_tensor_and_on_to_its_producer(sample):
    async with started(sample) as pilot:
        await press(pilot, "12n 99j 4k")
        assert "▸ blocks.1–3 ×54" in text(pilot)
        assert row(pilot, -2).startswith(" ▷ blocks.3.resid.ffn")
        await press(pilot, "enter")
        assert "blocks.1–3" not in text(pilot)
        await press(pilot, "enter")
        assert focused(pilot) == "tensor"
        await press(pilot, "enter")
        assert "producer of" in row(pilot, -2)


async def test_z_gives_one_panel_the_whole_width_and_back(sample):
    async with started(sample) as pilot:
        await press(pilot, "12n tab tab")
        before = text(pilot)
        await press(pilot, "z")
        assert row(pilot, 2).startswith("▌blocks.0 · resid.attn")
        assert "events" not in row(pilot, 2)
        await press(pilot, "z")
        assert text(pilot) == before


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


# The tensor


async def test_brackets_turn_the_tabs(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        pages = [text(pilot)]
        for _ in range(3):
            await press(pilot, "]")
            pages.append(text(pilot))
        assert len(set(pages[:3])) == 3
        assert pages[3] == pages[0]
        await press(pilot, "[")
        assert text(pilot) == pages[2]
        assert "not reached" in pages[1]


async def test_angles_turn_slices_with_a_count_and_round(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        heads = [re.search(r"head ‹(\d)/4›", text(pilot))[1]]
        for key in (">", ">", "<", "3>"):
            await press(pilot, key)
            heads.append(re.search(r"head ‹(\d)/4›", text(pilot))[1])
        assert heads == ["1", "2", "3", "2", "1"]


async def test_the_scale_is_shared_or_the_slices_own(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.scores")
        before = text(pilot)
        assert "scale all heads" in before
        await press(pilot, "%")
        assert "scale this head" in text(pilot)
        await press(pilot, "%")
        assert text(pilot) == before


async def test_the_largest_magnitude_is_found_and_said(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.q")
        await press(pilot, "^")
        values = pilot.app.debugger.snapshot.focus.value
        at = cell(pilot)
        assert abs(values[at]) == abs(values).max()
        assert f"[{','.join(map(str, at))}]" in row(pilot, -4)
        assert f"{abs(values[at]):.4f}" in row(pilot, -4)


COORDINATES = [
    ("2,8,7", (2, 8, 7), "cell [2,8,7]"),
    ("99,0", (2, 8, 7), "✗ 99 is outside 4×12×12"),
    ("3 4", (2, 3, 4), "cell [2,3,4]"),
    ("1,2,3,4", (2, 3, 4), "✗ 4×12×12 has 3 axes, not 4"),
    ("fox", (2, 3, 4), "✗ expected whole numbers such as 8,7"),
    ("[3,-1,0]", (3, 11, 0), "cell [3,11,0]"),
]


async def test_coordinates_are_gone_to_or_refused_in_one_line(sample):
    async with started(sample) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        await press(pilot, "tab tab")
        for typed, there, said in COORDINATES:
            await enter(pilot, f"@{typed}")
            assert (cell(pilot), row(pilot, -2).strip()) == (there, said)
            assert focused(pilot) == "tensor"


async def test_arrows_move_the_cell_only_while_the_tensor_has_the_focus(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        await press(pilot, "tab tab")
        at = cell(pilot)
        await press(pilot, "3k 2l")
        assert cell(pilot) == (at[0], at[1] - 3, at[2] + 2)
        await press(pilot, "up right left left")
        assert cell(pilot) == (at[0], at[1] - 4, at[2] + 1)
        assert f"[{','.join(map(str, cell(pilot)))}]" in row(pilot, -4)
        await press(pilot, "escape k")
        assert pilot.app.debugger.snapshot.selection != pilot.app.debugger.snapshot.current


async def test_a_turns_which_axes_are_drawn(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        assert "rows query" in text(pilot)
        await press(pilot, "a")
        assert "rows query   cols key" not in text(pilot)
        await press(pilot, "a a a a a")
        assert "rows query" in text(pilot)


async def test_y_copies_the_cell_and_its_row(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        await enter(pilot, "@1,8,7")
        await press(pilot, "y")
        first, numbers = pilot.app.clipboard.splitlines()
        assert first.startswith("blocks.1 · attn.softmax [1,8,7] +")
        assert len(numbers.split()) == 12
        assert row(pilot, -2).startswith(" copied  blocks.1 · attn.softmax [1,8,7]")


async def test_at_the_logits_the_likeliest_next_tokens_stand_under_the_list(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to logits")
        assert "next token after ." in text(pilot)
        await enter(pilot, "@7,0")
        assert "next token after ·small" in text(pilot)
        marked = [line for line in text(pilot).splitlines() if line.startswith(" ▸ ·fox")]
        assert len(marked) == 1


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
        assert row(pilot, -2).startswith(" ✗ not exported: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_quitting_leaves_with_nothing_to_say(sample, key):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, key)
        assert pilot.app.return_code == 0
        assert pilot.app.refusal == ""
