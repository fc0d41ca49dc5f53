"""A signal that ends the program ends it with the terminal as it was: the screen is left first.

A process that a user's program forks meanwhile inherits all of that, down to the socket by which the event loop is
told of signals: there, signals are its own again before any can reach it.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
OF_SCREEN = [getattr(signal, name) for name in ("SIGWINCH", "SIGTSTP", "SIGCONT") if hasattr(signal, name)]
"""Those that Textual hears."""


class Endings:
    """Made before the event loop, heard in it, settled after it: what a signal would have done, it does then."""

    def __init__(self) -> None:
        self._before = {number: signal.getsignal(number) for number in ENDING}
        self._heard: list[int] = []
        self._came: int | None = None

    def hear(self, leave: Callable[[], object]) -> None:
        """From now on have signals call `leave()` in the running loop; those that are ignored stay so."""
        global heard
        heard, loop = self, asyncio.get_running_loop()
        for number, handler in self._before.items():
            if handler is signal.SIG_IGN:
                continue
            try:
                loop.add_signal_handler(number, self._note, number, leave)
            except (NotImplementedError, RuntimeError, ValueError):
                return  # on Windows and outside the main thread there is none to be had
            self._heard.append(number)

    def _note(self, number: int, leave: Callable[[], object]) -> None:
        self._came = number
        leave()

    def settle(self) -> None:
        """Signals do again what they did before; one that came does it now."""
        global heard
        heard = None
        for number in self._heard:
            signal.signal(number, self._before[number])
        if self._came is not None:
            signal.raise_signal(self._came)

    def forget(self) -> None:
        """In a forked process: signals do what they did before, and the loop is told nothing."""
        signal.set_wakeup_fd(-1)
        for number in self._heard:
            signal.signal(number, self._before[number])
        for number in OF_SCREEN:
            signal.signal(number, signal.SIG_DFL)


heard: Endings | None = None
"""What hears signals just now."""
_masks = threading.local()


def _hold() -> None:
    """Before a fork: a signal for the child waits until it is its own."""
    _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, [*ENDING, *OF_SCREEN])


def _go_on() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _masks.before)


def _begin() -> None:
    if heard is not None:
        heard.forget()
    _go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_go_on, after_in_child=_begin)
