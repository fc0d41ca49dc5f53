"""Leaving while something still runs, a user's thread or the engine's slice: nobody waits for it."""

import contextlib
import os
import sys
import threading
from typing import NoReturn

LEAVE = os._exit
"""As it is before a program runs, which is ended by os._exit alone."""


def is_kept_alive(before: set[threading.Thread]) -> bool:
    """Whether threads that were not there before would keep the process alive."""
    return any(not thread.daemon for thread in set(threading.enumerate()) - before)


def abandon(code: int) -> NoReturn:
    """Leave at once, and leave none of the processes behind that Python would end."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # who read it may have left
            stream.flush()
    if (processes := sys.modules.get("multiprocessing")) is not None:
        for child in processes.active_children():
            if child.daemon:
                child.kill()
    LEAVE(code)
