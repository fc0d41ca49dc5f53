"""Training: a run under a person's hands, set up, begun, held, gone on with, and what there is to see of it.

Everything it does is done between two steps, so a run that was looked at, or held for other work, ends with the
same weights to the bit as one that was left alone.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from glassllm.autograd.ops import Array
from glassllm.checkpoint import CheckpointError
from glassllm.model import GlassLM

from .autosave import Autosave
from .corpus import Corpus, reading_corpus, unigram_entropy
from .curve import Curve
from .divergence import Divergence
from .pace import Pace
from .report import LastStep, StepReport
from .settings import RunSettings
from .trainer import Trainer

SHOWN_EVERY = 0.1  # seconds from one view to the next while a run goes on
State = Literal["not begun", "training", "paused", "done", "astray"]
News = tuple[int, int, str, object]


@dataclass(frozen=True, eq=False)
class Trained:
    """A run as it stands, frozen. Before the first step `report` and the curves are empty."""

    state: State
    settings: RunSettings
    fresh: bool  # from new weights, not from the model's
    corpus: str  # the text's name
    tokens: tuple[int, int]  # of the text: to train on, kept for validation
    unknown: int  # characters that the tokenizer lacks
    uniform: float  # nats of a guess that knows nothing
    unigram: float  # nats of one that knows how frequent each token is
    step: int  # steps done
    report: StepReport | None
    curves: Mapping[str, Array]  # (4, N) each: step, mean, lowest, highest
    best_val: tuple[int, float] | None  # step and loss
    clipped: int  # steps whose gradient was clipped
    tokens_per_second: float | None
    seconds_per_step: float | None
    seconds_left: float | None
    fault: Divergence | None
    saved: int | None  # the step that the file holds
    saved_in: str
    saving_fault: str = ""


class Training:
    """One run after another of a model, on one text. `running` takes the steps; all else is done at once."""

    def __init__(
        self, model: GlassLM, path: Path, folder: Path, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`path` is the text, not read yet; runs are saved in `folder` under `name`."""
        self.model = model
        self.path = path
        self.settings = RunSettings(seq_len=min(RunSettings.seq_len, model.config.max_len))
        self.fresh = True
        self.trainer: Trainer | None = None
        self._corpus: Corpus | None = None
        self._unigram = 0.0
        self._clock = clock
        self._pace = Pace(clock)
        self._holds = True
        self._file = _free(folder, name)
        self._autosave: Autosave | None = None

    # Before a run

    def reading(self, path: Path | None = None) -> Generator[tuple[int, int], None, None]:
        """Read the text, or another one. CheckpointError where it can't be used, and the one before stays."""
        self._refuse_midway()
        tokenizer, wanted = self.model.tokenizer, path or self.path
        if tokenizer is None:
            raise CheckpointError(wanted, "the model has no tokenizer to read it with", "open one that has")
        self._corpus = yield from reading_corpus(wanted, tokenizer, self.settings.seq_len)
        self.path, self.trainer = wanted, None
        self._unigram = unigram_entropy(self._corpus.train)

    def set(self, fresh: bool | None = None, **changes: Any) -> None:
        """Change what is settled before a run begins. ValueError for what is out of range, or too late."""
        self._refuse_midway()
        settings = replace(self.settings, **changes)
        settings.check_model(self.model.config)
        self.settings, self.trainer = settings, None
        self.fresh = self.fresh if fresh is None else fresh

    def _refuse_midway(self) -> None:
        if self.trainer is not None and self.trainer.step > 0 and not self.trainer.is_done:
            raise ValueError("a run is under way; stop it first, then the settings are free again")

    # The run

    def running(self, steps: int | None = None) -> Iterator[News | tuple[int, int] | None]:
        """Take so many steps (None: all that are left), one a slice; yields news now and then.

        It ends before the next step where `hold` was called, and where a step went astray.
        """
        if self._corpus is None:
            yield from self.reading()
        if self.trainer is None or self.trainer.is_done:
            self._begin()
        trainer, shown_at = self.trainer, 0.0
        assert trainer is not None
        self._holds = False
        goal = trainer.settings.steps if steps is None else min(trainer.step + steps, trainer.settings.steps)
        each = trainer.settings.batch_size * trainer.settings.seq_len
        self._pace.start(trainer.step, trainer.step * each)
        run = trainer.run()
        try:
            while not self._holds and (trainer.step < goal or trainer.owes_validation):
                if next(run, trainer) is trainer:
                    break
                self._pace.add(trainer.step, trainer.step * each)
                if self._autosave is not None and self._autosave.is_due:
                    yield from ((done, total) for done, total in self._autosave.saving(trainer))
                if self._clock() - shown_at >= SHOWN_EVERY:
                    shown_at = self._clock()
                    yield trainer.step, trainer.settings.steps, "", self.view()
                else:
                    yield None
        finally:
            self._holds = True
        if trainer.is_done:
            self.save()

    def _begin(self) -> None:
        assert self._corpus is not None
        model = GlassLM(self.model.config, self.settings.seed) if self.fresh else self.model
        if self.fresh:
            model.tokenizer, model.sample = self.model.tokenizer, self.model.sample
        self.trainer = Trainer(model, self._corpus.train, self.settings, self._corpus.valid)
        self._autosave = Autosave(self._file.with_suffix(".train.npz"), clock=self._clock)

    def hold(self) -> None:
        """Take no further step for now."""
        self._holds = True

    def stop(self) -> None:
        """Leave the run; the next one begins at its start, and settings may be changed."""
        self.hold()
        self.trainer = None

    def save(self) -> None:
        """Write the model, and the run so that it can be gone on with. CheckpointError where that fails."""
        if self.trainer is None or self._autosave is None:
            raise ValueError("there is no run to save yet; space begins one")
        self._autosave.save(self.trainer)
        if self._autosave.fault is not None:
            raise self._autosave.fault
        self.trainer.save_model(self._file)

    @property
    def last_step(self) -> LastStep:
        """The step finished last. ValueError before the first one."""
        if self.trainer is None or self.trainer.last_step is None:
            raise ValueError("no step is finished yet; s takes one")
        return self.trainer.last_step

    # Looking

    @property
    def state(self) -> State:
        trainer = self.trainer
        if not self._holds:
            return "training"
        if trainer is None or trainer.step == 0:
            return "not begun"
        return "done" if trainer.is_done else "paused" if trainer.fault is None else "astray"

    def view(self) -> Trained:
        """The run as it stands."""
        trainer, corpus, pace = self.trainer, self._corpus, self._pace
        none: dict[str, Curve] = {}
        best = None if trainer is None else trainer.best_val
        valid = 0 if corpus is None or corpus.valid is None else len(corpus.valid)
        step = 0 if trainer is None else trainer.step
        saved = self._autosave
        return Trained(
            state=self.state,
            settings=self.settings,
            fresh=self.fresh,
            corpus=self.path.name,
            tokens=(0 if corpus is None else len(corpus.train), valid),
            unknown=0 if corpus is None else corpus.characters_unknown,
            uniform=math.log(self.model.config.vocab_size),
            unigram=self._unigram,
            step=step,
            report=None if trainer is None else trainer.report,
            curves={name: curve.table for name, curve in (none if trainer is None else trainer.curves).items()},
            best_val=None if best is None else (best.step, best.loss),
            clipped=0 if trainer is None else trainer.clipped,
            tokens_per_second=pace.tokens_per_second,
            seconds_per_step=pace.seconds_per_step,
            seconds_left=pace.seconds_left(self.settings.steps - step),
            fault=None if trainer is None else trainer.fault,
            saved=None if saved is None else saved.saved,
            saved_in=self._file.name,
            saving_fault="" if saved is None or saved.fault is None else str(saved.fault),
        )


def _free(folder: Path, name: str) -> Path:
    """`NAME.npz` in the folder, with a number behind the name where there is a file of that name."""
    number = 1
    while True:
        path = folder / (f"{name}.npz" if number == 1 else f"{name}-{number}.npz")
        if not path.exists() and not path.with_suffix(".train.npz").exists():
            return path
        number += 1
