"""Boards of the Train and Generate screens in tests: in which sizes and colours, and what is written on them."""

from tui.draw.palette import Palette

PALETTES = [
    Palette(),
    Palette("light", "256"),
    Palette("dark", "16"),
    Palette("dark", "none"),
    Palette(is_ascii=True),
]
SIZES = [(160, 37), (120, 29), (100, 20), (80, 18), (79, 18), (60, 14), (60, 3), (200, 60)]


def text(rows):
    return "\n".join("".join(segment.text for segment in row) for row in rows)


def name(palette):
    """Of a test's parameter."""
    return f"{palette.theme}-{palette.colors}-{palette.is_ascii}"
