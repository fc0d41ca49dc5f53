"""A tape's rows, events and what custom ops sent, row by row into columns."""

import json
from array import array
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from glassllm.autograd.graph import Node
from glassllm.autograd.ops import OPS
from glassllm.debug.recorder import BY_HAND
from glassllm.debug.rows import KINDS, PARAMETER, TRACKED
from glassllm.debug.slices import LOOK, Slice, Sliced
from glassllm.debug.snapshot import Origin, Row
from glassllm.debug.tape import Tape
from glassllm.debug.traversal import Traversal
from glassllm.files import brief

from .arrays import Pools
from .columns import CUSTOM, PLACE
from .encoding import Fault, encode
from .fit import NUMPY_FAULTS
from .indices import check_values
from .shapes import SHAPES, is_saved, result_shape
from .texts import Numbered, line_of, packed

COUNTS = ("shape", "axes", "axis", "repeats")


class Table:
    """The columns of one tape, as they grow."""

    def __init__(self, tape: Tape, vocabulary: tuple[str, ...]) -> None:
        self.tape = tape
        self._vocabulary = vocabulary
        self._texts = Numbered()
        self.pools = Pools(self._texts)
        self._columns: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self._origins: dict[tuple[Origin, ...], int] = {}
        self._fitting: dict[tuple[Any, ...], bool] = {}  # of each kind of row, whether an op of ours made it

    def filling(self) -> Sliced[None]:
        """Enter all rows and events. Raises Fault for numbers that cannot be recorded."""
        pace = Slice(4 * LOOK)
        for row in self.tape.rows:
            if pace.is_full(row.array.size // 8):
                yield row.id, len(self.tape.rows)
            self._add(row)
        for event in self.tape.events:
            layer = 0 if event.layer is None else event.layer + 1
            self._put(event_rows=event.row, event_steps=self._text(event.step), event_layers=layer)

    def columns(self) -> dict[str, Any]:
        """All of them, once nothing more is added."""
        made: dict[str, Any] = {
            "leaves": self.tape.leaves,
            "created": self._created(),
            "input_starts": [0, *self._columns["input_starts"]],
            "saved_starts": [0, *self._columns["saved_starts"]],
        }
        made["text_bytes"], made["text_starts"] = packed(self._texts)
        made["word_bytes"], made["word_starts"] = packed(self._vocabulary)
        return defaultdict(list, {**self._columns, **self.pools.columns(), **made})

    def _created(self) -> Sequence[int]:
        """The tracked nodes, oldest first; none where they are as their rows."""
        newest_first = self.tape.newest_first
        return [] if list(newest_first) == sorted(newest_first, reverse=True) else newest_first[::-1]

    def add_sent(self, traversal: Traversal) -> int:
        """Enter what custom ops sent in a traversal; how many did."""
        flags, count = self._columns["flags"], 0
        for visit, row in enumerate(traversal.records.rows):
            if flags[row] & CUSTOM and traversal.records.gradient(visit) is not None:
                count += 1
                self._put(senders=row)
                for sent in traversal.records[visit].contributions:
                    self._put(sent=0 if sent is None else self.pools.ref(sent) + 1)
        return count

    def _put(self, **numbers: int) -> None:
        for name, number in numbers.items():
            self._columns[name].append(number)

    def _text(self, text: str) -> int:
        return self._texts.number(line_of(text))

    # Rows

    def _add(self, row: Row) -> None:
        try:
            ref = self.pools.ref(row.array)
        except Fault as fault:
            raise Fault(f"row {row.id}, {row.name}: {fault}") from None
        place = self.tape.place_of[row.id]
        flags = KINDS.index(row.kind) | TRACKED * isinstance(place, Node) | PARAMETER * row.parameter
        flags |= PLACE * (row.kind == "leaf" and place is not None)
        name, attrs = line_of(row.name), ""
        if row.kind == "node":
            self._add_inputs(row, place)
            name, attrs, is_custom = self._op(row, place)
            flags |= CUSTOM * is_custom
        result = self.pools.ref(place.y) if isinstance(place, Node) else ref
        self._put(
            flags=flags,
            names=self._texts.number(name),
            scopes=self._text(row.scope),
            attrs=self._texts.number(attrs),
            origins=self._lines(row.made_at),
            arrays=ref,
            results=result,
            input_starts=len(self._columns["sources"]),
            saved_starts=len(self._columns["saved"]),
        )

    def _lines(self, made_at: tuple[Origin, ...]) -> int:
        if made_at not in self._origins:
            lines = [[line_of(file), number, line_of(function)] for file, number, function in made_at]
            self._origins[made_at] = self._texts.number(json.dumps(lines) if lines else "")
        return self._origins[made_at]

    def _add_inputs(self, row: Row, place: Any) -> None:
        """The rows a node took, and what the graph tells: their arrays at the time, and where gradients go."""
        is_node, arrays = isinstance(place, Node), self.tape.rows.arrays
        for slot, source in enumerate(row.inputs):
            taken = self.pools.ref(place.arrays[slot] if is_node else arrays[source])
            self._put(sources=source, taken=taken, carried=int(is_node and place.inputs[slot] is not None))

    def _op(self, row: Row, place: Any) -> tuple[str, str, bool]:
        """The op and its attributes; a custom one where it is not ours, or was used as ours cannot be."""
        try:
            attrs = {name: encode(_plain(name, value), self.pools.ref) for name, value in row.attrs.items()}
            saved = [self.pools.ref(np.asarray(value)) for value in row.saved]
            text = _json(attrs)
            if self._is_ours(row, place, text):
                self._columns["saved"].extend(saved)
                return row.name, text, False
        except Fault:
            pass  # what cannot be written belongs to an op that cannot be run again
        return BY_HAND if row.name in OPS else line_of(row.name), _json(self._shown(row.attrs)), True

    def _is_ours(self, row: Row, place: Any, attrs: str) -> bool:
        """Whether our op of that name made this row, of shapes and attributes as it takes them."""
        op = row.op
        if op is None or op.name not in SHAPES or OPS.get(op.name) is not op:
            return False
        arrays = place.arrays if isinstance(place, Node) else [self.tape.rows.arrays[s] for s in row.inputs]
        shapes, saved = tuple(a.shape for a in arrays), tuple(np.shape(value) for value in row.saved)
        kind = (op.name, attrs, shapes, saved, row.array.shape)
        if kind not in self._fitting:
            self._fitting[kind] = _fits(row, shapes, saved)
        return self._fitting[kind]

    def _shown(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Attributes of a custom op, which are only looked at: as text where they are not data."""
        shown: dict[str, Any] = {}
        for name, value in attrs.items():
            try:
                shown[name] = encode(value, self.pools.ref)
            except Fault:
                shown[name] = brief(value)
        return shown


def _fits(row: Row, shapes: Any, saved: Any) -> bool:
    assert row.op is not None, f"row {row.id} is of no op"
    attrs = {name: _plain(name, value) for name, value in row.attrs.items()}
    try:
        found = result_shape(row.op, shapes, attrs)
        check_values(row.op, shapes, attrs, row.array.shape)
    except NUMPY_FAULTS:
        return False
    return found in (None, row.array.shape) and is_saved(row.op, shapes, row.array.shape, saved)


def _plain(name: str, value: Any) -> Any:
    """The attribute as it will be read: axes as a number or a list, other scalars of NumPy as arrays."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    return value.tolist() if name in COUNTS else np.asarray(value)


def _json(attrs: dict[str, Any]) -> str:
    return json.dumps(attrs, separators=(",", ":"), allow_nan=False) if attrs else ""
