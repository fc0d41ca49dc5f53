"""Colours by meaning: tokens for chrome, ramps for data.

Everything drawn asks for a token (`fwd`, `muted`) and never for a colour. Codes for 256 colours are set by hand,
because automatic conversion turns panels black and chips invisible. One `Style` object exists per combination,
so a style's escape codes are made once.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

Theme = Literal["dark", "light"]
Colors = Literal["truecolor", "256"]
Ramp = Literal["diverging", "sequential"]
Rgb = tuple[int, int, int]

TOKENS: dict[Theme, dict[str, tuple[str, int]]] = {  # token -> truecolor, xterm code
    "dark": {
        "bg": ("#0e1014", 233),
        "panel": ("#14171c", 234),
        "raised": ("#1e222a", 236),
        "select": ("#2b3340", 238),
        "line": ("#323945", 240),
        "faint": ("#7b8595", 245),
        "muted": ("#939dac", 248),
        "text": ("#c9d1dc", 252),
        "bright": ("#f3f6fa", 231),
        "fwd": ("#5fd7af", 79),
        "bwd": ("#b794ff", 141),
        "neg": ("#78c8ff", 117),
        "pos": ("#ffbe64", 215),
        "stop": ("#ff6b6b", 203),
        "nan": ("#ff00ff", 201),
        "nanfg": ("#000000", 16),
        "black": ("#000000", 16),
        "white": ("#ffffff", 231),
    },
    "light": {
        "bg": ("#eef1f5", 255),
        "panel": ("#ffffff", 231),
        "raised": ("#e8ecf1", 254),
        "select": ("#d3dff0", 252),
        "line": ("#c9d0da", 250),
        "faint": ("#6c7685", 243),
        "muted": ("#596371", 240),
        "text": ("#252b34", 235),
        "bright": ("#000000", 16),
        "fwd": ("#00755a", 29),
        "bwd": ("#6a3fd0", 62),
        "neg": ("#0b4f9e", 25),
        "pos": ("#a84d00", 130),
        "stop": ("#c62828", 160),
        "nan": ("#c800c8", 164),
        "nanfg": ("#ffffff", 231),
        "black": ("#000000", 16),
        "white": ("#ffffff", 231),
    },
}
WHITE: Rgb = (255, 255, 255)
STOPS: dict[Theme, dict[Ramp, tuple[Rgb, ...]]] = {  # evenly spaced, joined by straight lines in RGB
    "dark": {
        "diverging": ((120, 200, 255), (38, 120, 200), (24, 26, 30), (190, 90, 20), (255, 190, 100)),
        "sequential": ((24, 26, 30), (92, 46, 18), (190, 90, 20), (255, 168, 72), (255, 236, 200)),
    },
    "light": {
        "diverging": ((8, 48, 107), (66, 128, 190), WHITE, (224, 130, 60), (120, 50, 0)),
        "sequential": (WHITE, (253, 212, 158), (240, 140, 60), (190, 84, 10), (100, 36, 0)),
    },
}
CODES: dict[Theme, dict[Ramp, tuple[int, ...]]] = {
    "dark": {
        "diverging": (117, 74, 32, 25, 19, 235, 52, 130, 166, 208, 215),
        "sequential": (235, 52, 88, 130, 166, 208, 215, 222, 230),
    },
    "light": {
        "diverging": (18, 25, 68, 110, 153, 231, 223, 215, 172, 130, 52),
        "sequential": (231, 230, 223, 215, 208, 166, 130, 94, 52),
    },
}
LEVELS: dict[Ramp, int] = {"diverging": 63, "sequential": 64}  # odd where zero needs a level of its own


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme at one colour depth. Equal palettes share their styles."""

    theme: Theme = "dark"
    colors: Colors = "truecolor"

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
        return _style(self, fg, bg, bold, underline, italic, reverse)

    def color(self, token: str) -> Color:
        return _color(self, token)

    def hex(self, token: str) -> str:
        """What is really shown for the token, as CSS writes it."""
        return _color(self, token).get_truecolor(DEFAULT_TERMINAL_THEME).hex

    def ramp(self, kind: Ramp) -> tuple[Color, ...]:
        """The data colours from most negative (or zero) to most positive."""
        return _ramp(self, kind)

    def on(self, color: Color, bold: bool = False) -> Style:
        """A mark on a data colour: black or white, whichever is easier to see."""
        return _paint(self.color(self.mark(color)), color, bold)

    def mark(self, color: Color) -> Literal["black", "white"]:
        return "black" if luminance(color) > 0.179 else "white"

    @property
    def nan(self) -> Style:
        """NaN and Inf, and nothing else."""
        return self.style("nanfg", "nan", bold=True)


PALETTES: dict[tuple[Theme, Colors], Palette] = {
    (theme, colors): Palette(theme, colors) for theme in ("dark", "light") for colors in ("truecolor", "256")
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
def _paint(fg: Color, bg: Color, bold: bool) -> Style:
    return Style(color=fg, bgcolor=bg, bold=bold or None)


@cache
def _ramp(palette: Palette, kind: Ramp) -> tuple[Color, ...]:
    if palette.colors == "256":
        return tuple(Color.from_ansi(code) for code in CODES[palette.theme][kind])
    stops = STOPS[palette.theme][kind]
    return tuple(_between(stops, i / (LEVELS[kind] - 1)) for i in range(LEVELS[kind]))


def _between(stops: tuple[Rgb, ...], at: float) -> Color:
    """The colour at `at`, 0 to 1, along the stops."""
    step = min(int(at * (len(stops) - 1)), len(stops) - 2)
    part = at * (len(stops) - 1) - step
    red, green, blue = (a + (b - a) * part for a, b in zip(stops[step], stops[step + 1], strict=True))
    return Color.from_rgb(red, green, blue)
