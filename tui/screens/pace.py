"""Playing: one step after another at a chosen speed, each taken only when the one before has been answered."""

from collections.abc import Callable

from textual.screen import Screen
from textual.timer import Timer

SPEEDS = (1, 2, 4, 8, 16, 32)  # steps a second


class Pace:
    """Plays on a screen by calling `step` until `is_over` says so."""

    def __init__(self, screen: Screen[None], step: Callable[[], object], is_ready: Callable[[], bool]):
        self._screen = screen
        self._step = step
        self._is_ready = is_ready
        self._timer: Timer | None = None
        self._speed = SPEEDS.index(4)

    @property
    def is_playing(self) -> bool:
        return self._timer is not None

    @property
    def speed(self) -> int:
        """Steps a second."""
        return SPEEDS[self._speed]

    def toggle(self) -> None:
        if self._timer is None:
            self._timer = self._screen.set_interval(1 / self.speed, self._tick, name="play")
        else:
            self.stop()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def change(self, by: int) -> None:
        """One speed faster or slower."""
        self._speed = max(0, min(self._speed + by, len(SPEEDS) - 1))
        if self._timer is not None:
            self.stop()
            self.toggle()

    def _tick(self) -> None:
        if self._is_ready():
            self._step()
