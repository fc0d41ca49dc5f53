"""Keys in the tensor panel: tabs, slices, scales, cells, coordinates, axes, copying."""

import re

import pytest

from tests.tui.driving import command, enter, focused, press, row, started, text

WIDE = (160, 45)


def cell(pilot):
    return pilot.app.debugger.tensor.cell


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
    ("9" * 5000, (2, 3, 4), "✗ expected whole numbers such as 8,7"),
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


async def test_the_statistics_of_a_large_gradient_come_when_they_are_counted(sample, monkeypatch):
    from glassllm.debug import session

    monkeypatch.setattr(session, "SMALL", 100)
    async with started(sample, (160, 45)) as pilot:
        await press(pilot, "c c")
        snapshot = pilot.app.debugger.snapshot
        assert snapshot.focus.gradient.size > 100 and snapshot.gradient_health is not None
        assert snapshot.gradient_health.max == pytest.approx(float(snapshot.focus.gradient.max()))
        await press(pilot, "S")
        shown = pilot.app.debugger.snapshot
        assert shown.gradient_health.max == pytest.approx(float(shown.focus.gradient.max()))
        assert "counting" not in text(pilot)
