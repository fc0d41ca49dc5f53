"""What is known of one step of a run: the numbers it reports, and all that is needed to take it again."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.config import Config
from glassllm.model import GlassLM
from glassllm.tokenizer import Tokenizer

from .divergence import Divergence


@dataclass(frozen=True)
class StepReport:
    """What one step did."""

    step: int  # from 0
    loss: float  # nats, on the batch, before the update
    lr: float
    grad_norm: float  # of all gradients, before clipping
    clip_factor: float  # what the gradients were multiplied with; 1.0: not clipped
    updates: Mapping[str, float]  # ‖Δw‖ / ‖w‖ of each group of parameters; empty where nothing was updated
    tokens: int  # trained on so far
    val_loss: float | None = None  # after the update; None: not measured at this step
    fault: Divergence | None = None  # None: nothing is wrong


@dataclass(frozen=True, eq=False)
class LastStep:
    """All that is needed to take a step again: read-only arrays, by the parameter's name where there are many.

    What a composed model computes from them is equal to the bit where the run was composed too.
    """

    step: int
    x: Array  # (B, n)
    y: Array
    config: Config
    tokenizer: Tokenizer | None
    weights: Mapping[str, Array]  # before the update
    gradients: Mapping[str, Array]  # before clipping
    clip_factor: float
    lr: float
    loss: float

    def model(self) -> GlassLM:
        """A composed model with the weights before the update, not copied."""
        return GlassLM.of(self.config, self.weights, self.tokenizer)


def group_of(name: str) -> str:
    """A parameter's group: `E`, `output`, `norm_f`; in a block `blocks.0.attn`, `blocks.0.ffn`, `….norm`."""
    owner = name.rpartition(".")[0] or name
    return owner.rstrip("0123456789")


def update_ratios(before: Mapping[str, Array], after: Mapping[str, Array]) -> dict[str, float]:
    """‖after − before‖ / ‖before‖ of each group of parameters; empty where no array was replaced."""
    if all(after[name] is old for name, old in before.items()):
        return {}
    squares: dict[str, tuple[float, float]] = {}
    for name, old in before.items():
        moved, size = squares.get(group_of(name), (0.0, 0.0))
        squares[group_of(name)] = (moved + _square_sum(after[name] - old), size + _square_sum(old))
    return {group: math.sqrt(moved / size) if size else math.inf for group, (moved, size) in squares.items()}


def _square_sum(array: Array) -> float:
    flat = array.astype(np.float64).reshape(-1)
    return float(np.dot(flat, flat))
