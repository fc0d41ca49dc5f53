"""Trained: what there is to see of a run, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from glassllm.autograd.ops import Array

from .divergence import Divergence
from .report import StepReport
from .sample import Sample
from .settings import RunSettings

State = Literal["not begun", "training", "paused", "done", "astray"]


@dataclass(frozen=True, eq=False)
class Trained:
    """A run as it stands. Before the first step `report` and the curves are empty; after a resume `report` is."""

    state: State
    settings: RunSettings
    fresh: bool  # from new weights, not from the model's
    corpus: str  # the text's name
    tokens: tuple[int, int]  # of the text: to train on, kept for validation
    unknown: int  # characters that the tokenizer lacks
    uniform: float  # nats of a guess that knows nothing
    unigram: float  # nats of one that knows how frequent each token is
    saved_in: str  # NAME.npz, the model
    run_file: str  # NAME.train.npz, the run, to go on with
    step: int = 0  # steps done
    report: StepReport | None = None
    curves: Mapping[str, Array] = field(default_factory=dict)  # (4, N) each: step, mean, lowest, highest
    best_val: tuple[int, float] | None = None  # step, from 0, and loss
    clipped: int = 0  # steps whose gradient was clipped
    tokens_per_second: float | None = None
    seconds_per_step: float | None = None
    seconds_left: float | None = None
    fault: Divergence | None = None
    saved: int | None = None  # the step at which `run_file` holds the run; None: not written yet
    saving_fault: str = ""
    checkpoint: int | None = None  # the step whose weights `saved_in` holds; None: not written yet
    sample: Sample | None = None  # written at the newest validation; None: there was none yet
    resumed: int | None = None  # the step at which the run was gone on with from its file; None: begun here
    resumable: str = ""  # before a run: the file of an unfinished one of this model; empty: there is none
    resumable_step: int = 0  # steps that it has done
    earliest: int | None = None  # the first step, from 1, that can be taken again; None: none is done

    @property
    def is_best_kept(self) -> bool:
        """Whether `saved_in` holds the weights with the best validation loss."""
        return (
            self.checkpoint is not None and self.best_val is not None and self.checkpoint == self.best_val[0] + 1
        )
