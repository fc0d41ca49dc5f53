"""The screen as text, for tests and exports: its characters, its styles, and the codes of its heatmaps.

What is drawn is asked of Textual's compositor; no other module opens that private door. Styles are told by what
they mean, codes by what each cell is, so neither changes with a shade of a colour.
"""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from textual.app import App
from textual.strip import Strip

from glassllm.files import replacing

from .draw.colors import TOKENS
from .draw.palette import Palette
from .draw.scale import Codes
from .widgets.tensor import TensorPanel

if TYPE_CHECKING:
    from .app import GlassApp

DATA = "~"
"""The letter of cells whose colour is a datum's."""
BEYOND = {-1: "-", 0: " ", 1: "+"}


def strips(app: App[Any]) -> list[Strip]:
    """The rows of the screen as they are shown, what lies behind an overlay included."""
    return app.screen._compositor.render_strips()


def text(app: App[Any]) -> str:
    """The characters of the screen, without spaces at the ends of rows."""
    return "".join(f"{strip.text.rstrip()}\n" for strip in strips(app))


def styles(app: "GlassApp") -> str:
    """A letter for each cell's style, and below what the letters mean; `~` where the colour is a datum's."""
    letters: dict[str, str] = {}
    unused = iter(ascii_letters + digits)
    rows = []
    for strip in strips(app):
        row = ""
        for segment in strip:
            name = style_name(segment.style or Style(), app.palette)
            if name != DATA and name not in letters:
                letters[name] = next(unused, "?")
            row += letters.get(name, DATA) * segment.cell_length
        rows.append(f"{row}\n")
    return "".join([*rows, *(f"{letter}  {name}\n" for name, letter in letters.items())])


def style_name(style: Style, palette: Palette) -> str:
    """`bright on panel bold`; `~` unless both colours are the palette's."""
    names = _token_names(palette)
    fg, bg = (names.get(_hex(color)) for color in (style.color, style.bgcolor))
    if fg is None or bg is None:
        return DATA
    return " ".join([fg, "on", bg, *(kind for kind in ("bold", "underline", "italic") if getattr(style, kind))])


def _token_names(palette: Palette) -> dict[str, str]:
    """Token by colour; of those that look the same, the first."""
    return {palette.hex(token): token for token in reversed(TOKENS[palette.theme])}


def _hex(color: Color | None) -> str:
    return "" if color is None else color.get_truecolor(DEFAULT_TERMINAL_THEME).hex


def codes(app: App[Any]) -> str:
    """The code of each cell of the heatmaps shown, `+` or `-` behind it where the value is beyond the scale."""
    panels = app.screen.query(TensorPanel)
    return "".join(_map_codes(name, found) for panel in panels for name, found in panel.codes)


def _map_codes(name: str, found: Codes) -> str:
    rows = (
        " ".join(f"{code:2d}{BEYOND[beyond]}" for code, beyond in zip(*row, strict=True)).rstrip()
        for row in zip(found.code.tolist(), found.beyond.tolist(), strict=True)
    )
    return "\n".join([name, *rows, ""])


def dump(app: "GlassApp") -> str:
    """All three."""
    return f"{text(app)}\n{styles(app)}\n{codes(app)}"


def picture(app: App[Any], kind: str) -> str:
    """The screen as it stands: `.svg`, or its characters for `.txt`."""
    if kind != ".svg":
        return text(app)
    # Some viewers trim what a text begins with, indents too, unless they are told not to.
    return app.export_screenshot().replace("<svg ", '<svg xml:space="preserve" ', 1)


def export(app: "GlassApp", folder: Path) -> list[Path]:
    """Write the screen as a picture and as text, under names that are free; the files. OSError if that fails."""
    files: list[Path] = []
    for i in count(1):
        files = [folder / f"{app.path.stem}-screen-{i}{kind}" for kind in (".svg", ".txt")]
        if claimed(files):
            break
    try:
        for file in files:
            write(file, picture(app, file.suffix))
    except OSError:
        for file in files:
            file.unlink(missing_ok=True)
        raise
    return files


def claimed(files: Sequence[Path]) -> bool:
    """Make them as empty files if all are free; another program in the same folder then takes other names."""
    if any(file.exists() for file in files):
        return False
    try:
        for file in files:
            file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def write(path: Path, content: str) -> None:
    """Replace a file, whole or not at all."""
    with replacing(path) as file:
        file.write(content.encode())
