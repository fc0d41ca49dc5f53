"""A signal that ends the program ends it with the terminal as it was: the screen is left first."""

import asyncio
import signal
from collections.abc import Callable

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]


class Endings:
    """Made before the event loop, heard in it, settled after it: what a signal would have done, it does then."""

    def __init__(self) -> None:
        self._before = {number: signal.getsignal(number) for number in ENDING}
        self._heard: list[int] = []
        self._came: int | None = None

    def hear(self, leave: Callable[[], object]) -> None:
        """From now on have signals call `leave()` in the running loop; those that are ignored stay so."""
        loop = asyncio.get_running_loop()
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
        for number in self._heard:
            signal.signal(number, self._before[number])
        if self._came is not None:
            signal.raise_signal(self._came)
