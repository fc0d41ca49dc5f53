"""The manifest of a recording: what it says of the run as a whole, in JSON, and its columns.

It is read and checked as far as it can be without looking at rows.
"""

from dataclasses import dataclass
from typing import Any

from glassllm.autograd.ops import OPS, Op
from glassllm.debug.snapshot import Position
from glassllm.files import brief

from .arrays import Refs
from .columns import CUSTOM, Columns
from .encoding import Fault, Json, number
from .values import LARGEST, each, fields, flag, line, list_of, parse, whole

VERSION = 2
OLDER = '{"version":1,'  # how what the first version wrote begins
CHARACTERS = 1 << 20
MOST_TRAVERSALS = 200

FIELDS = {"version", "facts", "traversals", "position", "selection", "fresh", "chosen"}
FACTS = {"name", "tokens", "ids", "targets", "dtype", "tracked", "fused", "loss", "parameters", "notes"}
OF_A_PROGRAM = {"printed", "exit_code", "fault"}


@dataclass(frozen=True, slots=True)
class TraversalSpec:
    """One traversal: how many of its visits were pulled, and how many of them a custom op's that a gradient
    reached."""

    root: int
    seed: int  # a ref
    fresh: bool
    visits: int
    sent: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that a recording says besides numbers."""

    columns: Columns
    refs: Refs
    facts: dict[str, Any]
    traversals: list[TraversalSpec]
    position: Position
    selection: int
    fresh: bool
    chosen: tuple[int, int | None] | None  # where traversals start unless told, and their seed (None: ones)

    def name(self, row: int) -> str:
        return self.columns.texts[int(self.columns.names[row])]

    def op(self, row: int) -> Op | None:
        """The op of a node; None for a custom one."""
        return None if self.columns.flags[row] & CUSTOM else OPS[self.name(row)]

    def inputs(self, row: int) -> slice:
        """A row's inputs, among those of all rows."""
        return slice(*self.columns.input_starts[row : row + 2].tolist())


def read_manifest(text: str, columns: Columns) -> Manifest:
    """Raise Fault for anything but what a version we know writes."""
    content = parse(text)
    if not isinstance(content, dict):
        raise Fault(f"must be a JSON object, got {brief(content)}")
    check_version(content.get("version"))
    fields(content, FIELDS, FIELDS - {"chosen"})
    rows, refs = len(columns), Refs(columns)
    traversals = list_of(content["traversals"], "traversals", MOST_TRAVERSALS)
    return Manifest(
        columns=columns,
        refs=refs,
        facts=_facts(content["facts"]),
        traversals=each(traversals, "traversal", lambda value: _traversal(value, rows, refs)),
        position=_position(content["position"], len(traversals)),
        selection=whole(content["selection"], "the selection", rows),
        fresh=flag(content["fresh"], "fresh"),
        chosen=_chosen(content.get("chosen"), rows, refs),
    )


def check_version(version: Json) -> None:
    if type(version) is not int or version != VERSION:
        raise Fault(f"its version is {brief(version)}, not {VERSION}")


def _facts(value: Json) -> dict[str, Any]:
    facts = fields(value, FACTS | OF_A_PROGRAM, FACTS)
    for key in ("name", "dtype"):
        line(facts[key], key)
    for key in ("tracked", "fused"):
        flag(facts[key], key)
    whole(facts["parameters"], "parameters", 2**63)
    number(facts["loss"])
    for key in ("ids", "targets"):
        each(list_of(facts[key], key), f"{key}, number", lambda i: whole(i, "an id", LARGEST))
    each(list_of(facts["notes"], "notes", 100), "note", lambda note: line(note, "a note"))
    _check_program(facts)
    tokens = list_of(facts["tokens"], "tokens")
    if not all(isinstance(token, str) for token in tokens):
        raise Fault("tokens must be texts")
    if len(tokens) != len(facts["ids"]) or len(facts["targets"]) not in (0, len(tokens)):
        raise Fault(f"{len(facts['ids'])} ids, {len(tokens)} tokens and {len(facts['targets'])} targets")
    return facts


def _check_program(facts: dict[str, Json]) -> None:
    """What a program left behind: `[["out", "a line"], …]`, its exit code, and how it ended."""
    whole(facts.get("exit_code", 0), "the exit code", LARGEST, -LARGEST)
    for value in list_of(facts.get("printed", []), "printed"):
        if not isinstance(value, list) or len(value) != 2 or value[0] not in ("out", "err"):
            raise Fault(f"a printed line must be out or err and a text, got {brief(value)}")
        line(value[1], "a printed line")
    if facts.get("fault") is not None:
        fault = fields(facts["fault"], {"kind", "text", "traceback"}, {"kind", "text", "traceback"})
        for text in (fault["kind"], fault["text"], *list_of(fault["traceback"], "a traceback")):
            line(text, "a line of the fault")


def _traversal(value: Json, rows: int, refs: Refs) -> TraversalSpec:
    known = {"root", "seed", "fresh", "visits", "sent"}
    fields(value, known, known)
    return TraversalSpec(
        root=whole(value["root"], "its root", rows),
        seed=refs.number(value["seed"]),
        fresh=flag(value["fresh"], "fresh"),
        visits=whole(value["visits"], "its visits", rows + 1),
        sent=whole(value["sent"], "sent", rows + 1),
    )


def _position(value: Json, traversals: int) -> Position:
    if not isinstance(value, list) or len(value) != 3:
        raise Fault(f"the position must be three numbers, got {brief(value)}")
    return Position(
        whole(value[0], "the position's traversal", traversals + 1),
        whole(value[1], "the position's place", LARGEST),
        whole(value[2], "the position's edges", LARGEST),
    )


def _chosen(value: Json, rows: int, refs: Refs) -> tuple[int, int | None] | None:
    """The root that traversals start from, and their seed."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise Fault(f"the chosen root must be a row and a seed, got {brief(value)}")
    return whole(value[0], "a root", rows), None if value[1] is None else refs.number(value[1])
