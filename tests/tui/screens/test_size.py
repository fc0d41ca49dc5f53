"""Every size of terminal has a screen of its own, and coming back to one brings back the same characters."""

import pytest

from tests.tui.driving import command, press, row, settled, started, text

SIZES = [(160, 45), (120, 36), (80, 24), (60, 18), (40, 10)]


async def resize(pilot, size) -> None:
    await pilot.resize_terminal(*size)
    await settled(pilot)


@pytest.mark.parametrize("phase", ["run-to blocks.1.attn.softmax", "2 continue"])
async def test_resizing_there_and_back_gives_the_same_screens(sample, phase):
    async with started(sample, SIZES[0]) as pilot:
        await command(pilot, phase)
        seen = {}
        for size in SIZES:
            await resize(pilot, size)
            seen[size] = text(pilot)
            lines = seen[size].splitlines()
            assert len(lines) == size[1]
            assert max(map(len, lines)) <= size[0]
        for size in reversed(SIZES[:-1]):
            await resize(pilot, size)
            assert text(pilot) == seen[size]


@pytest.mark.parametrize(
    "size", [(60, 18), (60, 20), (79, 24), (80, 24), (100, 30), (119, 40), (120, 30), (160, 45)]
)
async def test_a_size_reached_is_as_one_started_with(sample, size):
    async with started(sample, size) as pilot:
        await press(pilot, "12n")
        expected = text(pilot)
        await resize(pilot, (160, 45) if size != (160, 45) else (80, 24))
        await resize(pilot, size)
        assert text(pilot) == expected


async def test_too_small_says_the_size_and_the_size_needed(sample):
    async with started(sample, (40, 10)) as pilot:
        assert text(pilot).strip() == "40x10 is too small; 60x18 is needed"
        await resize(pilot, (59, 30))
        assert text(pilot).strip() == "59x30 is too small; 60x18 is needed"
        await resize(pilot, (60, 18))
        assert "events" in row(pilot, 1)


async def test_below_eighty_columns_one_panel_shows_and_tab_turns(sample):
    async with started(sample, (60, 18)) as pilot:
        await press(pilot, "12n")
        titles = []
        for _ in range(3):
            titles.append(row(pilot, 1).split()[0])
            await press(pilot, "tab")
        assert titles == ["▌events", "▌graph", "▌blocks.0"]
        await press(pilot, "shift+tab @")
        assert row(pilot, 1).startswith(" blocks.0 · resid.attn")
        await press(pilot, "3 , 4 enter")
        assert row(pilot, 1).startswith("▌blocks.0 · resid.attn")
        assert pilot.app.debugger.tensor.cell == (3, 4)


async def test_at_eighty_columns_graph_and_tensor_share_a_place(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "12n")
        assert row(pilot, 2)[31:].startswith(" blocks.0 · resid.attn")
        await press(pilot, "tab")
        assert row(pilot, 2)[31:].startswith("▌graph")
        await press(pilot, "escape")
        assert row(pilot, 2)[31:].startswith(" graph")
        await press(pilot, "tab tab escape")
        assert row(pilot, 2)[31:].startswith(" blocks.0 · resid.attn")
