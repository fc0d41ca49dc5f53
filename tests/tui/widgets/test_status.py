"""The status and key rows."""

import pytest

from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.keys import PANELS
from tui.widgets.footer import footer_row
from tui.widgets.status import status_row

PALETTE = Palette()
SAID = (("▶ ", "fwd"), ("attn.q", "bright"), ("  4×12×16", "text"), (" computed from ", "muted"))


def text(row) -> str:
    return "".join(segment.text for segment in row)


def test_what_was_said_stands_left_and_what_is_awaited_right():
    line = text(status_row(SAID, "computing…   esc stops", 80, PALETTE))
    assert line.startswith(" ▶ attn.q  4×12×16 computed from ")
    assert line.endswith("computing…   esc stops ")


def test_a_long_line_is_cut_with_an_ellipsis_before_what_is_awaited():
    line = text(status_row((("x" * 200, "text"),), "12…", 80, PALETTE))
    assert line.endswith("x… 12… ")


def test_tones_are_styles():
    row = status_row(SAID, "", 80, PALETTE)
    assert row[1].style == PALETTE.style("fwd", "bg", bold=True)
    assert row[4].style == PALETTE.style("muted", "bg")


def test_help_is_at_the_far_right_and_caps_are_bold():
    row = footer_row("tensor", False, 160, PALETTE)
    assert text(row).startswith(" n/N event  s/S op  ")
    assert text(row).endswith(" ? help ")
    assert [s.text for s in row if s.style == PALETTE.style("bright", "raised", bold=True)][:3] == [
        "n/N",
        "s/S",
        "c/C",
    ]


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("is_back", [False, True])
def test_rows_are_as_wide_as_asked_and_nothing_is_cut(panel, is_back):
    for width in range(60, 201):
        row = footer_row(panel, is_back, width, PALETTE)
        assert row_width(row) == width
        assert "…" not in text(row)
        for said in (SAID, (), (("日本\x1b[2J語" * 30, "text"),)):
            assert row_width(status_row(said, "12…", width, PALETTE)) == width
            assert "\x1b" not in text(status_row(said, "12…", width, PALETTE))
