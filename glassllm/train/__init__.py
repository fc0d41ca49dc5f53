"""Training: batches and steps, and a run that can be watched, stopped, saved and resumed to the bit."""

from .autosave import Autosave
from .batches import evaluate, get_batch
from .corpus import Corpus, read_corpus, reading_corpus, split, unigram_entropy
from .course import Course
from .curve import Curve
from .divergence import Divergence
from .history import History
from .memory import reuse_memory
from .pace import Pace
from .report import LastStep, StepReport
from .sample import Sample
from .settings import RunSettings
from .state import TrainingState, load_run, load_state, save_state, state_path, writing_state
from .steps import Report, train, train_step, train_steps
from .trained import Trained
from .trainer import Trainer, copied
from .training import Training

__all__ = [
    "Autosave",
    "Corpus",
    "Course",
    "Curve",
    "Divergence",
    "History",
    "LastStep",
    "Pace",
    "Report",
    "RunSettings",
    "Sample",
    "StepReport",
    "Trained",
    "Trainer",
    "Training",
    "TrainingState",
    "copied",
    "evaluate",
    "get_batch",
    "load_run",
    "load_state",
    "read_corpus",
    "reading_corpus",
    "reuse_memory",
    "save_state",
    "split",
    "state_path",
    "train",
    "train_step",
    "train_steps",
    "unigram_entropy",
    "writing_state",
]
