"""How long work is cut: into slices short enough that nobody waits for one, long enough to be worth cutting."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Sliced = Generator[tuple[int, int], None, Result]
"""Work that may be left where it yields (done, total)."""

STEP = 4096  # what a step that computes costs besides the elements of its arrays, in elements
LOOK = 512  # what a step costs that only looks at a row
FULL = 64 * STEP


class Slice:
    """Adds up what the steps of one slice cost; `step` is what each costs at least."""

    def __init__(self, step: int = STEP) -> None:
        self._step = step
        self._spent = 0

    def is_full(self, elements: int = 0) -> bool:
        """Count a step over so many elements; True when it was time for a pause, and then a new slice begins."""
        self._spent += self._step + elements
        if self._spent < FULL:
            return False
        self._spent = 0
        return True


def named(work: Sliced[Result], what: str) -> Generator[tuple[int, int, str], None, Result]:
    """Work that also says what it does."""
    while True:
        try:
            done, total = next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield done, total, what


def finished(work: Generator[object, None, Result]) -> Result:
    """The result of work, done to its end here and now."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
