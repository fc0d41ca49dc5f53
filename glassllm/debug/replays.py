"""Runs taken from elsewhere, recorded again to be looked into: one generated token, one step of training."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.generation import Continuations, Sampling, Writer
from glassllm.model import NotFinite
from glassllm.trace import mark
from glassllm.train import LastStep, Training

from .recorder import record
from .runs import ModelRun, tracking
from .snapshot import RunFacts
from .tape import Tape

UNCHANGED = Sampling()  # the model's own distribution


@dataclass(frozen=True)
class TokenRun(ModelRun):
    """The pass over a text that chose its next token, by `sampling`: the model's forward, and the choice.

    `token` None: none could be chosen from its logits, so it ends with them.
    """

    sampling: Sampling = UNCHANGED
    token: int | None = None

    @classmethod
    def at(cls, tree: Continuations, token: int | None, name: str) -> Self:
        """The pass that a place in a tree was at when it went on with `token`, or could not go on."""
        seen = tree.ids()[-tree.model.config.max_len :]
        note = "one pass over the whole text, where generation ran the newest token alone and kept the rest"
        return cls(tree.model, name, seen, None, False, (note,), tree.sampling, token)

    @classmethod
    def ahead(cls, writer: Writer, name: str) -> Self:
        """The pass that chooses the writer's next token, or fails to."""
        try:
            token = writer.upcoming()[0]
        except NotFinite:
            token = None
        return cls.at(writer.tree, token, name)

    def record(self) -> tuple[Tape, RunFacts]:
        with tracking(self.tracked), record(self.model.named_parameters(), rebuilds=False) as tape:
            last = self.model.forward(np.array(self.ids)).data[0, -1]
            if self.token is not None:
                mark("probs", self.sampling.probs(last))
                mark("sample", np.array(self.token))
        return tape, self.facts(tape)


@dataclass(frozen=True)
class StepRun(ModelRun):
    """A step of training, taken again on its whole batch by the weights before its update.

    Its gradients are those before clipping. Positions are named by their numbers: each sequence has other tokens.
    """

    x: Array | None = None  # (B, n)
    y: Array | None = None
    clip_factor: float = 1.0

    @classmethod
    def again(cls, training: Training, number: int, name: str) -> Generator[tuple[int, int, str], None, Self]:
        """Any step of the run, counted from 1; yields how far the way there is. ValueError where it cannot be."""
        return cls.of_step((yield from training.step_again(number)), name)

    @classmethod
    def of_step(cls, step: LastStep, name: str) -> Self:
        ids, targets = (tuple(int(i) for i in array.reshape(-1)) for array in (step.x, step.y))
        return cls(step.model(), name, ids, targets, True, (_words(step),), step.x, step.y, step.clip_factor)

    def record(self) -> tuple[Tape, RunFacts]:
        assert self.x is not None and self.y is not None
        with tracking(self.tracked), record(self.model.named_parameters(), rebuilds=False) as tape:
            self.model.loss(self.x, self.y)
        return tape, self.facts(tape)

    def facts(self, tape: Tape, tokens: tuple[str, ...] | None = None) -> RunFacts:
        assert self.x is not None
        facts = super().facts(tape, tuple(str(i) for i in range(self.x.shape[1])))
        return replace(facts, clip_factor=self.clip_factor)


def _words(step: LastStep) -> str:
    sequences, length = step.x.shape
    clipped = "not clipped" if step.clip_factor == 1 else f"then clipped by {step.clip_factor:.4g}"
    return f"step {step.step + 1}, {sequences} sequences of {length}; gradients as they were, {clipped}"
