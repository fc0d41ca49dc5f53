"""Autosave: a run's state written now and then, in such a way that a full disk never costs the run."""

import time
from collections.abc import Callable, Iterator

from glassllm.checkpoint import CheckpointError
from glassllm.files import StrPath

from .state import TrainingState, writing_state
from .trainer import Trainer

EVERY = 60.0
RETRY = 10.0


class Autosave:
    """Keeps one file up to date. `saved` is the step it holds, None before the first save; `fault` says why the
    newest attempt failed, None where it did not: the file then still holds what it held, and the run goes on.
    """

    def __init__(self, path: StrPath, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        """`every`: seconds from one save to the next."""
        self.path = path
        self.saved: int | None = None
        self.fault: CheckpointError | None = None
        self._every = every
        self._clock = clock
        self._next = clock() + every

    @property
    def is_due(self) -> bool:
        """Whether it is time to save, after a failure sooner."""
        return self._clock() >= self._next

    def saving(self, state: TrainingState) -> Iterator[tuple[int, int]]:
        """Save array by array, yielding (done, total); raises nothing where the file cannot be written."""
        try:
            yield from writing_state(self.path, state)
            self.saved, self.fault = state.run.step, None
        except CheckpointError as error:
            self.fault = error
        wait = self._every if self.fault is None else min(self._every, RETRY)
        self._next = self._clock() + wait

    def save(self, trainer: Trainer) -> bool:
        """`saving` at one go; whether it was written."""
        for _ in self.saving(trainer.state()):
            pass
        return self.fault is None
