"""The palette as a theme of Textual's, for the few widgets that a stylesheet colours."""

from textual.theme import BUILTIN_THEMES, Theme

from .draw.colors import TOKENS
from .draw.colors import Theme as ThemeName
from .draw.palette import Palette

CURSORS = ("block-cursor", "block-cursor-blurred", "input-cursor")
SOLID = {"dark": ("ansi_black", "ansi_white"), "light": ("ansi_bright_white", "ansi_black")}
"""What is under a cursor of Textual's own where we paint no ground: text and ground."""


def chrome(palette: Palette) -> Theme:
    """The palette's tokens by their names, with `glass-` before them."""
    flat = flat_variables(palette.theme) if palette.is_flat else {}
    tokens = {name: palette.css(name) for name in TOKENS[palette.theme]}
    return Theme(
        name="glass",
        primary=tokens["fwd"],
        secondary=tokens["bwd"],
        foreground=tokens["text"],
        background=tokens["bg"],
        surface=tokens["raised"],
        panel=tokens["panel"],
        error=tokens["stop"],
        dark=palette.theme == "dark",
        ansi=palette.is_flat,
        variables=flat | {f"glass-{name}": value for name, value in tokens.items()},
    )


def flat_variables(theme: ThemeName) -> dict[str, str]:
    """What Textual's stylesheets need besides, where colours are the terminal's own."""
    text, ground = SOLID[theme]
    parts = {"foreground": text, "background": ground, "text-style": "none"}
    cursors = {f"{cursor}-{part}": value for cursor in CURSORS for part, value in parts.items()}
    tracks = {f"scrollbar-background{state}": "ansi_default" for state in ("", "-hover", "-active")}
    return BUILTIN_THEMES[f"ansi-{theme}"].variables | cursors | tracks
