"""A row is exactly as wide as asked, whatever stands in it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.draw.palette import Palette
from tui.draw.text import Span, clean, cut, pad, row_width, text_row

PALETTE = Palette()


def text_of(row):
    return "".join(segment.text for segment in row)


@given(
    st.lists(st.tuples(st.text(max_size=12), st.sampled_from(["text", "muted"])), max_size=4), st.integers(0, 40)
)
def test_a_row_has_its_width_and_nothing_raw(words, width):
    row = text_row(words, width, PALETTE, right=words[:1])
    assert row_width(row) == width
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text_of(row))


def test_a_row_takes_pairs_and_spans_and_puts_the_right_at_the_right():
    row = text_row([Span("name", "bright", bold=True), (" shape", "muted")], 20, PALETTE, right=[("3", "text")])
    assert text_of(row) == "name shape         3"
    assert row[0].style is PALETTE.style("bright", "panel", bold=True)


@pytest.mark.parametrize(
    ("text", "width", "keep", "expected"),
    [
        ("attn.softmax", 12, "tail", "attn.softmax"),
        ("blocks.1.attn.softmax", 13, "tail", "…attn.softmax"),
        ("not reached yet", 12, "head", "not reached…"),
        ("日本語", 4, "head", "日…"),
        ("abc", 0, "head", ""),
        ("abc", 1, "tail", "…"),
    ],
)
def test_a_cut_says_so(text, width, keep, expected):
    assert cut(text, width, keep) == expected
    assert cell_len(cut(text, width, keep)) <= width


def test_what_does_not_fit_is_cut_with_a_sign():
    assert text_of(text_row([("value ", "text"), ("gradient", "text")], 10, PALETTE)) == "value gra…"
    assert text_of(text_row([("value", "text"), ("gradient", "text")], 5, PALETTE)) == "valu…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("line\nline", "line␊line"),
        ("\x9b2J", "�2J"),
        ("a\u202eb", "a�b"),
        ("👩\u200d🔬", "👩�🔬"),
        ("❤\ufe0f", "❤"),
        ("é", "é"),
    ],
)
def test_control_is_shown_not_sent(text, shown):
    assert clean(text) == shown


def test_padding_knows_wide_characters():
    assert pad("日本", 5) == "日本 "
    assert pad("語", 3, "right") == " 語"
