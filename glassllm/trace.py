"""The model's named moments: the table of the 25 step ids, and the Tracer that writes them down.

The model says each event once, with `mark`. Whoever listens hears it: the Tracer of that call, which copies the
value, and the engine's hook, if one is installed. Code without events has scopes, names for what is inside.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from .autograd import tensor as engine
from .autograd.ops import Array
from .autograd.tensor import Tensor

Value = TypeVar("Value", Tensor, Array)


@dataclass(frozen=True)
class Step:
    """One event: its equation as plain text and as LaTeX, and the letters of its axes, batch left out.

    n positions, m keys, H heads, K key/value heads, c channels of a head, d channels of the stream, f hidden
    channels, V vocabulary.
    """

    id: str
    plain: str
    latex: str
    axes: tuple[str, ...]

    @property
    def in_block(self) -> bool:
        """Whether every block says it."""
        return self.id.partition(".")[0] in ("attn", "resid", "ffn") or self.id in ("norm.attn", "norm.ffn")

    @property
    def batched(self) -> bool:
        """Whether the model's own value has a batch axis in front of `axes`."""
        return self.id not in ("loss", "probs", "sample")

    @property
    def by_head(self) -> bool:
        """Whether the first of `axes` counts heads."""
        return self.axes[:1] in (("H",), ("K",))


def _norm(gamma: str) -> str:
    return r"\frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}} \odot " + gamma


def _steps(*rows: tuple[str, str, str, str]) -> dict[str, Step]:
    return {id: Step(id, plain, latex, tuple(axes.split())) for id, plain, latex, axes in rows}


STEPS: dict[str, Step] = _steps(
    ("embed", "x = E[ids]", r"x_i = E_{t_i}", "n d"),
    ("norm.attn", "a = x / √(mean(x²) + ε) · γ₁", "a = " + _norm(r"\gamma_1"), "n d"),
    ("attn.q", "q = a·W_Q, split into heads", r"q = a W_Q", "H n c"),
    ("attn.k", "k = a·W_K, split into heads", r"k = a W_K", "K n c"),
    ("attn.v", "v = a·W_V, split into heads", r"v = a W_V", "K n c"),
    ("attn.rope_q", "q′ᵢ = R(i)·qᵢ, pairs of channels turned by position i", r"q'_i = R_i q_i", "H n c"),
    ("attn.rope_k", "k′ⱼ = R(j)·kⱼ, pairs of channels turned by position j", r"k'_j = R_j k_j", "K n c"),
    ("attn.scores", "s = q′·k′ᵀ / √c", r"s = \frac{q' k'^\top}{\sqrt{c}}", "H n m"),
    ("attn.mask", "sᵢⱼ = −∞ where key j lies ahead of query i", r"s_{ij} = -\infty \quad (j > i)", "H n m"),
    ("attn.softmax", "p = softmax(s) over the keys", r"p_{ij} = \frac{e^{s_{ij}}}{\sum_l e^{s_{il}}}", "H n m"),
    ("attn.mix", "o = p·v", r"o = p v", "H n c"),
    ("attn.out", "y = joined heads of o·W_O", r"y = \operatorname{concat}(o_1, \dots, o_H) W_O", "n d"),
    ("resid.attn", "x ← x + y", r"x \leftarrow x + y", "n d"),
    ("norm.ffn", "b = x / √(mean(x²) + ε) · γ₂", "b = " + _norm(r"\gamma_2"), "n d"),
    ("ffn.gate", "g = b·W1", r"g = b W_1", "n f"),
    ("ffn.up", "u = b·W3", r"u = b W_3", "n f"),
    ("ffn.act", "h = silu(g) · u", r"h = \operatorname{silu}(g) \odot u", "n f"),
    ("ffn.down", "y = h·W2", r"y = h W_2", "n d"),
    ("resid.ffn", "x ← x + y", r"x \leftarrow x + y", "n d"),
    ("norm.final", "h = x / √(mean(x²) + ε) · γ", "h = " + _norm(r"\gamma"), "n d"),
    ("logits", "z = h·Eᵀ", r"z = h E^\top", "n V"),
    ("loss", "L = mean(−log softmax(z)[target])", r"L = -\frac{1}{n} \sum_i \log p_{i, y_i}", ""),
    ("loss.grad", "∂L/∂z = (softmax(z) − onehot(target)) / n", r"\frac{p - \operatorname{onehot}(y)}{n}", "n V"),
    ("probs", "p = softmax(z_last / T)", r"p = \operatorname{softmax}(z_n / T)", "V"),
    ("sample", "t drawn from p", r"t \sim p", ""),
)


def step(step_id: str) -> Step:
    """The step of this id. Raises KeyError, naming it, when there is none."""
    if step_id not in STEPS:
        raise KeyError(f"unknown step id {step_id!r}; the ids are {', '.join(STEPS)}")
    return STEPS[step_id]


def scope_of(step_id: str, layer: int | None) -> str:
    """`blocks.0.attn.softmax`; outside the blocks the step's own id."""
    return step_id if layer is None else f"blocks.{layer}.{step_id}"


@dataclass(frozen=True, eq=False)
class StepRecord:
    """One event of one run. `layer` is None outside the blocks, `head` where the value holds all heads."""

    id: str
    layer: int | None
    head: int | None
    value: Array
    order: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def equation(self) -> str:
        return STEPS[self.id].plain

    @property
    def latex(self) -> str:
        return STEPS[self.id].latex


@dataclass(eq=False)
class Tracer:
    """The notebook of one run: a copy of every event, in the order in which they happened."""

    records: list[StepRecord] = field(default_factory=list)

    def record(
        self, step_id: str, value: Any, layer: int | None = None, batched: bool = True, *, head: int | None = None
    ) -> StepRecord:
        """Copy `value`, a Tensor or an array, into the notebook, without its batch axis where it is `batched`.

        Raises KeyError for an unknown id, ValueError unless the batch axis is 1.
        """
        step(step_id)
        copy = np.array(value.data if isinstance(value, Tensor) else value)
        if batched:
            if copy.shape[:1] != (1,):
                raise ValueError(f"a trace needs a batch of 1, {step_id} has shape {copy.shape}")
            copy = copy[0]
        record = StepRecord(step_id, layer, head, copy, len(self.records))
        self.records.append(record)
        return record

    def get(self, step_id: str, layer: int | None = None, head: int | None = None) -> StepRecord:
        """The first record of this id, and of this layer and head where they are given.

        A head that was recorded together with the others is sliced out. Raises KeyError when nothing matches.
        """
        known = step(step_id)
        for record in self.records:
            if record.id != step_id or layer not in (None, record.layer):
                continue
            if head in (None, record.head):
                return record
            if known.by_head and record.head is None and 0 <= head < len(record.value):
                return StepRecord(record.id, record.layer, head, record.value[head], record.order)
        asked = "".join(f", {name} {n}" for name, n in (("layer", layer), ("head", head)) if n is not None)
        raise KeyError(f"nothing recorded for {step_id}{asked}")

    def step_ids(self) -> list[str]:
        """The id of every record, in order."""
        return [record.id for record in self.records]


def mark(step_id: str, value: Value, layer: int | None = None, trace: Tracer | None = None) -> Value:
    """Say that `value` is this event, to the trace and to the engine's hook; return it unchanged."""
    if trace is not None:
        trace.record(step_id, value, layer, STEPS[step_id].batched)
    if engine.hook is not None:
        engine.hook.marked(step_id, value, layer)
    return value


def is_heard(trace: Tracer | None) -> bool:
    """Whether anybody would write a mark down: a value that nobody would need not be computed."""
    return trace is not None or (engine.hook is not None and getattr(engine.hook, "is_recording", True))


_scope = ""


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Name what is computed inside, for whoever records it; nested names join with dots."""
    global _scope
    before, _scope = _scope, f"{_scope}.{name}" if _scope else name
    try:
        yield
    finally:
        _scope = before


def current_scope() -> str:
    """The names of the scopes we are in, outermost first; empty outside of all."""
    return _scope
