"""Course: one run with all that comes with it: its past, its samples, and the two files it is saved in."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from glassllm.checkpoint import CheckpointError

from .autosave import Autosave
from .batches import EVALUATION_BATCHES
from .history import History
from .sample import Sample, beginning, writing_sample
from .state import state_path
from .trainer import Trainer

Progress = tuple[int, int]


class Course:
    """Several of its generators may be alive at a time, slices in any order: the run stays the same to the bit.

    `began` is the step it began or was resumed at, `checkpoint` the one whose weights `file` holds (None: not
    written yet), `sample` what was written at the newest validation. `is_held`: no further step is taken.
    """

    def __init__(self, trainer: Trainer, file: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """`file` is the model's, NAME.npz; the run is saved beside it."""
        self.trainer = trainer
        self.file = file
        self._clock = clock
        self.autosave = Autosave(state_path(file), clock=clock)
        self.history = History(trainer, self.autosave)
        self.began = trainer.step
        self.checkpoint: int | None = None
        self.sample: Sample | None = None
        self.is_held = True
        self._goal = 0  # the step up to which they are taken
        self._beginning = () if trainer.val_data is None else beginning(trainer.model.sample, trainer.val_data)

    def running(self, steps: int | None = None) -> Iterator[Progress | None]:
        """Take so many steps (None: all that are left), one a slice, each with what it calls for: validation, a
        sample, a save.

        It ends before the next step where `is_held` is set, and where a step went astray. Asked for while single
        steps are taken, steps come behind these; else who asks last says how far all of them go.
        """
        trainer, run = self.trainer, self.trainer.run()
        last = trainer.settings.steps
        is_stepping = not self.is_held and self._goal < last
        self._goal = last if steps is None else min((self._goal if is_stepping else trainer.step) + steps, last)
        self.is_held = False
        try:
            yield from self._sampling()
            while not self.is_held and (trainer.step < self._goal or trainer.owes_validation):
                if next(run, trainer) is trainer:
                    break
                self.history.keep()
                yield None
                yield from self._sampling()
                if self.autosave.is_due and not trainer.owes_validation:
                    yield from self.autosave.saving(trainer.state())
        finally:
            self.is_held = True
        yield from self._ending()

    def validating(self) -> Iterator[Progress | None]:
        """Measure validation behind the newest step, a batch a slice, and write a sample.

        ValueError before the first step, and without a text for it.
        """
        self.trainer.ask_validation()
        yield from self._measuring()
        yield from self._ending()

    def _measuring(self) -> Iterator[Progress | None]:
        """What is owed of validation, and the sample that goes with it."""
        trainer, done = self.trainer, 0
        while trainer.owes_validation:
            trainer.measure()
            done += 1
            yield done, EVALUATION_BATCHES
        yield from self._sampling()

    def _ending(self) -> Iterator[Progress | None]:
        """A run whose steps are all taken is saved."""
        if self.trainer.is_done and self.checkpoint != self.trainer.step:
            yield from self.saving()

    def _sampling(self) -> Iterator[None]:
        """Write the sample that the validation of these weights calls for, where there is none yet."""
        trainer, step = self.trainer, self.trainer.validated
        if 0 < step == trainer.step and self._is_news(step):
            sample = yield from writing_sample(trainer.frozen(), self._beginning, step)
            if self._is_news(step):  # another of these may have been quicker
                self.sample = sample

    def _is_news(self, step: int) -> bool:
        return self.sample is None or self.sample.step < step

    def keeping(self) -> Iterator[Progress | None]:
        """Write the run, to go on with, unless its file holds it already. CheckpointError where that fails."""
        while self.trainer.owes_validation:
            yield from self._measuring()
        if self.trainer.step != (self.autosave.saved or 0):
            yield from self._writing_run()

    def saving(self) -> Iterator[Progress | None]:
        """Write the run, to go on with, and the model, both as they are now. CheckpointError where that fails."""
        while self.trainer.owes_validation:
            yield from self._measuring()
        step, model = self.trainer.step, self.trainer.writing_model(self.file)
        yield from self._writing_run()
        yield from model
        self.checkpoint = step

    def moving(self, file: Path) -> Iterator[Progress | None]:
        """`saving`, from now on in another place. CheckpointError where that fails; then it stays where it was."""
        before = self.file, self.autosave
        self._save_in(file, Autosave(state_path(file), clock=self._clock))
        try:
            yield from self.saving()
        except CheckpointError:
            self._save_in(*before)
            raise

    def _save_in(self, file: Path, autosave: Autosave) -> None:
        self.file, self.autosave, self.history.file = file, autosave, autosave

    def _writing_run(self) -> Iterator[Progress]:
        yield from self.autosave.saving(self.trainer.state())
        if self.autosave.fault is not None:
            raise self.autosave.fault
