"""The mouse: clicks on a line, a cell, the track, a chip, a token, a tab; the wheel."""

import re

from textual import events

from tests.tui.driving import command, position, press, row, settled, started, text

WIDE = (160, 45)


def selected(pilot) -> str:
    snapshot = pilot.app.debugger.snapshot
    row = snapshot.tape.rows[snapshot.selection]
    return snapshot.tape.events[row.event].path if row.event >= 0 else row.name


async def click(pilot, x: int, y: int) -> None:
    await pilot.click(offset=(x, y))
    await settled(pilot)


def find(pilot, words: str, first: int = 0, last: int = 999) -> tuple[int, int]:
    """Where some words stand, between two columns."""
    for y, line in enumerate(text(pilot).splitlines()):
        x = line.find(words, first, last)
        if x >= 0:
            return x, y
    raise AssertionError(f"{words!r} is not on the screen\n{text(pilot)}")


async def wheel(pilot, kind: type[events.MouseEvent], x: int, y: int) -> None:
    pilot.app.post_message(kind(None, x, y, 0, 0, 0, False, False, False, x, y))
    await settled(pilot)


async def test_a_click_on_a_line_selects_it_and_on_its_sign_opens_and_shuts(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        at = position(pilot)
        await click(pilot, *find(pilot, "attn.scores", 0, 34))
        assert selected(pilot) == "blocks.0.attn.scores"
        assert position(pilot) == at
        await click(pilot, 2, find(pilot, "blocks.1–3", 0, 34)[1])
        assert selected(pilot) == "blocks.0.attn.scores"
        x, y = find(pilot, "▾ blocks.1", 0, 34)
        await click(pilot, x, y)
        assert "▸ blocks.1 ×18" in row(pilot, y)
        await click(pilot, *find(pilot, "blocks.1", 0, 34))
        assert selected(pilot) == "blocks.1.resid.ffn"
        assert "▸ blocks.1 ×18" in row(pilot, y)


async def test_a_click_on_the_track_selects_that_moment(sample):
    async with started(sample, WIDE) as pilot:
        await click(pilot, 2 + 28, 1)
        assert selected(pilot) == "blocks.1.attn.mix"
        await click(pilot, 80 + 76 - 28, 1)
        assert selected(pilot) == "blocks.1.attn.mix"
        assert position(pilot) == (0, 0, 0)


async def test_a_click_on_a_cell_puts_the_cursor_there(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        page = pilot.app.debugger.tensor
        spot = page._page.spots[0]
        left, top = page.region.offset
        for y in range(top + 4, top + 34):
            for x in range(left + 14, left + 60, 4):
                if page._page.cell_at(x - left, y - top) == (0, 8, 7):
                    await click(pilot, x, y)
                    assert page.cell == (0, 8, 7)
                    assert "[0,8,7]" in row(pilot, -4)
                    return
        raise AssertionError(f"the cell is not on the map {spot}")


async def test_a_click_on_a_chip_selects_it(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        await click(pilot, *find(pilot, "softmax", 35, 85))
        assert selected(pilot) == "blocks.0.attn.softmax"


async def test_a_click_on_a_token_goes_to_its_row(sample):
    async with started(sample, WIDE) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        x, _ = find(pilot, "·fox")
        await click(pilot, x + 1, 45 - 3)
        assert pilot.app.debugger.tensor.cell[1] == 8
        assert "attention of fox, head 1" in row(pilot, -3)


async def test_a_click_on_a_tab_turns_to_it(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        await click(pilot, *find(pilot, "contributions", 86))
        assert pilot.app.debugger.tensor.state.tab == "contributions"


async def test_the_wheel_moves_the_selection_in_the_list(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        await wheel(pilot, events.MouseScrollUp, 10, 10)
        assert selected(pilot) == "blocks.0.attn.softmax"
        await wheel(pilot, events.MouseScrollDown, 10, 10)
        assert selected(pilot) == "blocks.0.resid.attn"
        assert re.match(r" ▷ blocks\.0\.resid\.attn", row(pilot, -2))


async def test_a_room_hears_where_its_board_is_pointed_at(sample, monkeypatch):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "\\")
        room, heard = pilot.app.screen, []
        for name in ("pointed", "pointed_twice", "wheel"):
            monkeypatch.setattr(room, name, lambda *args, name=name: heard.append((name, *args)))
        x, y = room.board.region.offset
        await pilot.click(offset=(x + 7, y + 5), times=2)
        await wheel(pilot, events.MouseScrollDown, x + 7, y + 5)
        await wheel(pilot, events.MouseScrollUp, x + 7, y + 5)
        assert heard == [("pointed", 7, 5), ("pointed_twice", 7, 5), ("wheel", 1), ("wheel", -1)]
