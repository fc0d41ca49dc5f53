"""The token strip: the window around the token, the tint of the cell's row, and where a click leads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from glassllm.debug.commands import run
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.widgets.tokens import tint_of, token_of, token_row

PALETTE = Palette()
WORDS = ("Once", " upon", " a", " time", " there", " was", " a", " small", " fox", " named", " Pip", ".")


def strip(tokens=WORDS, here=0, tint=None, words="", width=160, palette=PALETTE):
    row, places = token_row(tokens, here, tint, words, width, palette)
    return "".join(segment.text for segment in row), places, row


def test_chips_stand_apart_where_there_is_room_and_touch_where_there_is_little():
    assert strip(width=160)[0].rstrip() == (
        "  Once   ·upon   ·a   ·time   ·there   ·was   ·a   ·small   ·fox   ·named   ·Pip   ."
    )
    assert strip(width=80)[0].rstrip() == (
        "  Once  ·upon  ·a  ·time  ·there  ·was  ·a  ·small  ·fox  ·named  ·Pip  ."
    )


def test_each_token_is_where_its_columns_say():
    for width in (160, 80, 60):
        text, places, _ = strip(width=width)
        shown = [i for i, columns in enumerate(places) if len(columns)]
        assert shown
        for i in shown:
            assert text[places[i].start : places[i].stop].strip() == WORDS[i].replace(" ", "·")


@settings(deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=60).flatmap(
        lambda tokens: st.tuples(st.just(tuple(tokens)), st.integers(-1, len(tokens) - 1), st.integers(60, 200))
    )
)
def test_the_window_is_unbroken_holds_the_token_and_grows_until_it_is_full(case):
    tokens, here, width = case
    text, places, row = strip(tokens, here, width=width)
    shown = [i for i, columns in enumerate(places) if len(columns)]
    assert row_width(row) == width
    assert shown == list(range(shown[0], shown[-1] + 1))
    assert max(here, 0) in shown
    assert text.startswith("…" if shown[0] else " ")
    if len(shown) < len(tokens):
        assert "…" in text
        after = [cell_len(f" {tokens[i]} ") for i in (shown[0] - 1, shown[-1] + 1) if 0 <= i < len(tokens)]
        assert places[shown[-1]].stop + min(after) + 4 >= width - 14 * len(after)


def test_the_token_of_the_position_is_underlined():
    _, _, row = strip(here=8)
    underlined = [s.text.strip() for s in row if s.style and s.style.underline]
    assert underlined == ["·fox"]


def test_a_tint_colours_what_is_not_zero_and_says_what_it_is():
    tint = np.array([0.0, 0.5, 1.0, np.nan, -np.inf, 0.25, 0, 0, 0, 0, 0, 0])
    text, _, row = strip(here=2, tint=tint, words="attention of a")
    assert text.rstrip().endswith("attention of a")
    grounds = {s.text.strip(): s.style.bgcolor for s in row if s.text.strip().startswith(("·", "Once"))}
    plain = PALETTE.color("bg")
    assert [word for word, ground in grounds.items() if ground != plain] == ["·upon", "·time", "·there", "·was"]
    assert grounds["·time"] == grounds["·there"] == PALETTE.color("nan")
    ramp = PALETTE.ramp("sequential")
    assert next(s.style.bgcolor for s in row if s.text == " ·a ") == ramp[-1]
    assert grounds["·upon"] == ramp[round(0.5 * (len(ramp) - 1))]
    assert [s.text for s in row if s.style and s.style.underline] == [" ·a "]


def test_a_tint_with_both_signs_is_diverging():
    _, _, row = strip(tint=np.array([-1.0, 1.0] + [0.0] * 10), here=5)
    ramp = PALETTE.ramp("diverging")
    assert [s.style.bgcolor for s in row if s.text.strip() in ("Once", "·upon")] == [ramp[0], ramp[-1]]


def test_in_256_colours_tints_are_codes():
    palette = Palette("dark", "256")
    _, _, row = strip(tint=np.linspace(-1, 1, 12), here=3, palette=palette)
    assert all(s.style.bgcolor.number is not None and s.style.color.number is not None for s in row)


def test_the_tint_is_the_cells_row_of_an_attention_map(session):
    focus = run(session, "run-to", "blocks.1.attn.softmax").focus
    tint, words = tint_of(focus, (2, 8, 3), 12)
    assert words == "attention of fox, head 3"
    assert np.array_equal(tint, focus.value[2, 8].astype(np.float64))
    scores = run(session, "run-to", "blocks.2.attn.mask").focus
    tint, words = tint_of(scores, (0, 1, 0), 12)
    assert words == "attn.mask of upon, head 1"
    assert np.isfinite(tint).all()
    assert (tint[2:] == 0).all()


@pytest.mark.parametrize(
    ("where", "cell", "token"),
    [
        ("embed", (3, 60), 3),
        ("blocks.1.attn.q", (2, 5, 9), 5),
        ("blocks.1.attn.softmax", (2, 8, 3), 8),
        ("loss", (), -1),
    ],
)
def test_the_token_of_a_cell_is_that_of_its_row(session, where, cell, token):
    snapshot = run(session, "run-to", where) if where != "embed" else session.snapshot()
    assert token_of(snapshot.focus, cell) == token
    assert token_of(snapshot.focus, None) == -1


@pytest.mark.parametrize("where", ["blocks.0.norm.attn", "loss", "E"])
def test_what_has_no_axis_of_tokens_last_gives_no_tint(session, where):
    focus = run(session, "select", where).focus
    assert tint_of(focus, (0,) * focus.value.ndim, 12) == (None, "")
    assert tint_of(focus, None, 12) == (None, "")


def test_without_tokens_the_strip_is_empty(graph):
    text, places, row = strip(graph.snapshot().run.tokens, -1, width=80)
    assert text.strip() == ""
    assert places == []
    assert row_width(row) == 80


@pytest.mark.parametrize("colors", ["16", "none"])
def test_where_no_ground_is_painted_weights_stand_behind_their_tokens(colors):
    palette = Palette("dark", colors)
    tint = np.array([0.02, 0.05, 0, 0.61, np.nan])
    text, places, row = strip(WORDS[:5], 3, tint, "attention of fox", 160, palette)
    assert text.startswith("  Once .02   ·upon .05   ·a   ·time .61   ·there NaN ")
    assert text.rstrip().endswith("attention of fox")
    assert [text[columns.start : columns.stop].strip() for columns in places[:2]] == ["Once .02", "·upon .05"]
    (here,) = [segment for segment in row if segment.style.underline]
    assert here.text.strip() == "·time" and here.style.bold
    assert next(segment for segment in row if segment.text == "NaN").style is palette.nan


def test_the_factor_of_weights_stands_with_their_name():
    text, _, _ = strip(WORDS[:2], 0, np.array([-0.00031, 0.00012]), "resid.attn", 160, Palette("dark", "none"))
    assert text.startswith("  Once −31   ·upon +12 ")
    assert text.rstrip().endswith("resid.attn  ×10⁻⁵")


def test_in_ascii_tokens_are_spelled_before_they_are_placed():
    text, places, _ = strip((" été", "."), 0, None, "", 100, Palette(is_ascii=True))
    assert text.rstrip() == r"  .\xe9t\xe9   ."
    assert text[places[0].start : places[0].stop] == r" .\xe9t\xe9 "
