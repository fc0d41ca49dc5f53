"""What went wrong: a failure of the engine, or the exception that ended the user's own program.

What happened, what is kept, where it is written down. The session stays usable.
"""

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui import log
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, clean, cut, fit, segments
from tui.messages import EngineFailed

from .overlay import Overlay

if TYPE_CHECKING:
    from glassllm.debug.snapshot import Fault

WIDEST = 100
BESIDE = 16  # columns beside a fault's words
PROGRAM_ROWS = 9  # rows of a program's fault besides its words and its traceback


def barred(body: Sequence[Sequence[Span]], width: int, palette: Palette) -> list[Row]:
    """The lines with a bar in the colour of stops at the left of every row, no box."""
    bar = segments([Span("▌  ", "stop")], palette, "raised")
    return [fit([*bar, *segments(words, palette, "raised")], width, palette, "raised") for words in body]


def wrapped(text: str, width: int, lines: int = 4) -> list[str]:
    """A stranger's words in a few lines."""
    room = max(width - BESIDE, 20)
    return textwrap.wrap(clean(text), room, max_lines=lines, placeholder="…") or ["no words were given"]


def fault_rows(failed: EngineFailed, path: Path | None, width: int, palette: Palette) -> list[Row]:
    """A failure of the engine."""
    kept = "everything recorded so far; you can still browse and step back"
    written = [Span(log.shown(path)), Span("  the full traceback", "muted")] if path else [
        Span("no log: its folder cannot be written", "muted")
    ]  # fmt: skip
    body: list[list[Span]] = [
        [],
        [Span("✗ engine stopped", "stop", bold=True), Span(f"   during {failed.request}", "muted")],
        [],
        [Span("what    ", "muted"), Span(f"  {failed.kind}  ", "bright", bold=True)],
        *([Span(" " * 10), Span(line)] for line in wrapped(failed.text, width)),
        [],
        [Span("kept      ", "muted"), Span(kept)],
        [Span("log       ", "muted"), *written],
        [],
        [Span("esc", "bright", bold=True), Span(" close and browse", "muted")],
        [],
    ]
    return barred(body, width, palette)


def frames_of(fault: "Fault") -> list[str]:
    """The lines of its traceback that tell of frames: no exception's words, whatever these look like."""
    lines = list(fault.traceback)
    own = fault.text.splitlines()[1:]
    if own and lines[-len(own) :] == own:
        lines = lines[: -len(own)]
    frames: list[str] = []
    is_stack = is_group = False
    for line in lines:
        is_group = is_group or line.startswith("  + Exception Group Traceback (most recent call last)")
        bare = re.sub(r"^ *[|+] ", "", line) if is_group else line
        if re.match(r"(Exception Group )?Traceback \(most recent call last\)", bare):
            is_stack = True
        elif not bare.startswith(" "):
            is_stack = False
        elif is_stack:
            frames.append(bare)
    return frames


def program_rows(fault: "Fault", width: int, height: int, palette: Palette) -> list[Row]:
    """The exception that ended a program, with as much of its traceback as there is room for, its end first."""
    words = wrapped(fault.text, width)
    room = max(height - PROGRAM_ROWS - len(words), 1)
    shown = frames_of(fault)[-room:]
    body: list[list[Span]] = [
        [],
        [Span(f"✗ {fault.kind}", "stop", bold=True), Span("   ended the program", "muted")],
        *([Span("  "), Span(line)] for line in words),
        [],
        *([_traceback_line(line, width - 4)] for line in shown),
        [],
        [Span("kept   ", "muted"), Span("everything recorded until then")],
        [],
        [
            *(Span("esc", "bright", bold=True), Span(" close and browse   ", "muted")),
            *(Span("L", "bright", bold=True), Span(" then shows the log, with all of the traceback", "muted")),
        ],
        [],
    ]
    return barred(body, width, palette)


def _traceback_line(line: str, width: int) -> Span:
    """A file keeps the end of its name, and so its line."""
    words = line.lstrip()
    if words.startswith("File "):
        return Span(f"  {cut(clean(words), width - 2, 'tail')}", "muted")
    return Span(line, "muted" if words.startswith(("^", "~")) else "text")


class FaultScreen(Overlay):
    """Shown until closed."""

    def __init__(self, palette: Palette, failed: EngineFailed, path: Path | None):
        super().__init__(palette)
        self.failed, self.path = failed, path

    def draw(self, width: int, height: int) -> Sequence[Row]:
        return fault_rows(self.failed, self.path, min(width - 4, WIDEST), self.palette)


class ProgramFaultScreen(Overlay):
    """Shown until closed, when a program has ended so."""

    def __init__(self, palette: Palette, fault: "Fault"):
        super().__init__(palette)
        self.fault = fault

    def draw(self, width: int, height: int) -> Sequence[Row]:
        return program_rows(self.fault, min(width - 4, WIDEST), height, self.palette)
