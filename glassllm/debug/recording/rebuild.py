"""From a checked manifest and its arrays back to a session: rows, a graph with rules of ours, and its visits.

The visits are pulled again as far as they had been pulled. A custom op has no rule here: it sends what it sent
then, and in a traversal where it had not sent yet, or in a new one, the traversal ends before it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any
from weakref import ref as weak

import numpy as np

from glassllm.autograd.graph import Node, Place
from glassllm.autograd.ops import OPS, Array, Op
from glassllm.autograd.tensor import Tensor
from glassllm.debug.masks import masked_by
from glassllm.debug.rows import KIND, KINDS, PARAMETER, TRACKED
from glassllm.debug.session import Session
from glassllm.debug.slices import LOOK, Slice, Sliced
from glassllm.debug.snapshot import CommandError, Event, Line, Row, RunFacts
from glassllm.debug.snapshot import Fault as ProgramFault
from glassllm.debug.tape import Tape
from glassllm.debug.traversal import Traversal, VisitRecord
from glassllm.files import printable

from .arrays import Views
from .columns import CUSTOM, NODE, PLACE
from .encoding import number
from .fit import about, attrs_of
from .lines import origins_of
from .manifest import Manifest, TraversalSpec
from .visits import sent_slots


class RecordedTraversal(Traversal):
    """One whose numbers are a stranger's: a rule that fails on them is a line for the person, no fault of ours."""

    def pull(self) -> VisitRecord:
        try:
            return super().pull()
        except CommandError:
            raise
        except Exception as error:
            what = f"visit {len(self.records) + 1} cannot be computed from what this recording holds"
            raise CommandError(f"{what}: {printable(str(error))}") from error


class RecordedTape(Tape):
    """A tape that came from a file, without the program or model it was made by."""

    is_recording = True
    traversal_type = RecordedTraversal

    def inputs(self, row: int) -> tuple[Array, ...]:
        node = self.place_of[row]
        return node.arrays if isinstance(node, Node) else super().inputs(row)


class Remembered:
    """The rule of a custom op: what it sent once."""

    def __init__(self, name: str):
        self.name = name
        self.sent: tuple[Array | None, ...] | None = None

    def __call__(self, *arrays: Array, **attrs: Any) -> tuple[Array | None, ...]:
        if self.sent is None:
            raise CommandError(f"{self.name} has no rule here: what lies behind it is not recomputed")
        sent, self.sent = self.sent, None
        return sent


def _no_forward(*arrays: Array, **attrs: Any) -> Array:
    raise CommandError("a custom operation has no forward to run again")


GONE: "weak[Any]" = weak(Tensor(0.0))
"""The Tensors of recorded nodes: there are none any more."""


class _Builder:
    """Rows and their places in the graph, one after the other."""

    def __init__(self, manifest: Manifest, array_of: Views):
        self.manifest = manifest
        self.columns = manifest.columns
        self.array_of = array_of
        self.tape = RecordedTape()
        self.rules: dict[int, Remembered] = {}  # of custom ops, by row
        texts = self.columns.texts
        self.text = cache(texts.at)
        self.attrs: Callable[[int], dict[str, Any]] = cache(lambda text: attrs_of(texts, text, array_of))
        self.origins = cache(lambda text: origins_of(texts.at(text)))

    def building(self) -> Sliced[None]:
        """Add all rows and events, and put the nodes into the order they were made in: traversals follow it."""
        columns, tape, pace = self.columns, self.tape, Slice(4 * LOOK)
        said = np.stack([columns.event_steps, columns.event_layers, columns.event_rows], 1).tolist()
        for order, (step, layer, row) in enumerate(said):
            tape.events.append(Event(order, self.text(step), layer - 1 if layer else None, row))
        event_of: dict[int, int] = {}
        for event in tape.events:
            event_of.setdefault(event.row, event.order)
        for row in range(len(columns)):
            with about(f"row {row}"):
                self._add(row, event_of.get(row, -1))
            if pace.is_full():
                yield row, len(columns)
        nodes = [place for row in columns.created.tolist() if isinstance(place := tape.place_of[row], Node)]
        for node, index in zip(nodes, sorted(node.index for node in nodes), strict=True):
            node.index = index
        tape.leaves = columns.leaves.tolist()

    def _add(self, i: int, event: int) -> None:
        columns, tape = self.columns, self.tape
        flags, name = int(columns.flags[i]), self.text(int(columns.names[i]))
        kind = flags & KIND
        inputs = columns.sources[self.manifest.inputs(i)].tolist()
        row = Row(
            id=i,
            kind=KINDS[kind],
            name=name,
            scope=self.text(int(columns.scopes[i])),
            array=self.array_of(int(columns.arrays[i])),
            number=tape.node_count + 1 if kind == NODE else 0,
            event=event,
            inputs=tuple(inputs),
            tracked=bool(flags & TRACKED),
            parameter=bool(flags & PARAMETER),
            made_at=self.origins(int(columns.origins[i])),
            **(self._computed(i, flags, name, inputs) if kind == NODE else {}),
        )
        tape.add(row, self._place(row, flags))

    def _computed(self, i: int, flags: int, name: str, inputs: Sequence[int]) -> dict[str, Any]:
        """What a node's op was given, and the marks of its masks."""
        columns, tape, rows = self.columns, self.tape, self.tape.rows
        op = OPS[name] if not flags & CUSTOM else Op(_no_forward, name, self.rules.setdefault(i, Remembered(name)))
        attrs, array = self.attrs(int(columns.attrs[i])), self.array_of(int(columns.arrays[i]))
        saved = tuple(map(self.array_of, columns.saved[slice(*columns.saved_starts[i : i + 2])].tolist()))
        constant = [tape.is_constant(source) for source in inputs]
        marks = [rows.masked(source) for source in inputs]
        masked = masked_by(op, attrs, [rows.arrays[source] for source in inputs], marks, constant, array)
        return {"op": op, "attrs": attrs, "saved": saved, "masked": masked}

    def _place(self, row: Row, flags: int) -> Place | None:
        """Its place in the graph; None for those without."""
        columns, among = self.columns, self.manifest.inputs(row.id)
        if row.op is None or not row.tracked:
            return Tensor(row.array, requires_grad=True) if flags & PLACE else None
        carried = columns.carried[among].tolist()
        places = [self.tape.place_of[s] if sends else None for s, sends in zip(row.inputs, carried, strict=True)]
        arrays, y = map(self.array_of, columns.taken[among].tolist()), self.array_of(int(columns.results[row.id]))
        return Node(row.op, tuple(places), tuple(arrays), row.attrs, row.saved, y, GONE)


def rebuilding(manifest: Manifest, array_of: Views) -> Sliced[Session]:
    """The session as it was saved; visits that its numbers do not allow end their traversal."""
    built = _Builder(manifest, array_of)
    yield from built.building()
    tape, first = built.tape, 0
    if manifest.chosen is not None:
        root, seed = manifest.chosen
        tape.open_on(root, None if seed is None else array_of(seed))
    for traversal in manifest.traversals:
        yield from _replaying(traversal, built, first)
        first += traversal.sent
    session = Session(tape, _facts(manifest, tape))
    yield from _settling(session, manifest)
    return session


def _facts(manifest: Manifest, tape: Tape) -> RunFacts:
    facts = manifest.facts
    return RunFacts(
        name=facts["name"],
        tokens=tuple(facts["tokens"]),
        ids=tuple(facts["ids"]),
        targets=tuple(facts["targets"]),
        vocabulary=tuple(manifest.columns.words),
        dtype=facts["dtype"],
        tracked=facts["tracked"],
        fused=facts["fused"],
        loss=number(facts["loss"]),
        events=len(tape.events),
        nodes=tape.node_count,
        parameters=facts["parameters"],
        notes=tuple(facts["notes"]),
        printed=tuple(Line(*each) for each in facts.get("printed", ())),
        exit_code=facts.get("exit_code", 0),
        fault=_fault(facts.get("fault")),
    )


def _fault(said: dict[str, Any] | None) -> ProgramFault | None:
    return None if said is None else ProgramFault(said["kind"], said["text"], tuple(said["traceback"]))


def _replaying(spec: TraversalSpec, built: _Builder, first: int) -> Sliced[None]:
    """Begin a traversal and pull its visits again, as far as its rules can take these numbers."""
    columns, pace = built.columns, Slice()
    slots = sent_slots(columns)
    senders = columns.senders[first : first + spec.sent].tolist()
    for sender, row in enumerate(senders, first):
        sent = columns.sent[slots[sender] : slots[sender + 1]].tolist()
        built.rules[row].sent = tuple([built.array_of(ref - 1) if ref else None for ref in sent])
    yield from built.tape.planning(spec.root)
    traversal = built.tape.begin(spec.root, built.array_of(spec.seed), spec.fresh)
    with suppress(CommandError), np.errstate(all="ignore"):  # it warned when it ran
        for visit in range(spec.visits):
            if pace.is_full(traversal.pull().size):
                yield visit, spec.visits
    for row in senders:
        built.rules[row].sent = None


def _settling(session: Session, manifest: Manifest) -> Sliced[None]:
    """Go where the session was, or say why that cannot be reached; and select what it had selected."""
    try:
        yield from session.go(manifest.position, is_jump=False)
    except CommandError as error:
        session.say((str(error), "muted"))
    session.selection = manifest.selection
    session.starts_fresh = manifest.fresh
