"""Recording: a hook that writes every op and event down on a tape, and a tape made of a graph that exists.

What the engine makes is frozen, what users made is copied: a tape stays true whatever its user does next. In a
user's own program the results are the user's too.
"""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from glassllm.autograd import graph
from glassllm.autograd import tensor as engine
from glassllm.autograd.ops import Array, Op
from glassllm.autograd.tensor import Tensor
from glassllm.trace import current_scope

from .kept import is_same
from .masks import masked_by
from .origins import made_at
from .slices import Slice, Sliced, finished
from .snapshot import Event, Origin, Row
from .tape import Tape

BY_HAND = "custom"  # the op of a Tensor built with parents and backward: its array is a user's


class Place(NamedTuple):
    """Where a node was made: its scope, and the lines of the program that made it."""

    scope: str
    made_at: tuple[Origin, ...]


Known = WeakKeyDictionary[graph.Node, Place]
NOWHERE = Place("", ())
NO_ATTRS: dict[str, Any] = {}


class Recorder:
    """The engine's hook while a run is recorded; `outer`, the hook that was there, hears everything first.

    `freezes`: results become read-only; otherwise they are kept as users' arrays are. `rebuilds`: the nodes are
    made once more on what is kept of their arrays, because the program may write into its own at any time, as an
    optimizer does after every step. `known` says where the nodes of earlier recordings were made, and is told of
    this one's.
    """

    def __init__(
        self,
        names: Mapping[str, Tensor] | None = None,
        outer: engine.Hook | None = None,
        freezes: bool = True,
        rebuilds: bool = False,
        known: Known | None = None,
    ):
        self.tape = Tape()
        self._outer = outer
        self._freezes = freezes
        self._rebuilds = rebuilds
        self._known = known
        self._names = {tensor: name for name, tensor in by_name(names).items()}
        self._untracked: WeakKeyDictionary[Tensor, int] = WeakKeyDictionary()
        self._constants: dict[int, int] = {}  # id of an array the tape holds -> its row
        self._inputs = 0
        self._unsealed = 0  # rows from here on are not in an event yet
        self._scope = ""

    # What the engine says

    def applied(
        self, op: Op, inputs: tuple[Tensor, ...], attrs: dict[str, Any], saved: tuple[Any, ...], result: Tensor
    ) -> None:
        if self._outer is not None:
            self._outer.applied(op, inputs, attrs, saved, result)
        sources = tuple([self._source(op, slot, tensor) for slot, tensor in enumerate(inputs)])
        if self._freezes:
            _freeze(op, inputs, result.data)
        place = Place(current_scope(), made_at())
        arrays = tuple([tensor.data for tensor in inputs])
        row = self._add_node(op, sources, arrays, attrs, saved, result.data, result.node, place)
        if result.node is None:
            self._untracked[result] = row
        elif self._known is not None:
            self._known[result.node] = place

    def marked(self, step_id: str, value: Tensor | Array, layer: int | None) -> None:
        if self._outer is not None:
            self._outer.marked(step_id, value, layer)
        row = None
        if isinstance(value, Tensor):
            row = self._row_of(value)
            if row is None and value.node is not None:
                row = self.adopt(value.node)
        if row is None or self.tape.rows[row].kind == "leaf":
            array = value.data if isinstance(value, Tensor) else value
            note = Row(len(self.tape.rows), "note", step_id, "", np.array(array), made_at=made_at())
            row = self.tape.add(note)
        event = Event(len(self.tape.events), step_id, layer, row)
        self.tape.events.append(event)
        if self.tape.rows[row].event < 0:
            self.tape.change(row, event=event.order)
        self._seal(event.path)

    def traversed(self, root: Tensor, seed: Array) -> None:
        if self._outer is not None:
            self._outer.traversed(root, seed)

    def name(self, names: Mapping[str, Tensor]) -> None:
        """Call the leaves recorded so far by these names; those that take a gradient become parameters."""
        for name, tensor in by_name(names).items():
            row = self._row_of(tensor)
            if row is None and tensor.place is None:
                row = self._constants.get(id(tensor.data))
            if row is not None and self.tape.rows[row].kind == "leaf":
                self.tape.change(row, name=name, parameter=tensor.requires_grad)
                self._names.setdefault(tensor, name)

    def _seal(self, scope: str) -> None:
        """All rows since the last event work for this one."""
        rows = self.tape.rows
        for row in range(self._unsealed, len(rows)):
            rows.put(row, scope)
        self._unsealed = len(self.tape.rows)
        self._scope = scope

    def close(self) -> Tape:
        """The tape, once the run is over: what came after the last event belongs to it."""
        tape = self.tape
        order = {name: i for i, name in enumerate(self._names.values())}
        rows = tape.rows
        for row in range(self._unsealed, len(rows)):
            rows.put(row, rows.scopes[row] or self._scope)
        tape.leaves = [row for row in range(len(rows)) if rows.kind(row) == "leaf" and rows.is_tracked(row)]
        tape.leaves.sort(key=lambda row: order.get(rows.names[row], len(order)))
        if self._rebuilds:  # the program's own nodes are its own again
            tape.row_of = WeakKeyDictionary(tape.row_of)
        return tape

    # Rows

    def _row_of(self, tensor: Tensor) -> int | None:
        if tensor.place is None:
            return self._untracked.get(tensor)
        return self.tape.row_of.get(tensor.place)

    def _source(self, op: Op, slot: int, tensor: Tensor) -> int:
        """The row of an input, made now if this is its first use."""
        row = self._row_of(tensor)
        if row is not None:
            return row
        if tensor.node is not None:
            return self.adopt(tensor.node)
        row = self._add_leaf(op, slot, tensor.place, tensor.data)
        if tensor.place is None:
            self._untracked[tensor] = row
        return row

    def adopt(self, node: graph.Node) -> int:
        """Rows for a node made before the recording, and for all that is behind it and unknown."""
        return finished(self.adopting(node))

    def adopting(self, node: graph.Node) -> Sliced[int]:
        """The same in slices."""
        unknown, pace = graph.reach(node).nodes, Slice()
        for done, earlier in enumerate(reversed(unknown)):
            if pace.is_full():
                yield done, len(unknown)
            if earlier not in self.tape.row_of:
                sources = [self._adopted(earlier, slot, place) for slot, place in enumerate(earlier.inputs)]
                place = NOWHERE if self._known is None else self._known.get(earlier, NOWHERE)
                self._add_node(
                    earlier.op,
                    tuple(sources),
                    earlier.arrays,
                    earlier.attrs,
                    earlier.saved,
                    earlier.y,
                    earlier,
                    place,
                )
        return self.tape.row_of[node]

    def _adopted(self, node: graph.Node, slot: int, place: graph.Place | None) -> int:
        array = node.arrays[slot]
        known = self._constants.get(id(array)) if place is None else self.tape.row_of.get(place)
        if known is None:
            known = self._add_leaf(node.op, slot, place, array)
            if place is None:
                self._constants[id(array)] = known
        return known

    def _add_node(
        self,
        op: Op,
        sources: tuple[int, ...],
        given: tuple[Array, ...],
        attrs: dict[str, Any],
        saved: tuple[Any, ...],
        y: Array,
        node: graph.Node | None,
        place: Place,
    ) -> int:
        rows = self.tape.rows
        arrays, marks = [rows.arrays[source] for source in sources], [rows.masked(source) for source in sources]
        masked = masked_by(op, attrs, arrays, marks, [self.tape.is_constant(source) for source in sources], y)
        array = self._kept(op, y)
        own = node
        if self._rebuilds:
            keep = self.tape.kept.known if self._freezes else self.tape.kept.own
            attrs = {name: keep(value) for name, value in attrs.items()} if attrs else NO_ATTRS
            saved = tuple(map(keep, saved))
            used = tuple(map(keep, given))
            own = node and self._rebuilt(node, sources, used, attrs, saved, array)
            self._compare(len(rows), sources, used)
        row = Row(
            id=len(rows),
            kind="node",
            name=op.name,
            scope=place.scope,
            array=array,
            number=self.tape.node_count + 1,
            inputs=sources,
            op=op,
            attrs=attrs,
            saved=saved,
            masked=masked,
            tracked=node is not None,
            made_at=place.made_at,
        )
        return self.tape.add(row, own, node)

    def _compare(self, row: int, sources: tuple[int, ...], used: tuple[Array, ...]) -> None:
        """Note what the op of `row` took where it is not what the rows of its inputs show."""
        shown = self.tape.rows.arrays
        pairs = zip(sources, used, strict=True)
        other = [source for source, array in pairs if not is_same(array, shown[source])]
        if other:
            self.tape.used[row] = used
            self.tape.kept.rewritten.update(other)

    def _rebuilt(
        self,
        node: graph.Node,
        sources: tuple[int, ...],
        arrays: tuple[Array, ...],
        attrs: dict[str, Any],
        saved: tuple[Any, ...],
        y: Array,
    ) -> graph.Node:
        """The node once more, on these arrays."""
        places = [self.tape.place_of[source] for source in sources]
        inputs = tuple([None if given is None else own for given, own in zip(node.inputs, places, strict=True)])
        return graph.Node(node.op, inputs, arrays, attrs, saved, y, node.output)

    def _kept(self, op: Op, y: Array) -> Array:
        row, kept = len(self.tape.rows), self.tape.kept
        return kept.of_engine(row, y) if self._freezes and op.name != BY_HAND else kept.of_user(row, y)

    def _add_leaf(self, op: Op, slot: int, place: graph.Place | None, array: Array) -> int:
        name = self._names.get(place) if place is not None else None
        row = Row(
            id=len(self.tape.rows),
            kind="leaf",
            name=name or (f"{op.name}.{_argument(op, slot)}" if place is None else f"input {self._next_input()}"),
            scope=current_scope(),
            array=self.tape.kept.of_user(len(self.tape.rows), array),
            parameter=name is not None,
        )
        return self.tape.add(row, place)

    def _next_input(self) -> int:
        self._inputs += 1
        return self._inputs


def _argument(op: Op, slot: int) -> str:
    """What the op calls this input."""
    names = _arguments(op)
    return names[min(slot, len(names) - 1)]


@lru_cache(1024)
def _arguments(op: Op) -> tuple[str, ...]:
    """Its positional arguments' names, or the one name of all of them."""
    parameters = inspect.signature(op.forward).parameters.values()
    variadic = tuple(p.name for p in parameters if p.kind is p.VAR_POSITIONAL)
    return variadic or tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def _freeze(op: Op, inputs: tuple[Tensor, ...], y: Array) -> None:
    """Make an op's result read-only; not what a user built by hand, nor an input handed through."""
    if op.name != BY_HAND and not any(y is tensor.data for tensor in inputs):
        y.flags.writeable = False


@contextmanager
def record(names: Mapping[str, Tensor] | None = None, rebuilds: bool = True) -> Iterator[Tape]:
    """Record what the engine does inside: `with record(model.named_parameters()) as tape:`.

    `names` are those of the parameters; `rebuilds` False saves a little where nobody will write into them. The
    tape is complete when the context is left, by an exception too.
    """
    before = engine.hook
    recorder = Recorder(names, before, rebuilds=rebuilds)
    engine.set_hook(recorder)
    try:
        yield recorder.tape
    finally:
        engine.set_hook(before)
        recorder.close()


def by_name(names: Mapping[str, Tensor] | None) -> Mapping[str, Tensor]:
    """The names as they were given, none for None; TypeError for what names nothing."""
    if names is None:
        return {}
    if not isinstance(names, Mapping):
        kind = type(names).__name__
        raise TypeError(f'a name is needed for each Tensor, a dict such as {{"x": x}}, not a {kind}; or give none')
    for name, tensor in names.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise TypeError(f"names are strings and what they name Tensors, not {name!r}: {type(tensor).__name__}")
    return names


def tape_of(tensor: Tensor, names: Mapping[str, Tensor] | None = None) -> Tape:
    """The tape of a graph that exists already, all that is behind `tensor`.

    Raises ValueError for a Tensor that no op made.
    """
    return finished(taping(tensor, names))


def taping(tensor: Tensor, names: Mapping[str, Tensor] | None = None) -> Sliced[Tape]:
    """The same in slices."""
    if tensor.node is None:
        raise ValueError("this Tensor has no graph behind it: no op made it while tracking was on")
    return _taping(tensor.node, Recorder(names))


def _taping(node: graph.Node, recorder: Recorder) -> Sliced[Tape]:
    yield from recorder.adopting(node)
    return recorder.close()
