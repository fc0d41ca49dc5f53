"""Training: a run under a person's hands, set up, begun, held, gone on with, and what there is to see of it.

Everything it does is done between two steps, so a run that was looked at, or held for other work, ends with the
same weights to the bit as one that was left alone.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassllm.checkpoint import CheckpointError
from glassllm.model import GlassLM
from glassllm.tokenizer import Tokenizer

from .corpus import Corpus, reading_corpus, unigram_entropy
from .course import Course, Progress
from .history import Rerun
from .pace import Pace
from .report import LastStep
from .saved import free_file, model_file, place_for, unfinished
from .settings import RunSettings
from .state import TrainingState, load_state, state_path
from .trained import State, Trained
from .trainer import NO_STEP, Trainer

SHOWN_EVERY = 0.1  # seconds from one view to the next while a run goes on
News = tuple[int, int, str, object]


class Training:
    """One run after another of a model, on one text. What may last is a generator that does it slice by slice."""

    def __init__(
        self, model: GlassLM, path: Path, folder: Path, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`path` is the text, not read yet; runs are saved in `folder` under `name`."""
        self.model = model
        self.path = path
        self.settings = RunSettings(seq_len=min(RunSettings.seq_len, model.config.max_len))
        self.fresh = True
        self.course: Course | None = None
        self._corpus: Corpus | None = None
        self._is_reading = False  # the text, for a run that begins
        self._unigram = 0.0
        self._clock = clock
        self._pace = Pace(clock)
        self._folder, self._name = folder, name
        self._look_for_files()

    def _look_for_files(self) -> None:
        """Where the next run is saved, and which one could be gone on with instead."""
        self._file = free_file(self._folder, self._name)
        self._unfinished = unfinished(self._folder, self._name, self.model.config)

    @property
    def trainer(self) -> Trainer | None:
        """That of the run; None before it begins."""
        return None if self.course is None else self.course.trainer

    # Before a run

    def reading(self, path: Path | None = None) -> Generator[Progress, None, None]:
        """Read the text, or another one. CheckpointError where it can't be used, and the one before stays."""
        self._refuse_midway()
        wanted, tokenizer = path or self.path, self.model.tokenizer
        if tokenizer is None:
            raise CheckpointError(wanted, "the model has no tokenizer to read it with", "open one that has")
        corpus = yield from reading_corpus(wanted, tokenizer, self.settings.seq_len)
        self._refuse_midway()
        self.leave()
        self._take(corpus, wanted)

    def _take(self, corpus: Corpus, path: Path) -> None:
        self._corpus, self.path = corpus, path
        self._unigram = unigram_entropy(corpus.train)

    def set(self, fresh: bool | None = None, **changes: Any) -> None:
        """Change what is settled before a run begins. ValueError for what is out of range, or too late."""
        self._refuse_midway()
        settings = replace(self.settings, **changes)
        settings.check_model(self.model.config)
        self.leave()
        self.settings = settings
        self.fresh = self.fresh if fresh is None else fresh

    def _refuse_midway(self) -> None:
        if self.trainer is not None and self.trainer.step > 0 and not self.trainer.is_done:
            raise ValueError("a run is under way; stop it first, then the settings are free again")

    def resuming(self, path: Path | None = None) -> Generator[Progress, None, None]:
        """Go on with a saved run, in its own file; None: the newest unfinished one of this name.

        It stands there held. ValueError for one that cannot be gone on with; then all is as it was.
        """
        self._refuse_midway()
        file = state_path(path) if path is not None else self._newest()
        state = load_state(file)
        tokenizer = self._check_resumed(state, file)
        corpus = yield from reading_corpus(self.path, tokenizer, state.run.settings.seq_len)
        self._refuse_midway()
        try:
            trainer = Trainer.of(state, corpus.train, corpus.valid)
        except ValueError:
            fault = f"not the text that the run in {file.name} began with"
            raise CheckpointError(self.path, fault, "name that one with `text`, then resume") from None
        self._take(corpus, self.path)
        self.settings = trainer.settings
        self._pace = Pace(self._clock)
        self.course = Course(trainer, model_file(file), self._clock)
        self.course.autosave.saved = trainer.step

    def _newest(self) -> Path:
        if self._unfinished is None:
            raise ValueError(f"no unfinished run of {self._name} in {self._folder}; name one: resume PATH")
        return self._unfinished[0]

    def _check_resumed(self, state: TrainingState, file: Path) -> Tokenizer:
        """The tokenizer to read the text with."""
        done = state.run.step
        if state.config != self.model.config:
            raise CheckpointError(file, "a run of a model of other sizes than the one open", "open that model")
        if done >= state.run.settings.steps:
            raise CheckpointError(file, f"all of its {done} steps are done", "begin another run")
        if (tokenizer := state.tokenizer or self.model.tokenizer) is None:
            raise CheckpointError(file, "the model has no tokenizer to read a text with", "open one that has")
        return tokenizer

    # The run

    def running(self, steps: int | None = None) -> Iterator[News | Progress | None]:
        """Take so many steps (None: all that are left), one a slice; yields news now and then.

        It ends before the next step where `hold` was called, and where a step went astray.
        """
        yield from self._having_read()
        if self.course is None or self.course.trainer.is_done:
            self._begin()
        assert self.course is not None
        course, trainer, shown_at = self.course, self.course.trainer, 0.0
        last = trainer.settings.steps
        each = trainer.settings.batch_size * trainer.settings.seq_len
        counted = trainer.step
        self._pace.start(counted, counted * each)
        for news in course.running(steps):
            if trainer.step != counted:
                counted = trainer.step
                self._pace.add(counted, counted * each)
            if news is None and self._clock() - shown_at >= SHOWN_EVERY:
                shown_at = self._clock()
                yield trainer.step, last, "", self.view()
            else:
                yield news

    def _having_read(self) -> Iterator[Progress | None]:
        """Read the text where it was not yet; of several who want to go on, one reads and the others wait."""
        while self._corpus is None:
            if self._is_reading:
                yield None
                continue
            self._is_reading = True
            try:
                yield from self.reading()
            finally:
                self._is_reading = False

    def _begin(self) -> None:
        assert self._corpus is not None
        self.leave()
        self._look_for_files()  # again: others may have saved theirs since this was opened
        model = GlassLM(self.model.config, self.settings.seed) if self.fresh else self.model
        if self.fresh:
            model.tokenizer, model.sample = self.model.tokenizer, self.model.sample
        trainer = Trainer(model, self._corpus.train, self.settings, self._corpus.valid)
        self.course = Course(trainer, self._file, self._clock)

    def hold(self) -> None:
        """Take no further step for now."""
        if self.course is not None:
            self.course.is_held = True

    def stopping(self) -> Iterator[Progress | None]:
        """Save the run where it has steps that no file holds, then `leave`. CheckpointError where that fails: the
        run is then still there, held."""
        self.hold()
        course = self.course
        if course is not None:
            yield from course.keeping()
        if self.course is course:
            self.leave()

    def leave(self) -> None:
        """Leave the run as its files are; the next one begins at its start, and settings may be changed."""
        if self.course is not None:
            self.hold()
            self.course = None
            self._look_for_files()

    def saving(self, path: Path | None = None) -> Iterator[Progress | None]:
        """Write the model, and the run so that it can be gone on with. CheckpointError where that fails.

        `path`: from now on there, under this name or in this folder. ValueError where something is there already.
        """
        if self.course is None:
            raise ValueError("there is no run to save yet; space begins one")
        if path is None:
            yield from self.course.saving()
        else:
            yield from self.course.moving(place_for(path, self._name))

    def validating(self) -> Iterator[Progress | None]:
        """Measure the validation loss of the weights as they are; the run is not changed by it.

        ValueError before the first step, and without a text for it.
        """
        yield from self._begun().validating()

    # Steps

    @property
    def last_step(self) -> LastStep:
        """The step finished last. ValueError before the first one."""
        step = self._begun().trainer.last_step
        if step is None:
            raise ValueError(NO_STEP)
        return step

    def step_again(self, number: int) -> Rerun:
        """Take a step of this run again, counted from 1, and return it, the same to the bit as it was.

        Yields how far the way there is, from the nearest state known; the run itself is not changed by it.
        ValueError for a step that cannot be.
        """
        return self._begun().history.again(number)

    def _begun(self) -> Course:
        if self.course is None or self.course.trainer.step == 0:
            raise ValueError(NO_STEP)
        return self.course

    # Looking

    @property
    def state(self) -> State:
        course = self.course
        if course is not None and not course.is_held:
            return "training"
        if course is None or course.trainer.step == 0:
            return "not begun"
        trainer = course.trainer
        return "done" if trainer.is_done else "paused" if trainer.fault is None else "astray"

    def view(self) -> Trained:
        """The run as it stands."""
        course, corpus, pace, settings = self.course, self._corpus, self._pace, self.settings
        valid = 0 if corpus is None or corpus.valid is None else len(corpus.valid)
        file = self._file if course is None else course.file
        before = Trained(
            state=self.state,
            settings=settings,
            fresh=self.fresh,
            corpus=self.path.name,
            tokens=(0 if corpus is None else len(corpus.train), valid),
            unknown=0 if corpus is None else corpus.characters_unknown,
            uniform=math.log(self.model.config.vocab_size),
            unigram=self._unigram,
            saved_in=file.name,
            run_file=state_path(file).name,
        )
        if course is None:
            found = self._unfinished
            return (
                before if found is None else replace(before, resumable=found[0].name, resumable_step=found[1].step)
            )
        trainer, autosave = course.trainer, course.autosave
        best = trainer.best_val
        return replace(
            before,
            step=trainer.step,
            report=trainer.report,
            curves={name: curve.table for name, curve in trainer.curves.items()},
            best_val=None if best is None else (best.step, best.loss),
            clipped=trainer.clipped,
            tokens_per_second=pace.tokens_per_second,
            seconds_per_step=pace.seconds_per_step,
            seconds_left=pace.seconds_left(settings.steps - trainer.step),
            fault=trainer.fault,
            saved=autosave.saved,
            saving_fault="" if autosave.fault is None else autosave.fault.fault,
            checkpoint=course.checkpoint,
            sample=course.sample,
            resumed=course.began or None,
            earliest=course.history.first + 1 if trainer.step > course.history.first else None,
        )
