"""What comes from the terminal: any bytes, and pasted text with anything in it. None of it may end the program.

Beside the screen's compositor this is the one place that knows what is inside Textual: its driver gives up on
bytes that are not UTF-8, and takes an escape code in pasted text for its end, and what follows for keys.
"""

import os
import re
import select
from codecs import getincrementaldecoder
from functools import lru_cache
from typing import Any

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.message import Message

from .descriptors import terminal

START, END = "\x1b[200~", "\x1b[201~"
"""What a terminal puts around pasted text."""
ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-~])?")
CONTROL_SEQUENCE = re.compile(r"\x1b\[(?![\[M])[0-?]*[ -/]*[@-~]")
"""A whole one; what begins as keys of the Linux console or old reports of the mouse do is longer."""
ESCAPE_AND_KEY = re.compile(r"\x1b(?=[^\x00-\x1f\x7f\[O\]PX^_\\])")
"""An escape key with what was typed behind it: nothing longer begins so but keys with alt, and we have none."""
ESCAPE_KEY = "\x1b[27u"  # said in a way that nothing after it changes
FUNCTION_KEY = re.compile(r"\x1b\[(\d*)[\d:;]*([~A-S])")
"""Its number and what it ends in."""
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
MOST_READ = 1 << 12
PATIENCE = 0.1  # seconds between two looks whether to end


def plain(text: str) -> str:
    """The text without escape codes and control characters; lines and tabs stay."""
    return CONTROLS.sub("", ESCAPES.sub("", text))


def understood(text: str) -> str:
    """Keys without the control sequences that mean nothing to Textual, which would take each letter for a key.

    Only what has come whole and at once is left out: neither an escape key nor what is typed after it waits. An
    escape key that comes together with the next key, as over a slow line, stays one of its own.
    """
    known = CONTROL_SEQUENCE.sub(lambda found: found[0] if is_known(found[0]) else "", text)
    return ESCAPE_AND_KEY.sub(lambda _: ESCAPE_KEY, known)


@lru_cache(256)
def is_known(sequence: str) -> bool:
    """Whether Textual's parser makes of a sequence what it means.

    It takes the number of a function key it does not know for a letter, and ends at some numbers.
    """
    if sequence in (START, END):
        return True
    try:
        made = list(XTermParser().feed(sequence))
    except (ValueError, OverflowError):
        return False
    numbered = FUNCTION_KEY.fullmatch(sequence)
    if numbered is None or sequence in ANSI_SEQUENCES_KEYS or not any(isinstance(each, Key) for each in made):
        return bool(made)
    return f"{numbered[1] or 1}{numbered[2]}" in FUNCTIONAL_KEYS


class Intake:
    """Bytes as they come to the text they stand for; pasted text is handed on when it is complete, and plain."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._pasted: list[str] | None = None  # None: keys
        self._last = ""

    def take(self, data: bytes) -> str:
        out = []
        for character in self._decoder.decode(data):
            self._last = (self._last + character)[-len(START) :]
            if self._pasted is None:
                out.append(character)
                self._pasted = [] if self._last == START else None
            else:
                self._pasted.append(character)
                if self._last == END:
                    out.append(plain("".join(self._pasted[: -len(END)])) + END)
                    self._pasted = None
        return "".join(out)


class TerminalGone(Message):
    """There is no terminal any more to read from."""


class TerminalDriver(LinuxDriver):
    """Textual's driver for terminals, with an intake that nothing stops but the terminal's end.

    It reaches the terminal by descriptors of our own, whatever else the standard ones are used for.
    """

    def __init__(self, app: App[Any], **options: Any):
        super().__init__(app, **options)
        self.fileno, self._file = terminal()

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            columns, rows = terminal().size
        except OSError:
            columns, rows = 0, 0
        return (columns, rows) if columns and rows else super()._get_terminal_size()

    def run_input_thread(self) -> None:
        parser, intake = XTermParser(), Intake()
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], PATIENCE)[0]:
                data = self._read()
                if not data:
                    self.send_message(TerminalGone())
                    return
                if text := understood(intake.take(data)):  # an empty one would be the parser's end
                    for message in parser.feed(text):
                        self.process_message(message)
            for message in parser.tick():
                self.process_message(message)

    def _read(self) -> bytes:
        """What has come; nothing once the terminal is gone."""
        try:
            return os.read(self.fileno, MOST_READ)
        except OSError:
            return b""
