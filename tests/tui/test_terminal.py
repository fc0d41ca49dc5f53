"""What a terminal can show, told by its environment; and the last filters before it."""

import os

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from tui import terminal
from tui.draw.palette import Palette
from tui.filters import Dimmed, InAscii, WithoutColor, filters_for


@pytest.mark.parametrize(
    ("environ", "colors"),
    [
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "tmux-256color"}, "256"),
        ({"TERM": "screen-256color"}, "256"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, "truecolor"),
        ({"TERM": "xterm-direct"}, "truecolor"),
        ({"TERM": "xterm-kitty"}, "truecolor"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "screen"}, "16"),
        ({"TERM": "linux"}, "16"),
        ({}, "16"),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "none"),
        ({"NO_COLOR": "", "COLORTERM": "truecolor"}, "truecolor"),
    ],
    ids=str,
)
def test_depth(environ, colors):
    assert terminal.depth(environ, is_windows=False) == colors


def test_terminals_of_windows_have_all_colours():
    assert terminal.depth({}, is_windows=True) == "truecolor"
    assert terminal.depth({"NO_COLOR": "1"}, is_windows=True) == "none"


def test_gnu_screen_is_not_asked_for_the_mouse():
    assert terminal.has_mouse({"TERM": "xterm"}) and terminal.has_mouse({"STY": ""})
    assert not terminal.has_mouse({"STY": "1234.pts-0.here", "TERM": "screen"})


@pytest.mark.parametrize(
    ("colors", "system"), [("truecolor", "truecolor"), ("256", "256"), ("16", "standard"), ("none", "standard")]
)
def test_textual_is_told_and_left_no_switch_of_its_own(monkeypatch, colors, system):
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "auto")
    terminal.settle(colors)
    assert os.environ["TEXTUAL_COLOR_SYSTEM"] == system and "NO_COLOR" not in os.environ


@pytest.mark.parametrize(
    ("encoding", "has_all"), [("utf-8", True), ("UTF8", True), ("ascii", False), ("latin-1", False)]
)
def test_an_encoding_without_our_signs_is_known(tmp_path, encoding, has_all):
    with (tmp_path / "out").open("w", encoding=encoding) as stream:
        assert terminal.has_all_signs(stream) is has_all


def filtered(line_filter, text, style):
    (segment,) = line_filter.apply([Segment(text, style)], Color(0, 0, 0))
    return segment


def test_without_colour_what_was_painted_is_reversed():
    bold = filtered(WithoutColor(), "x", Style(color="red", bgcolor="default", bold=True)).style
    assert (bold.color, bold.bgcolor, bold.bold, bold.reverse) == (None, None, True, None)
    solid = filtered(WithoutColor(), "x", Style(color="black", bgcolor="white")).style
    assert (solid.color, solid.bgcolor, solid.reverse) == (None, None, True)


def test_ascii_and_dim_leave_the_rest_alone():
    style = Style(color="red")
    assert filtered(InAscii(), "╭─▸ é", style) == Segment("+-+ ?", style)
    line = [Segment("for words…", style), Segment("   ", None), Segment("漢so…", style), Segment("v", None)]
    written = InAscii().apply(line, Color(0, 0, 0))
    assert written == [
        Segment("for words.", style),
        Segment(".. ", None),
        Segment("??so$", style),
        Segment("v", None),
    ]
    assert filtered(Dimmed(), "x", style).style == style + Style(dim=True)
    assert filtered(Dimmed(), "x", None).style == Style(dim=True)
    assert filtered(WithoutColor(), "x", None).style is None


@pytest.mark.parametrize(
    ("palette", "kinds"),
    [
        (Palette(), []),
        (Palette("dark", "16"), []),
        (Palette("dark", "none"), [WithoutColor]),
        (Palette("dark", "256", is_ascii=True), [InAscii]),
        (Palette("dark", "none", is_ascii=True), [WithoutColor, InAscii]),
    ],
    ids=str,
)
def test_each_palette_has_the_filters_it_needs(palette, kinds):
    assert [type(each) for each in filters_for(palette)] == kinds
