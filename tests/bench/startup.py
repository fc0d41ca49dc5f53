"""From the shell to something on the screen, in child processes with a terminal of their own."""

import os
import pty
import selectors
import subprocess
import sys
import termios
from pathlib import Path

from .driver import REPORT, SIGNS
from .table import Result

ROOT = Path(__file__).resolve().parents[2]
IMPORTING = [
    "-c",
    f"import textual.app, os, time; os.write(int(os.environ['{REPORT}']), b'%f' % time.process_time())",
]
COMMAND = ["-m", "tui.cli", "samples/tiny.npz"]
SEEN = ("opening…", "embed")
"""On the loading frame, and then in the list of events."""
ROUNDS = 9


def measure() -> list[Result]:
    """Both moments against importing Textual's App: CPU time of all threads of a fresh process."""
    imports, loading, event = [], [], []
    for _ in range(ROUNDS + 1):
        imports += cpu_times(IMPORTING, 1)
        for times, seen in zip((loading, event), cpu_times(COMMAND, len(SEEN)), strict=True):
            times.append(seen)
    for times in (imports, loading, event):
        del times[0]  # compiled modules and warmed the file cache
    return [
        Result("start to the loading frame / importing textual.app", loading, imports, 2.2),
        Result("start to the first event in the list / importing textual.app", event, imports, 4),
    ]


def cpu_times(words: list[str], count: int) -> list[float]:
    """Run Python on a 160x45 terminal and kill it once it has told `count` times; these, in seconds."""
    terminal, screen = pty.openpty()
    termios.tcsetwinsize(screen, (45, 160))
    told, telling = os.pipe()
    settings = {
        SIGNS: "|".join(SEEN),
        REPORT: str(telling),
        "TEXTUAL_DRIVER": "tests.bench.driver:Announcing",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    child = subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, env=os.environ | settings,
        stdin=screen, stdout=screen, stderr=screen, pass_fds=[telling], start_new_session=True,
    )  # fmt: skip
    os.close(screen)
    os.close(telling)
    try:
        return read_times(told, terminal, count)
    finally:
        child.kill()
        child.wait()
        os.close(terminal)
        os.close(told)


def read_times(told: int, terminal: int, count: int) -> list[float]:
    """Read `count` times; all that is painted meanwhile is read too, so that the child never waits for us."""
    words = painted = b""
    with selectors.DefaultSelector() as ready:
        ready.register(told, selectors.EVENT_READ)
        ready.register(terminal, selectors.EVENT_READ)
        while len(words.split()) < count:
            found = {key.fd for key, _ in ready.select()}
            if told in found:
                news = os.read(told, 1 << 12)
                if not news:
                    raise RuntimeError(f"the command ended early:\n{painted.decode(errors='replace')[-2000:]}")
                words += news
            elif terminal in found:
                painted = os.read(terminal, 1 << 16)
    return [float(word) for word in words.split()]
