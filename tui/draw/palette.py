"""Colours by meaning: tokens for chrome, ramps for data.

Everything drawn asks for a token (`fwd`, `muted`) and never for a colour; data ask for an ink of their ramp. A
palette whose depth is 16 colours or none is flat: it paints no ground, and what others show by one it shows by
signs, by reversing and by dim text. One `Style` object exists per combination, so its escape codes are made once.
"""

from functools import cache
from typing import Literal, NamedTuple, get_args

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from tui.draw import spelling
from tui.draw.colors import (
    ANSI,
    CODES,
    LEVELS,
    QUIET,
    SHADES,
    SOLID,
    STOPS,
    TOKENS,
    Choice,
    Colors,
    Ramp,
    Rgb,
    Theme,
)

MINUS, PLUS = "−", "+"


class Ink(NamedTuple):
    """How a step of a ramp is put down: a glyph in a style. A flat ink says the sign apart, if there is one.

    `alone` is the style where there is no room for the sign, `bar` that of a bar that counts such values.
    """

    glyph: str
    style: Style
    sign: str
    alone: Style
    bar: Style


class Marks(NamedTuple):
    """What points at a row, a column and a value, the corners of the cell cursor, and the ends of a chip."""

    row: str = "▸"
    column: str = "▾"
    behind: str = "◂"
    below: str = "▴"
    corners: tuple[str, str] = ("┏┓", "┗┛")
    chip: tuple[str, str] = (" ", " ")


IN_ASCII = Marks(">", "v", "<", "^", ("[]", "[]"))
BRACKETS = ("[", "]")
MARKS = {  # by whether the palette is flat, and whether it is for ASCII
    (False, False): Marks(),
    (False, True): IN_ASCII,
    (True, False): Marks(chip=BRACKETS),
    (True, True): IN_ASCII._replace(chip=BRACKETS),
}


class Palette(NamedTuple):
    """One theme at one depth of colour, for a terminal with all signs or with ASCII. Equal ones share styles."""

    theme: Theme = "dark"
    colors: Colors = "truecolor"
    is_ascii: bool = False
    diverging: Choice = "default"
    sequential: Choice = "default"

    @property
    def is_flat(self) -> bool:
        """Whether no ground is painted."""
        return self.colors in ("16", "none")

    @property
    def stack(self) -> int:
        """How many small cells stand in one character: two as a half-block, where these can be coloured."""
        return 1 if self.is_flat or self.is_ascii else 2

    @property
    def marks(self) -> Marks:
        """What points at things and encloses them."""
        return MARKS[self.is_flat, self.is_ascii]

    def style(
        self,
        fg: str = "text",
        bg: str = "panel",
        bold: bool = False,
        underline: bool = False,
        italic: bool = False,
        reverse: bool = False,
    ) -> Style:
        """The style of a token on a token; KeyError for a name that is no token."""
        return (_flat_style if self.is_flat else _style)(self, fg, bg, bold, underline, italic, reverse)

    def color(self, token: str) -> Color:
        return _color(self, token)

    def hex(self, token: str) -> str:
        """What is really shown for the token, as CSS writes it."""
        return _color(self, token).get_truecolor(DEFAULT_TERMINAL_THEME).hex

    def css(self, token: str) -> str:
        """The token's colour for a stylesheet: the terminal's own by its name."""
        return f"ansi_{_color(self, token).name}" if self.is_flat else self.hex(token)

    def ramp(self, kind: Ramp) -> tuple[Color, ...]:
        """The data colours from most negative (or zero) to most positive; not for flat palettes."""
        return _ramp(self, kind)

    def inks(self, kind: Ramp) -> tuple[Ink, ...]:
        """The same as what is put down for each step; a flat palette has no step for 0 itself."""
        return _inks(self, kind)

    def shares(self) -> tuple[Ink, ...]:
        """The inks of a bar of the shares −, 0 and +."""
        return _shares(self)

    def on(self, color: Color, bold: bool = False) -> Style:
        """A mark on a data colour: black or white, whichever is easier to see."""
        return _paint(self.color(self.mark(color)), color, bold)

    def mark(self, color: Color) -> Literal["black", "white"]:
        return "black" if luminance(color) > 0.179 else "white"

    @property
    def nan(self) -> Style:
        """NaN and Inf, and nothing else."""
        return self.style("nanfg", "nan", bold=True)

    def spell(self, text: str, fg: str = "text") -> str:
        """The text as this terminal can write it, which may be longer; `fg` tells a fault's × from a product's."""
        return spelling.spelled(text, is_fault=fg == "nanfg") if self.is_ascii else text


PALETTES: dict[tuple[Theme, Colors], Palette] = {
    (theme, colors): Palette(theme, colors) for theme in get_args(Theme) for colors in get_args(Colors)
}


def paint(fg: Color, bg: Color) -> Style:
    """The style of one data colour on another, for half-blocks."""
    return _paint(fg, bg, False)


def luminance(color: Color) -> float:
    """Relative luminance, 0 (black) to 1 (white), as WCAG 2 defines it."""
    channels = (c / 255 for c in color.get_truecolor(DEFAULT_TERMINAL_THEME))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def _color(palette: Palette, token: str) -> Color:
    rgb, code = TOKENS[palette.theme][token]
    if palette.is_flat:
        own = ANSI[palette.theme].get(token) if palette.colors == "16" else None
        return Color.default() if own is None else Color.parse(own)
    return Color.from_ansi(code) if palette.colors == "256" else Color.parse(rgb)


@cache
def _style(palette: Palette, fg: str, bg: str, bold: bool, underline: bool, italic: bool, reverse: bool) -> Style:
    return Style(
        color=_color(palette, fg),
        bgcolor=_color(palette, bg),
        bold=bold or None,
        underline=underline or None,
        italic=italic or None,
        reverse=reverse or None,
    )


@cache
def _flat_style(
    palette: Palette, fg: str, bg: str, bold: bool, underline: bool, italic: bool, reverse: bool
) -> Style:
    """A solid ground is its own colour reversed, and so has one colour whatever stands on it."""
    is_solid = bg in SOLID
    color = _color(palette, bg if is_solid else fg)
    return Style(
        color=None if color.is_default else color,
        bold=bold or None,
        dim=(fg in QUIET and not is_solid) or None,
        underline=underline or None,
        italic=italic or None,
        reverse=is_solid or reverse or None,
    )


@cache
def _paint(fg: Color, bg: Color, bold: bool) -> Style:
    return Style(color=fg, bgcolor=bg, bold=bold or None)


@cache
def _ramp(palette: Palette, kind: Ramp) -> tuple[Color, ...]:
    which = (palette.theme, kind, palette.diverging if kind == "diverging" else palette.sequential)
    if palette.colors == "256":
        return tuple(Color.from_ansi(code) for code in CODES[which])
    stops = STOPS[which]
    return tuple(_between(stops, i / (LEVELS[kind] - 1)) for i in range(LEVELS[kind]))


def _between(stops: tuple[Rgb, ...], at: float) -> Color:
    """The colour at `at`, 0 to 1, along the stops."""
    step = min(int(at * (len(stops) - 1)), len(stops) - 2)
    part = at * (len(stops) - 1) - step
    red, green, blue = (a + (b - a) * part for a, b in zip(stops[step], stops[step + 1], strict=True))
    return Color.from_rgb(red, green, blue)


@cache
def _inks(palette: Palette, kind: Ramp) -> tuple[Ink, ...]:
    if palette.is_flat:
        positive = [_shade(palette, shade, "pos", PLUS if kind == "diverging" else "") for shade in SHADES]
        negative = [_shade(palette, shade, "neg", MINUS) for shade in reversed(SHADES)]
        return (*negative, *positive) if kind == "diverging" else tuple(positive)
    ground = palette.color("panel")
    return tuple(
        Ink(" ", palette.on(color), "", paint(palette.color("text"), color), paint(color, ground))
        for color in _ramp(palette, kind)
    )


def _shade(palette: Palette, glyph: str, token: str, sign: str) -> Ink:
    """Where nothing else tells a negative value, it is underlined."""
    style = palette.style(token)
    is_marked = sign == MINUS and palette.colors == "none"
    return Ink(glyph, style, sign, palette.style(token, underline=is_marked), style)


@cache
def _shares(palette: Palette) -> tuple[Ink, ...]:
    tokens = ("neg", "line", "pos")
    if palette.is_flat:
        return tuple(_shade(palette, *each, "") for each in zip("▓░█", tokens, strict=True))
    styles = [palette.style("text", token) for token in tokens]
    return tuple(Ink(" ", style, "", style, style) for style in styles)
