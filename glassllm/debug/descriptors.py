"""The standard descriptors while a program runs: what its child processes and libraries in C print through them is
part of its output, and what they would read is empty.

What Python itself prints does not come this way. Before a piece of it is taken, all that came this way is, so both
stand in the order in which they were printed.
"""

import ctypes
import os
import selectors
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TextIO

from .output import DESCRIPTORS, Decoded, Output

ROOM = 1 << 20  # bytes that a pipe is to hold: all that C prints while none of our threads can run has to fit
HAS_PIPES = sys.platform != "win32"


class Pipes:
    """One pipe for each stream of an output, read by a thread until nobody can write into it any more."""

    def __init__(self, output: Output):
        self.ends: dict[int, int] = {}  # to write into, by the descriptor that each stands in for
        self._open: dict[int, Decoded] = {}  # what is still written into, by the end to read
        self._lock = threading.RLock()  # a thread may come by again, when it meets a __del__ that prints
        for name, descriptor in DESCRIPTORS.items():
            reading, self.ends[descriptor] = os.pipe()
            os.set_blocking(reading, False)
            _enlarge(reading)
            self._open[reading] = Decoded(name, output.take)
        threading.Thread(target=self._read, name="output", daemon=True).start()

    def take(self) -> None:
        """Hand on what has come."""
        with self._lock:
            for end in tuple(self._open):
                self._taken(end)

    def _read(self) -> None:
        with selectors.DefaultSelector() as selector:
            for end in self._open:
                selector.register(end, selectors.EVENT_READ)
            while self._open:
                for key, _ in selector.select():
                    with self._lock:
                        if not self._taken(key.fd):
                            selector.unregister(key.fd)
                            os.close(key.fd)
                            del self._open[key.fd]

    def _taken(self, end: int) -> bool:
        """Hand on what has come by one pipe; False where nothing will come any more."""
        try:
            data = os.read(end, ROOM)
        except BlockingIOError:
            return True
        self._open[end].write(data)
        return bool(data)


@contextmanager
def captured(output: Output) -> Iterator[None]:
    """Inside, descriptors 1 and 2 lead into the output and 0 gives nothing; afterwards the output takes no more.

    On Windows, and where one of the three is closed, they stay as they are.
    """
    with ExitStack() as undone:
        undone.callback(output.end)
        if HAS_PIPES:
            with suppress(OSError):
                _turn(output, undone)
        yield


def _turn(output: Output, undone: ExitStack) -> None:
    saved = {}
    for descriptor in (0, *DESCRIPTORS.values()):
        saved[descriptor] = os.dup(descriptor)
        undone.callback(os.close, saved[descriptor])
    pipes = Pipes(output)
    undone.callback(pipes.take)
    output.before = pipes.take
    turned = {0: os.open(os.devnull, os.O_RDONLY), **pipes.ends}
    flush()
    for descriptor, other in turned.items():
        os.dup2(other, descriptor)
        os.close(other)
        undone.callback(os.dup2, saved[descriptor], descriptor)
    undone.callback(flush)


def flush() -> None:
    """Write out what Python and C hold back of what was printed, while it still goes where it was to go."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            with suppress(OSError, ValueError):  # who read it may have left, and it may be closed
                stream.flush()
    ctypes.CDLL(None).fflush(None)


def _enlarge(pipe: int) -> None:
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # a user may have only so many that are large
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, ROOM)


@contextmanager
def apart(stream: TextIO | None) -> Iterator[TextIO | None]:
    """A stream to the same place by a descriptor of its own, which stays when the standard ones lead elsewhere."""
    try:
        descriptor = None if stream is None else os.dup(stream.fileno())
    except (OSError, ValueError):  # it has none
        descriptor = None
    if stream is None or descriptor is None:
        yield stream
        return
    with open(descriptor, "w", encoding=stream.encoding, errors=stream.errors) as own:
        yield own
