"""The colours themselves: what each token and each step of a ramp is at each depth, in either theme.

Codes for 256 colours are set by hand, because automatic conversion turns panels black and chips invisible. With 16
colours only the terminal's own are used, and only where a colour means something; no ground is painted at all.
"""

from typing import Literal

Theme = Literal["dark", "light"]
Colors = Literal["truecolor", "256", "16", "none"]
Ramp = Literal["diverging", "sequential"]
Choice = Literal["default", "rdbu", "cividis"]
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
ANSI: dict[Theme, dict[str, str]] = {  # what has a colour of its own among 16; all else is the terminal's text
    "dark": {"fwd": "bright_green", "bwd": "bright_magenta", "neg": "bright_cyan", "pos": "bright_yellow",
             "stop": "bright_red", "nan": "bright_magenta"},
    "light": {"fwd": "green", "bwd": "magenta", "neg": "cyan", "pos": "yellow", "stop": "red", "nan": "magenta"},
}  # fmt: skip
SOLID = frozenset(("select", "fwd", "bwd", "nan"))
"""Grounds that stand out by reversing the text where no ground is painted."""
QUIET = frozenset(("line", "faint"))
"""Text that stands back by being dim there."""

WHITE: Rgb = (255, 255, 255)
CIVIDIS: tuple[Rgb, ...] = (
    (0, 34, 78), (33, 62, 110), (76, 85, 108), (108, 110, 114),
    (141, 137, 120), (178, 165, 112), (217, 197, 93), (254, 232, 56),
)  # fmt: skip
STOPS: dict[tuple[Theme, Ramp, Choice], tuple[Rgb, ...]] = {  # evenly spaced, joined by straight lines in RGB
    ("dark", "diverging", "default"): (
        (120, 200, 255),
        (38, 120, 200),
        (24, 26, 30),
        (190, 90, 20),
        (255, 190, 100),
    ),
    ("dark", "diverging", "rdbu"): ((120, 200, 255), (38, 120, 200), (24, 26, 30), (190, 45, 50), (255, 140, 130)),
    ("dark", "sequential", "default"): (
        (24, 26, 30),
        (92, 46, 18),
        (190, 90, 20),
        (255, 168, 72),
        (255, 236, 200),
    ),
    ("dark", "sequential", "cividis"): CIVIDIS,
    ("light", "diverging", "default"): ((8, 48, 107), (66, 128, 190), WHITE, (224, 130, 60), (120, 50, 0)),
    ("light", "diverging", "rdbu"): ((5, 48, 97), (67, 147, 195), WHITE, (214, 96, 77), (103, 0, 31)),
    ("light", "sequential", "default"): (WHITE, (253, 212, 158), (240, 140, 60), (190, 84, 10), (100, 36, 0)),
    ("light", "sequential", "cividis"): CIVIDIS[::-1],
}
CODES: dict[tuple[Theme, Ramp, Choice], tuple[int, ...]] = {
    ("dark", "diverging", "default"): (117, 74, 32, 25, 19, 235, 52, 130, 166, 208, 215),
    ("dark", "diverging", "rdbu"): (117, 74, 32, 25, 19, 235, 52, 88, 124, 167, 210),
    ("dark", "sequential", "default"): (235, 52, 88, 130, 166, 208, 215, 222, 230),
    ("dark", "sequential", "cividis"): (17, 24, 60, 242, 245, 144, 179, 185, 227),
    ("light", "diverging", "default"): (18, 25, 68, 110, 153, 231, 223, 215, 172, 130, 52),
    ("light", "diverging", "rdbu"): (18, 25, 68, 110, 153, 231, 224, 210, 167, 124, 52),
    ("light", "sequential", "default"): (231, 230, 223, 215, 208, 166, 130, 94, 52),
    ("light", "sequential", "cividis"): (227, 185, 179, 144, 245, 242, 60, 24, 17),
}
LEVELS: dict[Ramp, int] = {"diverging": 63, "sequential": 64}  # odd where zero needs a level of its own
SHADES = " ░▒▓█"
"""What a size looks like where no ground is painted; a sign stands in front of it or in its style."""
