"""Whatever is pressed, clicked or resized, in whatever order: the screen stands, as large as the terminal."""

import random

import pytest

from tests.tui.driving import send, settled, started, text
from tui.keys import KEYS

LEAVE = {"q", "ctrl+q", "ctrl+e", "space"}  # they leave, write files, or go on by themselves
KEY_NAMES = sorted({name for key in KEYS for name in key.keys.split(",")} - LEAVE)
SIZES = [(160, 45), (120, 36), (100, 30), (80, 24), (60, 18), (40, 10), (200, 60)]


@pytest.mark.parametrize("seed", range(2))
async def test_a_hundred_keys_in_any_order(sample, seed):
    chance = random.Random(seed)
    size = chance.choice(SIZES)
    done: list[object] = [size]
    async with started(sample, size) as pilot:
        for _ in range(100):
            done.append(act := chance.choice(["key"] * 16 + ["click"] * 3 + ["size"]))
            if act == "key":
                done.append(key := chance.choice(KEY_NAMES + ["n", "c", "tab", "enter", "escape", "]"] * 4))
                send(pilot, key)
            elif act == "click":
                done.append(offset := (chance.randrange(size[0]), chance.randrange(size[1])))
                await pilot.click(offset=offset)
            else:
                done.append(size := chance.choice(SIZES))
                await pilot.resize_terminal(*size)
            await settled(pilot)
            lines = text(pilot).splitlines()
            assert len(lines) == size[1], done[-20:]
            assert max(map(len, lines)) <= size[0], done[-20:]
        assert pilot.app.return_code is None
