"""From a checked manifest and its arrays back to a session: rows, a graph with rules of ours, and its visits.

The visits are pulled again as far as they had been pulled. A custom op has no rule here: it sends what it sent
then, and in a traversal where it had not sent yet, or in a new one, the traversal ends before it.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any
from weakref import ref as weak

import numpy as np

from glassllm.autograd.graph import Node, Place
from glassllm.autograd.ops import Array, Op
from glassllm.autograd.tensor import Tensor
from glassllm.debug.masks import masked_by
from glassllm.debug.session import Session, drain
from glassllm.debug.snapshot import CommandError, Line, Row, RunFacts
from glassllm.debug.snapshot import Fault as ProgramFault
from glassllm.debug.tape import Tape
from glassllm.debug.traversal import Traversal, VisitRecord
from glassllm.files import printable

from .encoding import ArrayOf, number
from .fit import about, attrs_of
from .specs import Manifest, RowSpec, TraversalSpec


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


class _Builder:
    """Rows and their places in the graph, one after the other."""

    def __init__(self, manifest: Manifest, array_of: ArrayOf):
        self.manifest = manifest
        self.array_of = array_of
        self.tape = RecordedTape()
        self.rules: dict[int, Remembered] = {}  # of custom ops, by row

    def add(self, spec: RowSpec, event: int) -> None:
        tape = self.tape
        row = Row(
            id=len(tape.rows),
            kind=spec.kind,
            name=spec.name,
            scope=spec.scope,
            array=self.array_of(spec.array),
            number=tape.node_count + 1 if spec.kind == "node" else 0,
            event=event,
            inputs=spec.inputs,
            tracked=spec.tracked,
            parameter=spec.parameter,
            made_at=spec.made_at,
        )
        if spec.kind == "node":
            made = self._computed(spec, row)
            tape.add(made, self._graph_node(spec, made) if spec.tracked else None)
        else:
            tape.add(row, Tensor(row.array, requires_grad=True) if spec.is_place else None)

    def _computed(self, spec: RowSpec, row: Row) -> Row:
        """The row of a node with what its op was given, and the marks of its masks."""
        tape, attrs = self.tape, attrs_of(self.manifest, spec, self.array_of)
        op = spec.op or Op(_no_forward, spec.name, self.rules.setdefault(row.id, Remembered(spec.name)))
        inputs = [tape.rows[source] for source in spec.inputs]
        constant = [tape.is_constant(source.id) for source in inputs]
        marks = [source.masked for source in inputs]
        masked = masked_by(op, attrs, [source.array for source in inputs], marks, constant, row.array)
        return replace(row, op=op, attrs=attrs, saved=tuple(map(self.array_of, spec.saved)), masked=masked)

    def _graph_node(self, spec: RowSpec, row: Row) -> Node:
        places: tuple[Place | None, ...] = tuple(
            self.tape.place_of[source] if self.manifest.is_carried(spec, slot) else None
            for slot, source in enumerate(spec.inputs)
        )
        assert row.op is not None, f"row {row.id} is no node"
        arrays = tuple(map(self.array_of, self.manifest.inputs_of(spec)))
        y = self.array_of(self.manifest.result_of(spec))
        return Node(row.op, places, arrays, row.attrs, row.saved, y, weak(Tensor(y)))


def rebuild(manifest: Manifest, array_of: ArrayOf, vocabulary: tuple[str, ...]) -> Session:
    """The session as it was saved; visits that its numbers do not allow end their traversal."""
    built = _Builder(manifest, array_of)
    event_of: dict[int, int] = {}
    for event in manifest.events:
        event_of.setdefault(event.row, event.order)
    for i, spec in enumerate(manifest.rows):
        with about(f"row {i}"):
            built.add(spec, event_of.get(i, -1))
    tape = built.tape
    tape.events = list(manifest.events)
    _put_in_order(manifest, tape)
    tape.leaves = manifest.leaves
    if manifest.chosen is not None:
        root, seed = manifest.chosen
        tape.open_on(root, None if seed is None else array_of(seed))
    for traversal in manifest.traversals:
        _replay(traversal, built)
    session = Session(tape, _facts(manifest, tape, vocabulary))
    _settle(session, manifest)
    return session


def _facts(manifest: Manifest, tape: Tape, vocabulary: tuple[str, ...]) -> RunFacts:
    facts = manifest.facts
    return RunFacts(
        name=facts["name"],
        tokens=tuple(facts["tokens"]),
        ids=tuple(facts["ids"]),
        targets=tuple(facts["targets"]),
        vocabulary=vocabulary,
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


def _put_in_order(manifest: Manifest, tape: Tape) -> None:
    """Give the graph's nodes the order they were made in: traversals follow it."""
    nodes = [place for row in manifest.created if isinstance(place := tape.place_of[row], Node)]
    for node, index in zip(nodes, sorted(node.index for node in nodes), strict=True):
        node.index = index


def _replay(spec: TraversalSpec, built: _Builder) -> None:
    """Begin a traversal and pull its visits again, as far as its rules can take these numbers."""
    for row, arrays in spec.sent:
        built.rules[row].sent = tuple(None if ref is None else built.array_of(ref) for ref in arrays)
    traversal = built.tape.begin(spec.root, built.array_of(spec.seed), spec.fresh)
    with suppress(CommandError), np.errstate(all="ignore"):  # it warned when it ran
        for _ in range(spec.visits):
            traversal.pull()
    for row, _ in spec.sent:
        built.rules[row].sent = None


def _settle(session: Session, manifest: Manifest) -> None:
    """Go where the session was, or say why that cannot be reached; and select what it had selected."""
    try:
        drain(session.go(manifest.position, is_jump=False))
    except CommandError as error:
        session.say((str(error), "muted"))
    session.selection = manifest.selection
    session.starts_fresh = manifest.fresh
