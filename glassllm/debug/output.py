"""What a program prints: lines of both streams in order, so many and so long that they can be kept.

Bytes are taken as UTF-8; what is none shows as �. A carriage return starts its line anew, as a progress bar means.
"""

import codecs
import io
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal, TextIO

from .numerals import counted
from .snapshot import Line

Name = Literal["out", "err"]
DESCRIPTORS: dict[Name, int] = {"out": 1, "err": 2}
MOST_LINES = 10_000
LONGEST = 4_000  # characters of a line


class Output:
    """The newest lines, and how many there were. Whatever is printed also goes to `echo`, if any.

    `before` is called before something printed by Python is taken: what was printed by other ways comes first.
    """

    def __init__(self, echo: TextIO | None = None):
        self._ended = 0  # lines that have their end, kept or not
        self.before: Callable[[], object] = lambda: None
        self._echo = echo
        self._process = os.getpid()
        self._is_closed = False
        self._lines: deque[Line] = deque(maxlen=MOST_LINES)
        self._begun: dict[Name, str] = {"out": "", "err": ""}  # lines that are not ended yet
        self._lock = threading.RLock()  # a thread may come by again, when it meets a __del__ that prints

    def stream(self, name: Name) -> TextIO:
        """A text file to print to; its `buffer` takes bytes."""
        return io.TextIOWrapper(Decoded(name, self.write), "utf-8", "backslashreplace", write_through=True)

    def write(self, name: Name, text: str) -> None:
        """Take what Python prints. A child process, which has only a copy of all this, hands it to its parent."""
        if self.is_copy:
            os.write(DESCRIPTORS[name], text.encode("utf-8", "backslashreplace"))
            return
        self.before()
        self.take(name, text)

    @property
    def is_copy(self) -> bool:
        """Whether this is a child process, forked since: what it takes nobody reads."""
        return os.getpid() != self._process

    def take(self, name: Name, text: str) -> None:
        """Take a piece of a stream."""
        with self._lock:
            if self._is_closed or not text:
                return
            self._end_others(name)
            *ended, begun = (self._begun[name] + text).split("\n")
            for line in ended:
                self._end(name, line)
            self._begun[name] = _newest(begun)[:LONGEST]
            if self._echo is not None:
                self._echo.write(text)
                self._echo.flush()

    def end(self) -> None:
        """Take no more."""
        with self._lock:
            self._is_closed = True

    def _end_others(self, name: Name) -> None:
        """What the other stream has begun came before this."""
        for other, begun in self._begun.items():
            if other != name and begun:
                self._end(other, begun)
                self._begun[other] = ""

    def _end(self, name: Name, line: str) -> None:
        text = _newest(line).rstrip("\r")
        self._ended += 1
        self._lines.append(Line(name, text if len(text) <= LONGEST else text[:LONGEST] + "…"))

    @property
    def count(self) -> int:
        """How many lines there were, those that have no end yet among them."""
        with self._lock:
            return self._ended + sum(map(bool, self._begun.values()))

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is kept, lines that have no end yet among it, under a line that says how many are not."""
        with self._lock:
            begun = [Line(name, text) for name, text in self._begun.items() if text]
            gone = self._ended - len(self._lines)
            said = [Line("err", f"… {counted(gone, 'earlier line')} not kept")] if gone else []
            return (*said, *self._lines, *begun)


def split(lines: Sequence[Line]) -> tuple[int, Sequence[Line]]:
    """How many lines are not kept, as the first of them may say, and those that are."""
    said = re.fullmatch(r"… (\d+) earlier lines? not kept", lines[0].text) if lines else None
    return (int(said[1]), lines[1:]) if said else (0, lines)


def _newest(line: str) -> str:
    """What stands after the last carriage return that something follows."""
    start = line.rfind("\r", 0, len(line.rstrip("\r"))) + 1
    return line[start:]


class Decoded(io.BufferedIOBase):
    """The bytes below a stream, handed on as text."""

    def __init__(self, name: Name, take: Callable[[Name, str], object]):
        self.name: Name = name
        self._take = take
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        content = bytes(data)
        self._take(self.name, self._decoder.decode(content))
        return len(content)
