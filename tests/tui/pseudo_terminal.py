"""The command at a terminal of our own making: keys in, conditions on what it wrote awaited, its bytes out."""

import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 20.0
"""Seconds after which a wait has failed; no test that passes comes near."""
SGR = re.compile(rb"\x1b\[([0-9;]*)m")
ESCAPES = re.compile(rb"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|P[^\x1b]*\x1b\\|\[[0-9;?<=>$ !]*[@-~]|[@-_])")


class Terminal:
    """One process at the other end of a pseudo-terminal, and all that it has written."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int):
        self.process, self.descriptor = process, descriptor
        self.written = b""

    def await_written(self, wanted: bytes, after: int = 0) -> None:
        """Read on until `wanted` has been written behind the first `after` bytes."""
        deadline = time.monotonic() + PATIENCE
        while wanted not in self.written[after:]:
            assert time.monotonic() < deadline, f"never came: {wanted!r} in …{self.written[-2000:]!r}"
            if select.select([self.descriptor], [], [], 1)[0]:
                self.written += os.read(self.descriptor, 1 << 16)

    def type(self, keys: str) -> int:
        """Send keys; how much had been written before."""
        return self.send(keys.encode())

    def send(self, data: bytes) -> int:
        """Send bytes; how much had been written before."""
        os.write(self.descriptor, data)
        return len(self.written)

    def hang_up(self) -> None:
        """Close our end, as a terminal's window that is closed does."""
        os.close(self.descriptor)
        self.descriptor = -1

    def resize(self, columns: int, rows: int) -> int:
        before = len(self.written)
        termios.tcsetwinsize(self.descriptor, (rows, columns))
        self.process.send_signal(signal.SIGWINCH)
        return before

    def quit(self) -> int:
        """Leave with `q`; the exit code."""
        self.type("q")
        return self.left()

    def left(self) -> int:
        """The exit code, once it has been left."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "it was not left"
            self._read_rest()
        self._read_rest()
        return self.process.wait()

    def _read_rest(self) -> None:
        try:
            while select.select([self.descriptor], [], [], 0.02)[0]:
                self.written += os.read(self.descriptor, 1 << 16)
        except OSError:  # Linux's word for the end of a pseudo-terminal
            return

    @property
    def colors(self) -> set[str]:
        """The kinds of colour written: `16`, `256`, `truecolor`, each with `fg` or `bg` before it."""
        kinds: set[str] = set()
        for found in SGR.findall(self.written):
            kinds |= set(kinds_of([int(code or 0) for code in found.split(b";")]))
        return kinds

    @property
    def text(self) -> str:
        """Everything written but escape sequences."""
        return ESCAPES.sub(b"", self.written).decode()


def kinds_of(codes: list[int]) -> Iterator[str]:
    """What the parameters of one SGR sequence colour; the default colours count as none."""
    rest = iter(codes)
    for code in rest:
        where = "bg" if code in (48, *range(40, 48), *range(100, 108)) else "fg"
        if code in (38, 48):
            is_true = next(rest) == 2
            for _ in range(3 if is_true else 1):
                next(rest)
            yield f"{where} {'truecolor' if is_true else '256'}"
        elif code in (*range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108)):
            yield f"{where} 16"


@contextmanager
def terminal(
    *words: str, size: tuple[int, int] = (80, 24), stderr: int | None = None, **environ: str
) -> Iterator[Terminal]:
    """`glassllm-tui WORDS` at a terminal of this size, in this environment; stderr may lead elsewhere."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (size[1], size[0]))
    kept = {name: value for name, value in os.environ.items() if name not in ("TERM", "COLORTERM", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", *words],
        stdin=theirs, stdout=theirs, stderr=theirs if stderr is None else stderr,
        close_fds=True, start_new_session=True,
        env={**kept, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1", **environ},
    )  # fmt: skip
    os.close(theirs)
    at = Terminal(process, ours)
    try:
        yield at
    finally:
        process.kill()
        process.wait()
        if at.descriptor >= 0:
            os.close(ours)
