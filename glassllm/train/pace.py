"""Pace: how fast a run goes, from the clock's own time between steps, pauses left out."""

import time
from collections import deque
from collections.abc import Callable

WINDOW = 50  # steps; the rate is that of the last ones


class Pace:
    """Steps and tokens a second, everything counted that the run spends time on, validation and saving too."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int, int]] = deque(maxlen=WINDOW + 1)  # time, steps, tokens

    def start(self, steps: int, tokens: int) -> None:
        """Begin, or go on after a pause, with so many steps and tokens done."""
        self._marks.clear()
        self.add(steps, tokens)

    def add(self, steps: int, tokens: int) -> None:
        """Say that by now so many steps and tokens are done."""
        self._marks.append((self._clock(), steps, tokens))

    @property
    def tokens_per_second(self) -> float | None:
        """None until a step has ended."""
        seconds, _, tokens = self._passed()
        return tokens / seconds if seconds > 0 else None

    @property
    def seconds_per_step(self) -> float | None:
        """None until a step has ended."""
        seconds, steps, _ = self._passed()
        return seconds / steps if steps else None

    def seconds_left(self, steps: int) -> float | None:
        """How long so many more steps take at this pace; None until a step has ended."""
        each = self.seconds_per_step
        return None if each is None else each * steps

    def _passed(self) -> tuple[float, int, int]:
        if not self._marks:
            return 0.0, 0, 0
        (began, first, before), (now, last, after) = self._marks[0], self._marks[-1]
        return now - began, last - first, after - before
