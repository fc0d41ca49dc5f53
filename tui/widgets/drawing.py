"""One daemon thread for pictures that would hold up the screen's own; it touches no Tensor.

It is never joined and never waited for, so quitting is not held up either.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

Drawn = TypeVar("Drawn")


class Drawing:
    """Draws one picture at a time; of one owner's requests that wait only the newest is drawn."""

    def __init__(self) -> None:
        self._wanted: dict[object, Callable[[], None]] = {}
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def ask(self, owner: object, work: Callable[[], Drawn], done: Callable[[Drawn | Exception], None]) -> None:
        """Do `work` in the drawing thread, and hand what it returned or raised to `done`, there."""
        with self._news:
            self._wanted[owner] = lambda: done(_result(work))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="drawing", daemon=True)
                self._thread.start()
            self._news.notify()

    def _run(self) -> None:
        while True:
            with self._news:
                while not self._wanted:
                    self._news.wait()
                job = self._wanted.pop(next(iter(self._wanted)))
            job()


def _result(work: Callable[[], Drawn]) -> Drawn | Exception:
    try:
        return work()
    except Exception as error:  # the owner says what failed; the thread goes on for others
        return error


drawing = Drawing()
