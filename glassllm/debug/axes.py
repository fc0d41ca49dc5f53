"""What the axes of a shown array count: heads, queries, keys, tokens, channels.

A language model run drops its batch of one. An event's axes follow from its step id; what else is computed for
the event shares them where it has the same shape, and takes plain numbers otherwise.
"""

from collections.abc import Sequence

from glassllm.autograd.ops import Array
from glassllm.trace import STEPS

from .snapshot import Axis, Event, Row, RunFacts

LETTERS = {
    "n": "token",
    "m": "key",
    "H": "head",
    "K": "head",
    "c": "channel",
    "d": "channel",
    "f": "hidden",
    "V": "vocabulary",
}
POSITIONS = {  # what the positions of an attention step are, where not simply tokens
    **dict.fromkeys(("attn.q", "attn.rope_q", "attn.scores", "attn.mask", "attn.softmax", "attn.mix"), "query"),
    **dict.fromkeys(("attn.k", "attn.v", "attn.rope_k"), "key"),
}
PARAMETERS = {"E": ("vocabulary", "channel"), "gamma": ("channel",), "output": ("channel", "vocabulary")}
WEIGHT = ("in", "out")
MOVES_AXES = ("reshape", "transpose")  # of what they make, a shape like the event's says nothing


class Axes:
    """The axes of one run's rows, and its arrays as they are shown."""

    def __init__(self, run: RunFacts, rows: Sequence[Row], events: Sequence[Event]):
        self._run = run
        self._rows = rows
        self._event_of = {event.path: event for event in events}
        self._events = events

    def is_batched(self, row: Row) -> bool:
        """Whether the row has a batch of one in front that nobody wants to see."""
        if not self._run.tokens or row.kind == "leaf" or row.array.shape[:1] != (1,):
            return False
        if row.event >= 0:
            step = STEPS.get(self._events[row.event].step)
            return step is not None and step.batched and row.array.ndim == len(step.axes) + 1
        return row.array.ndim > 2

    def shown(self, row: Row, array: Array) -> Array:
        """The row's array, or another of its shape, as it is shown."""
        return array[0] if self.is_batched(row) else array

    def shape(self, row: Row) -> tuple[int, ...]:
        return row.array.shape[1:] if self.is_batched(row) else row.array.shape

    def of(self, row: Row) -> tuple[Axis, ...]:
        shape = self.shape(row)
        return tuple(
            Axis(name, self._labels(name, size)) for name, size in zip(self._names(row), shape, strict=True)
        )

    def _names(self, row: Row) -> tuple[str, ...]:
        while row.name == "repeat_kv" and self._is_like_its_input(row):
            row = self._rows[row.inputs[0]]  # more heads, the same axes
        shape = self.shape(row)
        if self._run.tokens:
            for names in (_parameter(row), self._by_event(row, shape), self._by_size(row, shape)):
                if len(names) == len(shape):
                    return names
        return tuple(f"axis {i}" for i in range(len(shape)))

    def _is_like_its_input(self, row: Row) -> bool:
        return bool(row.inputs) and len(self.shape(row)) == len(self.shape(self._rows[row.inputs[0]]))

    def _by_event(self, row: Row, shape: tuple[int, ...]) -> tuple[str, ...]:
        """The names that the row's own event, or the one it works for, gives to this shape."""
        if row.event < 0 and row.name in MOVES_AXES:
            return ()
        event = self._events[row.event] if row.event >= 0 else self._event_of.get(row.scope)
        if event is None or event.step not in STEPS:
            return ()
        step, whole = STEPS[event.step], self.shape(self._rows[event.row])
        names = tuple(POSITIONS.get(step.id, LETTERS[a]) if a == "n" else LETTERS[a] for a in step.axes)
        names = ("batch",) * (len(whole) - len(names)) + names
        fits = len(shape) == len(whole) and all(n in (1, m) for n, m in zip(shape, whole, strict=True))
        return names if fits else ()

    def _by_size(self, row: Row, shape: tuple[int, ...]) -> tuple[str, ...]:
        """The names of a matrix that has one row per token, or one column per entry of the vocabulary."""
        if row.kind == "leaf" or len(shape) != 2:
            return ()
        last = "vocabulary" if shape[1] == len(self._run.vocabulary) else "channel"
        return ("token" if shape[0] == len(self._run.tokens) else "channel", last)

    def _labels(self, name: str, size: int) -> tuple[str, ...] | None:
        if name in ("token", "query", "key") and size == len(self._run.tokens):
            return self._run.tokens
        if name == "vocabulary" and size == len(self._run.vocabulary):
            return self._run.vocabulary
        return None


def _parameter(row: Row) -> tuple[str, ...]:
    return PARAMETERS.get(row.name.rpartition(".")[2], WEIGHT) if row.parameter else ()
