"""What stands on a terminal too small for anything else: its size, and the size that is needed."""

import textwrap

from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .arrangement import SMALLEST


def small_rows(width: int, height: int, palette: Palette) -> list[Row]:
    words = f"{width}x{height} is too small; {SMALLEST[0]}x{SMALLEST[1]} is needed"
    lines = textwrap.wrap(words, max(width - 1, 1))
    return [text_row([Span(f" {line}")], width, palette, "bg") for line in lines]
