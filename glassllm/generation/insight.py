"""Insight: one pass over a text, and what can be read off it: each layer's own guess, and who looks at whom.

The logit lens takes the residual stream behind a block for the last one: through the final norm and the output
matrix (nostalgebraist, "interpreting GPT: the logit lens", 2020).
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from glassllm.autograd import Tensor, matmul, no_grad, softmax_np, transpose
from glassllm.autograd.ops import Array
from glassllm.model import GlassLM
from glassllm.trace import StepRecord, Tracer

from .candidates import entropy

KEPT = ("embed", "resid.ffn", "attn.softmax")


@dataclass(frozen=True, eq=False)
class Lens:
    """What each layer would have said at one position, the embedding first, the model itself last."""

    names: tuple[str, ...]  # "embed", "blocks.0", …
    probs: Array  # (layers + 1, V) float64, read-only

    @cached_property
    def entropies(self) -> tuple[float, ...]:
        """In nats, one a layer."""
        return tuple(entropy(row) for row in self.probs)

    def first(self, count: int) -> "Lens":
        """What so many of the layers would have said."""
        return Lens(self.names[:count], self.probs[:count])

    def top(self, count: int) -> Array:
        """(layers + 1, count) tokens, likeliest first."""
        return np.argsort(-self.probs, axis=-1, kind="stable")[:, :count]

    def ranks(self, token: int) -> tuple[int, ...]:
        """The rank of a token in each layer, from 1."""
        above = self.probs > self.probs[:, token : token + 1]
        return tuple(int(n) + 1 for n in above.sum(axis=-1))


class Insight:
    """The last pass over a text. `ids` (n,) are those it saw, `start` how many stand before them.

    `notes` may be of a pass with a cache: what is said of its positions is then said of those that ran.
    """

    def __init__(self, model: GlassLM, ids: Array, start: int, notes: Tracer) -> None:
        self.ids = ids
        self.start = start
        self._model = model
        self._notes = notes

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of what the lens is held to."""
        return ("embed", *(f"blocks.{layer}" for layer in range(self._model.config.n_layers)))

    @no_grad()
    def lens(self, position: int = -1) -> Lens:
        """Every layer's guess at what follows this position of `ids`."""
        records = [self._notes.get("embed"), *(r for r in self._notes.records if r.id == "resid.ffn")]
        x = Tensor(np.stack([record.value[position] for record in records])[None])  # (1, layers + 1, d)
        model = self._model
        output = transpose(model.E) if model.config.tied else model.output
        logits = matmul(model.norm_f(x), output).data[0]
        probs = softmax_np(logits.astype(np.float64))
        probs.flags.writeable = False
        return Lens(self.streams, probs)

    def attention(self, layer: int, head: int | None = None) -> Array:
        """Weights (n, n) of one head over the text, rows the positions that look; (H, n, n) for None.

        KeyError for a layer or head that does not exist.
        """
        weights = self._notes.get("attn.softmax", layer, head).value
        weights.flags.writeable = False
        return weights


class Notes(Tracer):
    """A notebook that keeps the streams and the attention, and nothing else."""

    def record(
        self, step_id: str, value: Any, layer: int | None = None, batched: bool = True, *, head: int | None = None
    ) -> StepRecord:
        if step_id in KEPT:
            return super().record(step_id, value, layer, batched, head=head)
        return StepRecord(step_id, layer, head, np.zeros(0), len(self.records))


@no_grad()
def look(model: GlassLM, ids: ArrayLike) -> Insight:
    """Run the end of a text (n,), as much as the model takes, composed and without a cache, and take notes."""
    row = np.asarray(ids).reshape(-1)
    seen = row[-model.config.max_len :]
    notes = Notes()
    composed(model).forward(seen, trace=notes)
    return Insight(model, seen, len(row) - len(seen), notes)


def composed(model: GlassLM) -> GlassLM:
    """The same model, its weights shared, whose events can be heard."""
    made = copy(model)
    made.fused = False
    return made
