"""The last row: whatever the key table puts there is there whole."""

import pytest

from tui.draw.palette import Palette
from tui.keys import PANELS, footer
from tui.widgets.footer import footer_row


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("is_back", [False, True])
def test_no_entry_is_cut(panel, is_back):
    for width in range(60, 161):
        row = "".join(segment.text for segment in footer_row(panel, is_back, width, Palette("dark", "truecolor")))
        entries = footer(panel, is_back, width)
        assert len(row) == width
        assert row.split() == " ".join(f"{entry.keys} {entry.words}" for entry in entries).split()
        assert row.endswith(f"{entries[-1].keys} {entries[-1].words} ")
