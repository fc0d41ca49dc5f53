"""Playback: the events in which one token comes about, each a moment that can be stopped at and looked into.

They are those of `generate(trace=True)`: the model's forward as it ran with its cache, the whole prompt at first
and then the newest token alone, and after it the distribution drawn from and the token taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.trace import STEPS, StepRecord, Tracer, scope_of

from .candidates import Candidates

MEANINGS = {
    "embed": "each id's row of the embedding matrix opens the residual stream",
    "norm.attn": "the stream at unit scale, as attention reads it",
    "attn.q": "what each position asks for, head by head",
    "attn.k": "what each position can be found by",
    "attn.v": "what each position hands on when it is looked at",
    "attn.rope_q": "queries turned by position: scores then depend on distance",
    "attn.rope_k": "keys turned by position",
    "attn.scores": "how well each query fits each key, those in the cache included",
    "attn.mask": "no position may look ahead",
    "attn.softmax": "how much each position looks at each other; rows sum to 1",
    "attn.mix": "the values, mixed by these weights",
    "attn.out": "the heads joined and brought back to the stream's channels",
    "resid.attn": "what attention found is added to the stream",
    "norm.ffn": "the stream at unit scale, as the feed-forward part reads it",
    "ffn.gate": "how far each hidden channel opens",
    "ffn.up": "what each hidden channel would pass on",
    "ffn.act": "what the gates let through",
    "ffn.down": "the hidden channels brought back to the stream's",
    "resid.ffn": "the block's last word is added to the stream",
    "norm.final": "the stream at unit scale, as the output matrix reads it",
    "logits": "how well the stream fits each token of the vocabulary",
    "probs": "logits made probabilities, after temperature, top-k and top-p",
    "sample": "one token is taken; it is the next input",
}
"""What each event is for, in one line."""


@dataclass(frozen=True, eq=False)
class Moment:
    """One event of one token: where it stands in the token's events, from 1, and its read-only value."""

    number: int
    step: str
    layer: int | None
    value: Array

    @property
    def scope(self) -> str:
        """`blocks.0.attn.softmax`, or the step's own id outside the blocks."""
        return scope_of(self.step, self.layer)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def axes(self) -> tuple[str, ...]:
        """The letters of `STEPS`, one an axis."""
        return STEPS[self.step].axes

    @property
    def equation(self) -> str:
        return STEPS[self.step].plain

    @property
    def meaning(self) -> str:
        return MEANINGS[self.step]


def total(layers: int) -> int:
    """Events of a token: 77 with four layers."""
    inside = sum(STEPS[step].in_block for step in MEANINGS)
    return layers * inside + len(MEANINGS) - inside


def moments(trace: Tracer, candidates: Candidates | None, token: int | None) -> tuple[Moment, ...]:
    """The forward's events, then `probs` and `sample`, which are missing where no token can be drawn."""
    ends = []
    if candidates is not None and token is not None:
        ends = [("probs", candidates.probs), ("sample", _frozen(np.array(token)))]
    records = [(record.id, record.layer, record.value) for record in trace.records]
    told = [*records, *((step, None, value) for step, value in ends)]
    return tuple(Moment(number, *each) for number, each in enumerate(told, 1))


def sections(records: Sequence[StepRecord]) -> tuple[tuple[int, int], ...]:
    """First and last event, from 1, of the embedding, of each block and of what follows them."""
    layers = [record.layer for record in records]
    count = len(layers) + 2  # probs and sample end it
    starts = [1, *(i + 1 for i in range(1, len(layers)) if layers[i] != layers[i - 1])]
    ends = [start - 1 for start in starts[1:]]
    return tuple(zip(starts, [*ends, count], strict=True))


def _frozen(value: Array) -> Array:
    value.flags.writeable = False
    return value
