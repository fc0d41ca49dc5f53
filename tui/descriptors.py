"""The terminal by descriptors of our own: the standard ones lead elsewhere while a user's program runs.

What its child processes print then goes into its log, and not over the screen.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

STANDARD = (0, 1, 2)


class Terminal(NamedTuple):
    """Where keys come from, and where the screen goes to."""

    keys: int
    screen: io.TextIOWrapper

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows. OSError where it has none."""
        return os.get_terminal_size(self.screen.fileno())


class Outlet(io.FileIO):
    """Where the screen goes to; once the terminal is gone what is written goes nowhere."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return memoryview(data).nbytes


@cache
def terminal() -> Terminal:
    """The terminal that stdin and stdout lead to, as they do when this is first asked."""
    stdin, stdout = sys.__stdin__, sys.__stdout__
    assert stdin is not None and stdout is not None, "no terminal"
    # Neither is ever closed: a screen may be opened again, and leaves nothing to be written.
    written = io.BufferedWriter(Outlet(os.dup(stdout.fileno()), "w", closefd=False))
    return Terminal(os.dup(stdin.fileno()), io.TextIOWrapper(written, stdout.encoding, stdout.errors))


@contextmanager
def restored() -> Iterator[None]:
    """Afterwards the standard descriptors lead where they did, even if a program that turned them still runs."""
    saved = [os.dup(descriptor) for descriptor in STANDARD]
    try:
        yield
    finally:
        for descriptor, own in zip(STANDARD, saved, strict=True):
            os.dup2(own, descriptor)
            os.close(own)
