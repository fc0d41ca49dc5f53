"""What stands behind a command's name, and how it is read. What can't be read raises CommandError."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .snapshot import CommandError

MOST_SHOWN = 40
WHOLE = r"\d{1,18}"
"""A whole number that every count, id and size fits into."""


@dataclass(frozen=True)
class Argument:
    """One argument: its name in the usage, and how its text is read. `takes_rest`: spaces belong to it."""

    name: str
    read: Callable[[str], Any]
    is_optional: bool = False
    takes_rest: bool = False

    @property
    def usage(self) -> str:
        return f"[{self.name}]" if self.is_optional else self.name


def shown(text: str) -> str:
    """As much of what was typed as a line of refusal has room for."""
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def number(what: str) -> Callable[[str], float]:
    """A reader of one number."""

    def read(text: str) -> float:
        try:
            return float(text.replace("−", "-"))
        except ValueError:
            raise CommandError(f"{what} is a number, not {shown(text)}") from None

    return read


def whole(what: str) -> Callable[[str], int]:
    """A reader of one whole number."""

    def read(text: str) -> int:
        if not re.fullmatch(WHOLE, text):
            raise CommandError(f"{what} is a whole number, not {shown(text)}")
        return int(text)

    return read


def count(text: str) -> int:
    if not re.fullmatch(WHOLE, text) or int(text) < 1:
        raise CommandError(f"a count is a whole number from 1, not {shown(text)}")
    return int(text)


def ids(text: str) -> list[int]:
    words = re.split(r"[\s,]+", text.strip(" []()"))
    if not all(re.fullmatch(f"-?{WHOLE}", word) for word in words):
        raise CommandError(f"ids are whole numbers with spaces between, not {shown(text)}")
    return [int(word) for word in words]


def on_off(text: str) -> bool:
    if text not in ("on", "off"):
        raise CommandError(f"say on or off, not {shown(text)}")
    return text == "on"


def or_off(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same reader, and `off` for None."""
    return lambda text: None if text.strip() == "off" else read(text)


COUNT = Argument("COUNT", count, is_optional=True)
