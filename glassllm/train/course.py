"""Course: one run with all that comes with it: its past, its samples, and the two files it is saved in."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

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
        self.autosave = Autosave(state_path(file), clock=clock)
        self.history = History(trainer, self.autosave)
        self.began = trainer.step
        self.checkpoint: int | None = None
        self.sample: Sample | None = None
        self.is_held = True
        self._beginning = () if trainer.val_data is None else beginning(trainer.model.sample, trainer.val_data)

    def running(self, goal: int) -> Iterator[Progress | None]:
        """Take the steps up to `goal`, one a slice, each with what it calls for: validation, a sample, a save.

        It ends before the next step where `is_held` is set, and where a step went astray.
        """
        trainer, run = self.trainer, self.trainer.run()
        self.is_held = False
        try:
            yield from self.sampling()
            while not self.is_held and (trainer.step < goal or trainer.owes_validation):
                if next(run, trainer) is trainer:
                    break
                self.history.keep()
                yield None
                yield from self.sampling()
                if self.autosave.is_due and not trainer.owes_validation:
                    yield from self.autosave.saving(trainer.state())
        finally:
            self.is_held = True
        if trainer.is_done:
            yield from self.saving()

    def validating(self) -> Iterator[Progress | None]:
        """Measure validation behind the newest step, a batch a slice, and write a sample.

        ValueError before the first step, and without a text for it.
        """
        trainer, done = self.trainer, 0
        trainer.ask_validation()
        while trainer.owes_validation:
            trainer.measure()
            done += 1
            yield done, EVALUATION_BATCHES
        yield from self.sampling()

    def sampling(self) -> Iterator[None]:
        """Write the sample that the validation of these weights calls for, where there is none yet."""
        trainer, step = self.trainer, self.trainer.validated
        if 0 < step == trainer.step and (self.sample is None or self.sample.step != step):
            self.sample = yield from writing_sample(trainer.frozen(), self._beginning, step)

    def saving(self) -> Iterator[Progress | None]:
        """Write the run, to go on with, and the model, both as they are now. CheckpointError where that fails."""
        trainer = self.trainer
        while trainer.owes_validation:
            trainer.measure()
            yield None
        step, model = trainer.step, trainer.writing_model(self.file)
        yield from self.autosave.saving(trainer.state())
        if self.autosave.fault is not None:
            raise self.autosave.fault
        yield from model
        self.checkpoint = step
