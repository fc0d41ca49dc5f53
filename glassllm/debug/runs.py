"""What is run: a model and its ids, and how a run of them becomes a recording that can be made again."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from glassllm.autograd import tensor as engine
from glassllm.autograd.ops import Array
from glassllm.autograd.ops.language import softmax_np
from glassllm.model import GlassLM
from glassllm.tokenizer import texts

from .recorder import record
from .snapshot import CommandError, RunFacts
from .tape import Tape

DEFAULT_TEXT = "Once upon a time"
DEFAULT_LENGTH = 12
NO_LOSS = "one token has no next one: no loss"


@dataclass(frozen=True)
class ModelRun:
    """A model, the ids that run, the targets of the loss (None: no loss), and `notes` on what was assumed."""

    model: GlassLM
    name: str
    ids: tuple[int, ...]
    targets: tuple[int, ...] | None
    tracked: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: GlassLM,
        text: str | None = None,
        ids: Iterable[int] | None = None,
        targets: Iterable[int] | None = None,
        name: str = "model",
        tracked: bool = True,
    ) -> Self:
        """Each id's target is the next one, unless `targets` are given; by default the checkpoint's sample runs.

        Raises CommandError for what the model cannot run.
        """
        given, notes = _ids(model, text, ids)
        wanted = None if targets is None else [int(t) for t in targets]
        longest = model.config.max_len + (wanted is None)
        if len(given) > longest:
            notes.append(f"took the first {longest} of {len(given)} tokens, max_len is {model.config.max_len}")
            given = given[:longest]
        if wanted is None and len(given) > 1:
            given, wanted = given[:-1], given[1:]
        if wanted is None:
            notes.append(NO_LOSS)
        made = cls(model, name, tuple(given), _tuple(wanted), tracked, tuple(notes))
        made._check()
        return made

    def with_targets(self, targets: Sequence[int] | None) -> Self:
        """The same ids with other targets; None: without a loss."""
        notes = tuple(note for note in self.notes if note != NO_LOSS)
        changed = replace(self, targets=_tuple(targets), notes=notes)
        changed._check()
        return changed

    def with_tracking(self, tracked: bool) -> Self:
        """The same run, with or without a graph."""
        return replace(self, tracked=tracked)

    def _check(self) -> None:
        size = self.model.config.vocab_size
        for what, ids in (("ids", self.ids), ("targets", self.targets or ())):
            if (wrong := next((i for i in ids if not 0 <= i < size), None)) is not None:
                raise CommandError(f"{what} go from 0 to {size - 1}, got {wrong}")
        if self.targets is not None and len(self.targets) != len(self.ids):
            raise CommandError(f"{len(self.ids)} ids need {len(self.ids)} targets, got {len(self.targets)}")

    def record(self) -> tuple[Tape, RunFacts]:
        """Run it now, tracked or not as it says."""
        ids = np.array(self.ids)
        names = self.model.named_parameters()
        with tracking(self.tracked), record(names, rebuilds=False) as tape:
            if self.targets is None:
                self.model.forward(ids)
            else:
                self.model.loss(ids, np.array(self.targets))
        return tape, self.facts(tape)

    def facts(self, tape: Tape, tokens: tuple[str, ...] | None = None) -> RunFacts:
        """What there is to say of a recording of this run; `tokens` None: the texts of its ids."""
        return RunFacts(
            name=self.name,
            tokens=texts(self.model.tokenizer, self.ids) if tokens is None else tokens,
            ids=self.ids,
            targets=self.targets or (),
            vocabulary=vocabulary(self.model),
            dtype=str(self.model.E.dtype),
            tracked=self.tracked,
            fused=self.model.fused,
            loss=loss_of(tape),
            events=len(tape.events),
            nodes=tape.node_count,
            parameters=sum(p.size for p in self.model.parameters()),
            notes=self.notes,
        )


def _tuple(ids: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if ids is None else tuple(ids)


def loss_of(tape: Tape) -> float | None:
    """The last loss that the run named; None where it named none that is one number."""
    losses = [tape.rows[event.row].array for event in tape.events if event.step == "loss"]
    return float(losses[-1].item()) if losses and losses[-1].size == 1 else None


def value_at_root(tape: Tape) -> float | None:
    """What traversals start from by default, where that is one number."""
    root = tape.default_root
    return None if root is None or tape.rows[root].array.size != 1 else float(tape.rows[root].array.item())


def graph_facts(tape: Tape, name: str) -> RunFacts:
    """What there is to say of a recording that no model run made; its loss is then what its root is."""
    rows = tape.rows
    return RunFacts(
        name=name,
        tokens=(),
        ids=(),
        targets=(),
        vocabulary=(),
        dtype=str(rows.arrays[tape.forward[-1]].dtype) if tape.forward else "",
        tracked=any(map(rows.is_tracked, tape.forward)),
        fused=False,
        loss=loss_of(tape) if tape.events else value_at_root(tape),
        events=len(tape.events),
        nodes=tape.node_count,
        parameters=sum(array.size for row, array in enumerate(rows.arrays) if rows.is_parameter(row)),
    )


def _ids(model: GlassLM, text: str | None, ids: Iterable[int] | None) -> tuple[list[int], list[str]]:
    """The ids asked for, and what to say about them."""
    if ids is not None:
        found = [int(i) for i in ids]
        if not found:
            raise CommandError("give at least one id")
        return found, []
    if text is None and model.sample is not None and len(model.sample):
        return [int(i) for i in model.sample], []
    if model.tokenizer is None:
        if text is not None:
            raise CommandError("this model came without a tokenizer; give ids instead of text")
        return list(range(min(DEFAULT_LENGTH, model.config.vocab_size))), ["no sample, no tokenizer: ids from 0"]
    found = model.tokenizer.encode(DEFAULT_TEXT if text is None else text)
    if not found:
        raise CommandError("the text is empty; give at least one character")
    return found, []


def vocabulary(model: GlassLM) -> tuple[str, ...]:
    """The text of every id; empty without a tokenizer."""
    return () if model.tokenizer is None else texts(model.tokenizer, range(model.config.vocab_size))


def next_tokens(logits: Array, vocabulary: Sequence[str], k: int = 10) -> list[tuple[str, float]]:
    """The k likeliest next tokens by one row of logits (V,), likeliest first, with their probabilities.

    An id without a text in `vocabulary` is named by its number. NaN logits give nothing.
    """
    row = np.asarray(logits, np.float64)
    if not row.size or np.isnan(row).any() or not np.isfinite(row.max()):
        return []
    probs = softmax_np(row)
    best = np.argsort(-probs, kind="stable")[:k]
    return [(vocabulary[i] if i < len(vocabulary) else str(i), float(probs[i])) for i in best]


@contextmanager
def tracking(on: bool) -> Iterator[None]:
    """Build graphs in here, or build none."""
    before = engine.set_tracking(on)
    try:
        yield
    finally:
        engine.set_tracking(before)
