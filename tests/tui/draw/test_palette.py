"""Colours mean what they say at every depth, and a style exists once."""

import itertools

import pytest
from rich.color import ColorType

from tui.draw.palette import CODES, LEVELS, PALETTES, STOPS, TOKENS, Palette, luminance

RAMPS = ("diverging", "sequential")
every_palette = pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda p: f"{p.theme}-{p.colors}")


def contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def test_both_themes_have_the_same_tokens():
    assert TOKENS["dark"].keys() == TOKENS["light"].keys()


@every_palette
def test_equal_styles_are_one_object(palette):
    assert Palette(palette.theme, palette.colors).style("fwd", "raised", bold=True) is palette.style(
        "fwd", "raised", bold=True
    )


@every_palette
def test_words_can_be_read_on_every_ground_they_stand_on(palette):
    for fg, bg in itertools.product(("faint", "muted", "text", "bright", "fwd", "bwd", "stop"), ("bg", "panel")):
        style = palette.style(fg, bg)
        assert contrast(luminance(style.color), luminance(style.bgcolor)) >= 3.9, (fg, bg)


@every_palette
@pytest.mark.parametrize("kind", RAMPS)
def test_a_ramp_has_its_levels_and_a_visible_mark_on_each(palette, kind):
    ramp = palette.ramp(kind)
    assert len(ramp) == (LEVELS[kind] if palette.colors == "truecolor" else len(CODES[palette.theme][kind]))
    for color in ramp:
        mark = palette.on(color)
        assert contrast(luminance(mark.color), luminance(mark.bgcolor)) >= 4.5


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("kind", RAMPS)
def test_a_ramp_passes_through_its_stops(theme, kind):
    ramp = [tuple(color.triplet) for color in Palette(theme).ramp(kind)]
    assert (ramp[0], ramp[-1]) == (STOPS[theme][kind][0], STOPS[theme][kind][-1])
    if kind == "diverging":
        assert ramp[31] == STOPS[theme][kind][2]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_256_colours_are_codes_and_never_converted(theme):
    palette = Palette(theme, "256")
    colors = [palette.color(token) for token in TOKENS[theme]] + list(palette.ramp("diverging"))
    assert {color.type for color in colors} == {ColorType.EIGHT_BIT}


@every_palette
def test_hex_is_what_css_takes(palette):
    for token in TOKENS[palette.theme]:
        text = palette.hex(token)
        assert len(text) == 7 and int(text[1:], 16) >= 0
