"""News on stderr: one line for each fact, and one that is written over and over where a terminal can do that."""

import os
import sys
from collections.abc import Mapping

from tui.draw.text import clean
from tui.usage import PROGRAM

SHOWN = 5


def say(text: str) -> None:
    """A line of its own."""
    print(f"{PROGRAM}: {clean(text)}", file=sys.stderr, flush=True)


def can_rewrite() -> bool:
    """Whether stderr is a terminal where a line can be written over."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Line:
    """The line that shows how far things are; elsewhere than on a terminal a line for each."""

    def __init__(self) -> None:
        self._is_rewritten = can_rewrite()
        self._is_open = False

    @property
    def is_rewritten(self) -> bool:
        return self._is_rewritten

    def show(self, text: str) -> None:
        if self._is_rewritten:
            print(f"\r{clean(text)}\x1b[K", end="", file=sys.stderr, flush=True)
            self._is_open = True
        else:
            print(clean(text), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the line as it is and begin the next."""
        if self._is_open:
            print(file=sys.stderr, flush=True)
            self._is_open = False


def unknown_words(where: str, unknown: Mapping[str, int]) -> str:
    """`corpus.txt: 12 characters are unknown to the model and become <unk>: 'ü' 7, '€' 5`"""
    shown = ", ".join(f"{character!r} {count}" for character, count in list(unknown.items())[:SHOWN])
    more = ", …" if len(unknown) > SHOWN else ""
    total = sum(unknown.values())
    noun = "character is" if total == 1 else "characters are"
    return f"{where}: {total} {noun} unknown to the model, taken as <unk>: {shown}{more}"
