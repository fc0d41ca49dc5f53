"""Colours mean what they say at every depth, and a style exists once."""

import itertools

import pytest
from rich.color import ColorType

from tui.draw.colors import ANSI, CODES, LEVELS, SHADES, STOPS, TOKENS
from tui.draw.palette import PALETTES, Palette, luminance

RAMPS = ("diverging", "sequential")


def name(palette):
    return f"{palette.theme}-{palette.colors}"


every_palette = pytest.mark.parametrize("palette", PALETTES.values(), ids=name)
every_tinted = pytest.mark.parametrize("palette", [p for p in PALETTES.values() if not p.is_flat], ids=name)
every_flat = pytest.mark.parametrize("palette", [p for p in PALETTES.values() if p.is_flat], ids=name)


def contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def all_styles(palette):
    tokens = TOKENS[palette.theme]
    yield from (palette.style(fg, bg) for fg, bg in itertools.product(tokens, tokens))
    for ink in itertools.chain(*map(palette.inks, RAMPS), palette.shares()):
        yield from (ink.style, ink.alone, ink.bar)


def test_both_themes_have_the_same_tokens():
    assert TOKENS["dark"].keys() == TOKENS["light"].keys()
    assert ANSI["dark"].keys() == ANSI["light"].keys() < TOKENS["dark"].keys()


@every_palette
def test_equal_styles_are_one_object(palette):
    assert Palette(palette.theme, palette.colors).style("fwd", "raised", bold=True) is palette.style(
        "fwd", "raised", bold=True
    )


@every_tinted
def test_words_can_be_read_on_every_ground_they_stand_on(palette):
    for fg, bg in itertools.product(("faint", "muted", "text", "bright", "fwd", "bwd", "stop"), ("bg", "panel")):
        style = palette.style(fg, bg)
        assert contrast(luminance(style.color), luminance(style.bgcolor)) >= 3.9, (fg, bg)


@pytest.mark.parametrize("choices", itertools.product(("default", "rdbu"), ("default", "cividis")), ids="-".join)
@every_tinted
def test_a_ramp_has_its_levels_and_a_visible_mark_on_each(palette, choices):
    palette = Palette(palette.theme, palette.colors, False, *choices)
    for kind, choice in zip(RAMPS, choices, strict=True):
        ramp = palette.ramp(kind)
        assert len(ramp) == len(palette.inks(kind))
        is_true = palette.colors == "truecolor"
        assert len(ramp) == (LEVELS[kind] if is_true else len(CODES[palette.theme, kind, choice]))
        for color in ramp:
            mark = palette.on(color)
            assert contrast(luminance(mark.color), luminance(mark.bgcolor)) >= 4.5


@pytest.mark.parametrize(("theme", "kind", "choice"), STOPS, ids="-".join)
def test_a_ramp_passes_through_its_stops(theme, kind, choice):
    ramp = [tuple(color.triplet) for color in Palette(theme, "truecolor", False, choice, choice).ramp(kind)]
    stops = STOPS[theme, kind, choice]
    assert (ramp[0], ramp[-1]) == (stops[0], stops[-1])
    if kind == "diverging":
        assert ramp[31] == stops[2]


@pytest.mark.parametrize(("theme", "kind", "choice"), CODES, ids="-".join)
def test_a_ramp_grows_steadily_towards_its_ends(theme, kind, choice):
    """What is larger is farther from the ground's lightness, in truecolor and in 256."""
    for colors in ("truecolor", "256"):
        light = [luminance(color) for color in Palette(theme, colors, False, choice, choice).ramp(kind)]
        up = light[len(light) // 2 :] if kind == "diverging" else light
        down = light[len(light) // 2 :: -1] if kind == "diverging" else light
        for half in (up, down):
            assert half == sorted(half, reverse=theme == "light"), (colors, half)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_256_colours_are_codes_and_never_converted(theme):
    palette = Palette(theme, "256")
    colors = [palette.color(token) for token in TOKENS[theme]] + list(palette.ramp("diverging"))
    assert {color.type for color in colors} == {ColorType.EIGHT_BIT}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_without_colour_no_style_has_one(theme):
    for style in all_styles(Palette(theme, "none")):
        assert (style.color, style.bgcolor) == (None, None)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_16_colours_are_the_terminals_own_and_paint_no_ground(theme):
    for style in all_styles(Palette(theme, "16")):
        assert style.bgcolor is None
        assert style.color is None or style.color.name in ANSI[theme].values()


@every_flat
def test_flat_palettes_say_by_reversing_what_others_say_by_a_ground(palette):
    for ground, is_reversed in (("select", True), ("fwd", True), ("bwd", True), ("nan", True), ("raised", None)):
        assert palette.style("text", ground).reverse is is_reversed, ground
    assert palette.style("faint").dim and not palette.style("faint", "select").dim


@every_flat
def test_flat_inks_are_shades_with_a_sign(palette):
    assert [ink.glyph for ink in palette.inks("sequential")] == list(SHADES)
    diverging = palette.inks("diverging")
    assert "".join(ink.glyph for ink in diverging) == SHADES[::-1] + SHADES
    assert "".join(ink.sign for ink in diverging) == "−" * len(SHADES) + "+" * len(SHADES)


@every_flat
def test_a_sign_can_be_told_where_it_has_no_room(palette):
    """By colour where there is one, else by a line below."""
    *negative, _, _, _, _, positive = palette.inks("diverging")
    assert all(ink.alone != positive.alone for ink in negative[:5])


@pytest.mark.parametrize(
    ("colors", "is_ascii", "stack"),
    [("truecolor", False, 2), ("256", True, 1), ("16", False, 1), ("none", True, 1)],
)
def test_half_blocks_need_colour_and_more_than_ascii(colors, is_ascii, stack):
    assert Palette("dark", colors, is_ascii).stack == stack


@every_palette
def test_css_takes_every_token(palette):
    from textual.color import Color

    for token in TOKENS[palette.theme]:
        color = Color.parse(palette.css(token))
        assert (color.ansi is not None) == palette.is_flat
