"""What the shell is told: the program's name, its exit codes, and faults in one line.

Nothing here imports numpy or textual.
"""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

PROGRAM = "glassllm-tui"
FAILED = 1
USAGE_FAULT = 2
INTERRUPTED = 130


def shown(message: str) -> str:
    """The message on one line, control characters as escapes: they are shown, never sent."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def refuse(message: str) -> NoReturn:
    """Print one line on stderr and leave with exit code 2."""
    print(f"{PROGRAM}: {shown(message)}", file=sys.stderr)
    raise SystemExit(USAGE_FAULT)


@contextmanager
def result() -> Iterator[None]:
    """What is written to stdout inside goes out. Leaves, saying why, where that cannot be."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where Python flushes what is left
        refuse(f"stdout: cannot be written: {error.strerror}; choose another place")


class Parser(argparse.ArgumentParser):
    """argparse, with faults in one line."""

    def _print_message(self, message: str, file: Any = None) -> None:
        with result():
            (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        refuse(f"{message.removeprefix('argument ')}; see {self.prog} --help")

    def refuse_unknown(self, word: str) -> NoReturn:
        """Leave because of a word that means nothing here, naming the nearest option."""
        known = re.findall(r"--[a-z-]+", self.format_help())
        near = difflib.get_close_matches(word.partition("=")[0], known, n=1)
        refuse(f"{word}: not understood; " + (f"did you mean {near[0]}?" if near else f"see {self.prog} --help"))
