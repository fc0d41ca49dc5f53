"""What the terminal can show, as its environment says, and how Textual is told before it is imported."""

import os
from collections.abc import Mapping
from typing import TextIO

from .draw.colors import Colors

DEEP = ("truecolor", "24bit")
DEEP_TERMINALS = ("direct", "kitty", "alacritty", "wezterm", "foot", "ghostty", "contour")
MISLEADING = ("NO_COLOR", "COLUMNS", "LINES")
"""What Textual is not to see: it would turn our colours into greys, and follow no change of size."""
SYSTEMS: dict[Colors, str] = {"truecolor": "truecolor", "256": "256", "16": "standard", "none": "standard"}


def depth(environ: Mapping[str, str], is_windows: bool = os.name == "nt") -> Colors:
    """The colours to use: none where NO_COLOR has a value, else as many as COLORTERM or TERM names.

    Terminals of Windows name nothing and have all.
    """
    if environ.get("NO_COLOR"):
        return "none"
    term = environ.get("TERM", "").lower()
    if environ.get("COLORTERM", "").lower() in DEEP or is_windows or any(name in term for name in DEEP_TERMINALS):
        return "truecolor"
    return "256" if "256color" in term else "16"


def has_mouse(environ: Mapping[str, str]) -> bool:
    """Whether the mouse can be asked for: GNU screen then holds esc back until another key is pressed."""
    return not environ.get("STY")


def settle(colors: Colors) -> None:
    """Have Textual write no more colours than these, and ask the terminal for its size.

    Our own palette leaves colours out where there are none.
    """
    os.environ["TEXTUAL_COLOR_SYSTEM"] = SYSTEMS[colors]
    for name in MISLEADING:
        os.environ.pop(name, None)


def has_all_signs(stream: TextIO) -> bool:
    """Whether what is written there can be anything but ASCII."""
    return (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")
