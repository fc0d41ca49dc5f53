"""Small pictures of a distribution say what they count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.draw import curves
from tui.draw.palette import Palette
from tui.draw.scale import Scale
from tui.draw.text import row_width

PALETTE = Palette()


def text_of(row):
    return "".join(segment.text for segment in row)


def test_counts_leave_out_zeros_masks_and_faults_and_take_in_what_is_beyond():
    array = np.array([-5.0, -0.9, 0.0, 0.1, 0.9, np.nan, np.inf, -np.inf])
    assert curves.counts_of(array, np.isneginf(array), Scale("diverging", 1.0), 4) == (2, 0, 1, 1)
    assert curves.counts_of(np.abs(array), None, Scale("sequential", 1.0), 2) == (1, 3)


def test_a_histogram_is_logarithmic_and_shows_every_count():
    rows = curves.histogram_rows((0, 1, 1000), Scale("sequential", 1.0), PALETTE)
    assert [text_of(row) for row in rows] == ["  █", " ▂█"]


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_shares_fill_the_bar_and_none_is_lost(negative, zero, positive):
    row = curves.share_row(negative, zero, positive, PALETTE)
    assert row_width(row) == 16
    shown = {segment.style.bgcolor for segment in row}
    for token, count in (("neg", negative), ("line", zero), ("pos", positive)):
        assert (PALETTE.color(token) in shown) == (count > 0)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "────"), (0.001, "━───"), (0.5, "━━──"), (2.0, "━━━━"), (np.inf, "━━━━"), (np.nan, "────")],
)
def test_an_amount(share, text):
    assert text_of(curves.amount_row(share, 4, PALETTE)) == text


@pytest.mark.parametrize(
    ("scale", "clipped", "text"),
    [
        (Scale("sequential", 0.8), "+", "     0                  .80   + clipped"),
        (Scale("diverging", 0.0794), "", "−.079                  .079"),
        (Scale("diverging", 0.0794), "±", "−.079                  .079   ± clipped"),
        (Scale("diverging", 0.00052), "±", "−.00052                  .00052 ±"),
    ],
)
def test_a_legend_writes_both_ends(scale, clipped, text):
    legend = text_of(curves.legend_row(scale, clipped, PALETTE))
    assert legend.split() == text.replace(".80", ".8").split()
    assert len(legend) <= curves.LEGEND
