"""The help of Train and Generate: on a wide terminal, every word of it."""

import pytest

from tui.draw.palette import Palette
from tui.screens.help_page import help_rows
from tui.screens.room_keys import GENERATE_KEYS, TRAIN_KEYS


@pytest.mark.parametrize(("panel", "keys"), [("train", TRAIN_KEYS), ("generate", GENERATE_KEYS)])
@pytest.mark.parametrize("size", [(160, 45), (200, 60)])
def test_no_word_is_cut(panel, keys, size):
    rows, pages = help_rows(panel, 0, *size, Palette(), keys)
    text = "\n".join("".join(segment.text for segment in row) for row in rows)
    assert pages == 1 and "…" not in text
