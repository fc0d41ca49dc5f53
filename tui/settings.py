"""What a person has chosen once: a TOML file in the platform's folder for such files.

    theme = "light"              # or dark
    color = "256"                # or auto, truecolor, 16, none
    diverging = "rdbu"           # or default: the colours of data with both signs
    sequential = "cividis"       # or default: of data with one
    ascii = true                 # ASCII signs only
    mouse = false                # leave the mouse to the terminal
    collapse = false             # blocks stand open in event list and graph
    format = "scientific 3"      # or digits N, hex: how a cell is written
    [keys]
    next = "x"                   # an action and its key, or a list of keys

What can't be used is named, one line for each, and everything else holds.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from .draw.colors import Choice, Colors, Theme
from .draw.formats import USUAL, Format, parse
from .draw.palette import Palette

MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Settings:
    """All choices. `color` None: as deep as the terminal has it. `keys` are by action, as they were written."""

    theme: Theme = "dark"
    color: Colors | None = None
    diverging: Choice = "default"
    sequential: Choice = "default"
    ascii: bool = False
    mouse: bool = True
    collapse: bool = True
    format: Format = USUAL
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def palette(self) -> Palette:
        return Palette(self.theme, self.color or "truecolor", self.ascii, self.diverging, self.sequential)


DEFAULTS = Settings()
NAMES = [each.name for each in fields(Settings)]


def config_file() -> Path:
    """Where the settings are looked for."""
    import platformdirs

    return Path(platformdirs.user_config_dir("glassllm", appauthor=False)) / "settings.toml"


def read(path: Path) -> tuple[Settings, list[str]]:
    """The settings in a file, and a line for each thing in it that can't be used; no file is no fault."""
    import tomllib

    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            return Settings(), [f"{path.name}: more than {MOST_BYTES >> 10} KiB; ignored"]
        table = tomllib.loads(content.decode())
    except (FileNotFoundError, NotADirectoryError):
        return Settings(), []
    except OSError as error:
        return Settings(), [f"{path.name}: {error.strerror or error}; ignored"]
    except UnicodeDecodeError:
        return Settings(), [f"{path.name}: not UTF-8; ignored"]
    except tomllib.TOMLDecodeError as error:
        return Settings(), [f"{path.name}: {error}; ignored"]
    settings, faults = understood(table)
    return settings, [f"{path.name}: {fault}" for fault in faults]


def understood(table: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """What a table says, and what in it can't be used."""
    good: dict[str, Any] = {}
    faults = []
    for name, value in table.items():
        if name not in READERS:
            faults.append(f"{_named(name)}: no such setting{_nearest(name, NAMES)}; ignored")
            continue
        try:
            good[name] = READERS[name](value)
        except ValueError as error:
            faults.append(f"{name}: {error}; ignored")
    return Settings(**good), faults


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f", did you mean {near[0]}?" if near else ""


def _choice(*choices: str) -> Callable[[object], str]:
    """A reader of one of some words."""

    def read_one(value: object) -> str:
        if value not in choices:
            raise ValueError(f"{_shown(value)} is none of {', '.join(choices)}")
        return str(value)

    return read_one


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is neither true nor false")
    return value


def _color(value: object) -> str | None:
    found = _choice("auto", *get_args(Colors))(value)
    return None if found == "auto" else found


def _format(value: object) -> Format:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is no text")
    return parse(value)


def _keys(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} is no table of actions and keys")
    return {action: _key_list(action, given) for action, given in value.items()}


def _key_list(action: str, given: object) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"{action} needs a key or a list of keys, not {_shown(given)}")
    return tuple(names)


def _named(name: str) -> str:
    """A key of the file as it stands there, or as a value is shown if it is long or not one harmless line."""
    return name if len(name) <= 40 and name.isprintable() else _shown(name)


def _shown(value: object) -> str:
    """A stranger's value, short and without control characters."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


READERS: dict[str, Callable[[object], object]] = {
    "theme": _choice(*get_args(Theme)),
    "color": _color,
    "diverging": _choice("default", "rdbu"),
    "sequential": _choice("default", "cividis"),
    "ascii": _switch,
    "mouse": _switch,
    "collapse": _switch,
    "format": _format,
    "keys": _keys,
}
