"""Terminal drivers that notice what is painted. They are handed what a terminal gets, with all its codes."""

import os
import time

from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver

SIGNS = "BENCH_SIGNS"
"""In the environment: texts to wait for, in order, with `|` between them."""
REPORT = "BENCH_REPORT"
"""In the environment: the file descriptor to tell times on."""


class Announcing(LinuxDriver):
    """The usual driver; tells how much CPU time the process had used when each text was painted."""

    _waiting = os.environ.get(SIGNS, "").split("|")

    def write(self, data: str) -> None:
        super().write(data)
        while self._waiting and self._waiting[0] in data:
            os.write(int(os.environ[REPORT]), f"{time.process_time()}\n".encode())
            del self._waiting[0]


class Counting(HeadlessDriver):
    """Frames are made for a terminal that there is not; those of all apps together are counted."""

    frames = 0
    painted_at = 0.0
    """CPU seconds that the process had used at the last one."""

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        Counting.frames += 1
        Counting.painted_at = time.process_time()
