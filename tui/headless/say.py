"""Results on stdout; news on stderr: one line for each fact, and one that is written over where a terminal can do
that.

Where stderr is gone, its terminal hung up or its pipe closed, nothing is said: no news is worth a run.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from tui.draw.text import clean
from tui.usage import PROGRAM, result

SHOWN = 5


def tell(text: str) -> None:
    """Write a part of the result as it is. Leaves, saying why, where that cannot be."""
    with result():
        sys.stdout.write(text)


def say(text: str) -> None:
    """A line of its own."""
    put(f"{PROGRAM}: {clean(text)}\n")


def put(text: str) -> None:
    """Write to stderr as it is."""
    with suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)


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
            put(f"\r{clean(text)}\x1b[K")
            self._is_open = True
        else:
            put(f"{clean(text)}\n")

    def close(self) -> None:
        """Leave the line as it is and begin the next."""
        if self._is_open:
            put("\n")
            self._is_open = False


def unknown_words(where: str, unknown: Mapping[str, int]) -> str:
    """`corpus.txt: 12 characters are unknown to the model and become <unk>: 'ü' 7, '€' 5`"""
    shown = ", ".join(f"{character!r} {count}" for character, count in list(unknown.items())[:SHOWN])
    more = ", …" if len(unknown) > SHOWN else ""
    total = sum(unknown.values())
    noun = "character is" if total == 1 else "characters are"
    return f"{where}: {total} {noun} unknown to the model, taken as <unk>: {shown}{more}"
