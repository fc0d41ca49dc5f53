"""Candidates: every token that might come next, and what temperature, top-k and top-p make of its probability.

The stages are those of `Sampling`, which draws the token: each is a Sampling with one setting more.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.model import Sampling


@dataclass(frozen=True, eq=False)
class Stage:
    """The distribution behind one filter."""

    name: str  # "model", "temperature", "top-k", "top-p"
    probs: Array  # (V,) float64, read-only, summing to 1
    kept: int  # tokens that may still be drawn
    cut: float  # the probability, in the stage before, of the tokens it took away

    @cached_property
    def entropy(self) -> float:
        """In nats."""
        return entropy(self.probs)


@dataclass(frozen=True)
class Candidate:
    """One token in all stages."""

    token: int
    rank: int  # from 1, by the model's own probability
    probs: tuple[float, ...]  # one of each stage; 0 from where it was cut away
    cut_by: str | None  # the stage that took it away; None: it may be drawn
    low: float  # a number u drawn from 0 to 1 takes it where low <= u < high
    high: float


def entropy(probs: Array) -> float:
    """−Σ p·log p in nats."""
    some = probs[probs > 0]
    return float(-(some * np.log(some)).sum())


class Candidates:
    """What may follow, by the last logits (V,) and how a token is chosen. NotFinite for logits that are not."""

    def __init__(self, logits: Array, sampling: Sampling) -> None:
        self.logits = logits
        self.sampling = sampling
        self.stages = _stages(logits, sampling)
        self.order = np.argsort(-self.stages[0].probs, kind="stable")  # (V,) tokens, likeliest first

    @property
    def probs(self) -> Array:
        """(V,) of the last stage, from which is drawn."""
        return self.stages[-1].probs

    @property
    def entropy(self) -> float:
        """Of the model's own distribution, in nats."""
        return self.stages[0].entropy

    @property
    def likeliest(self) -> int:
        """The token that greedy choice takes."""
        return int(self.logits.argmax())

    @cached_property
    def _ranks(self) -> Array:
        ranks = np.empty(len(self.order), np.int64)
        ranks[self.order] = np.arange(1, len(self.order) + 1)
        return ranks

    @cached_property
    def _ends(self) -> Array:
        """(V,) where each token's share of 0 to 1 ends, as `Generator.choice` has it."""
        ends: Array = self.probs.cumsum()
        return np.asarray(ends / ends[-1])

    def surprisal(self, token: int) -> float:
        """−log p in nats, p the model's own probability; Inf where that is 0."""
        p = float(self.stages[0].probs[token])
        return float(-np.log(p)) if p > 0 else float("inf")

    def of(self, token: int) -> Candidate:
        """One token. IndexError for one that is not in the vocabulary."""
        if not 0 <= token < len(self.order):
            raise IndexError(f"token {token} is not from 0 to {len(self.order) - 1}")
        probs = tuple(float(stage.probs[token]) for stage in self.stages)
        steps = zip(self.stages[1:], probs, probs[1:], strict=False)
        cut_by = next((stage.name for stage, before, after in steps if before > 0 == after), None)
        low = float(self._ends[token - 1]) if token else 0.0
        return Candidate(token, int(self._ranks[token]), probs, cut_by, low, float(self._ends[token]))

    def top(self, count: int) -> tuple[Candidate, ...]:
        """The `count` likeliest by the model's own probability."""
        return tuple(self.of(int(token)) for token in self.order[:count])

    def choose(self, rng: np.random.Generator) -> int:
        """Take a token as `model.generate` does; greedy choice draws nothing from rng."""
        return self.sampling.choose(self.logits, self.probs, rng)


def _stages(logits: Array, sampling: Sampling) -> tuple[Stage, ...]:
    """At least the model's own distribution and that at the temperature; a limit that is not set has no stage."""
    warm = replace(sampling, top_k=None, top_p=None)
    filters = {"model": Sampling(), "temperature": warm}
    if sampling.top_k is not None:
        filters["top-k"] = replace(warm, top_k=sampling.top_k)
    if sampling.top_p is not None:
        filters["top-p"] = sampling
    stages: list[Stage] = []
    for name, each in filters.items():
        probs = each.probs(logits)
        probs.flags.writeable = False
        gone = stages[-1].probs[probs == 0] if len(stages) > 1 else np.zeros(0)
        stages.append(Stage(name, probs, int(np.count_nonzero(probs)), float(gone.sum())))
    return tuple(stages)
