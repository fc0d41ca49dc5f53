"""Saving a session: rows, events and traversals as one JSON manifest, and every distinct array once.

What a file could not bring back the same is left out on purpose: a rule of somebody else's op, whose traversals
keep what it sent, and the model. The manifest is read before it is written: no file is made that does not open.
"""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from glassllm.autograd.graph import Node
from glassllm.autograd.ops import OPS, Array
from glassllm.checkpoint import CheckpointError, writing_npz
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError, Origin, Row, RunFacts
from glassllm.debug.tape import Tape
from glassllm.debug.traversal import Traversal
from glassllm.files import brief, printable, shown

from .encoding import Fault, Json, Members, encode
from .fit import NUMPY_FAULTS, check_shapes
from .indices import check_values
from .manifest import CHARACTERS, MOST_MEMBERS, VERSION, read_manifest
from .shapes import SHAPES, is_saved, result_shape
from .specs import RESULT
from .values import NAME_CHARACTERS

RECORDING = "__recording__"
LIMIT_BYTES = 4 << 30
CUSTOM = "custom"
PRINTED = 500  # lines of what a program printed
COUNTS = ("shape", "axes", "axis", "repeats")


def member_name(i: int) -> str:
    return f"array{i}"


def save(session: Session, path: str, replace: bool = False) -> Iterator[tuple[int, int]]:
    """Write a recording array by array, yielding (done, total).

    Raises CommandError where there is a file that this session neither wrote nor came from, unless `replace`;
    and for what no recording can hold.
    """
    target = _target(path)
    if target.exists() and not replace and str(target) not in session.files:
        raise CommandError(f"{shown(path)} is there already; :save! PATH replaces it")
    arrays = described(session)
    try:
        yield from writing_npz(target, arrays)
    except CheckpointError as error:
        raise CommandError(str(error)) from None
    session.files.add(str(target))
    size = target.stat().st_size
    session.say(("saved ", "bright"), (f" {shown(path)}", "text"), (f"  {size / 1e6:.1f} MB", "muted"))


def save_anyway(session: Session, path: str) -> Iterator[tuple[int, int]]:
    """`save`, whatever is there."""
    return save(session, path, replace=True)


def _target(path: str) -> Path:
    """The file itself, whatever links lead to it. Raises CommandError where no file can be."""
    try:
        target = Path(os.path.realpath(Path(path).expanduser()))
        is_folder = target.exists() and target.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise CommandError(f"{shown(path)}: no name for a file: {_reason(error)}; choose another") from None
    if is_folder:
        raise CommandError(f"{shown(path)} is a folder; name the file in it")
    return target


def _reason(error: Exception) -> str:
    """Why not, without the name, which may be long."""
    return printable(getattr(error, "strerror", None) or str(error))


def described(session: Session) -> Mapping[str, Array]:
    """The members of the file. Raises CommandError where the session cannot be brought back from them."""
    members = Members()
    try:
        content = _manifest(session, members)
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        if len(text) > CHARACTERS or len(members.arrays) > MOST_MEMBERS:
            raise Fault(f"{len(session.tape.rows)} rows and {len(members.arrays)} arrays are too many")
        manifest = read_manifest(text)
        check_shapes(manifest)
    except Fault as fault:
        raise CommandError(f"this run cannot be recorded: {fault}") from None
    if (needed := manifest.needed_bytes()) > LIMIT_BYTES:
        raise CommandError(f"this recording would need {needed / 2**30:.1f} GiB to open; run fewer tokens")
    arrays = {member_name(i): array for i, array in enumerate(members.arrays)}
    return {RECORDING: np.array(text), **arrays}


def _manifest(session: Session, members: Members) -> dict[str, Json]:
    tape, at = session.tape, session.position
    origins: dict[Origin, int] = {}
    rows = [_row(tape, row, members) | _at(row, origins) for row in tape.rows]
    custom = {i for i, row in enumerate(rows) if "custom" in row}
    content: dict[str, Json] = {
        "version": VERSION,
        "facts": _facts(session.facts),
        "rows": rows,
        "events": [[_line(event.step), event.layer, event.row] for event in tape.events],
        "leaves": list(tape.leaves),
        "traversals": [_traversal(traversal, custom, members) for traversal in tape.traversals],
        "position": [at.traversal, at.place, at.edges],
        "selection": session.selection,
        "fresh": session.starts_fresh,
    }
    nodes = [(place.index, row.id) for row in tape.rows if isinstance(place := tape.place_of[row.id], Node)]
    if nodes != sorted(nodes):
        content["created"] = [row for _, row in sorted(nodes)]
    if origins:
        content["origins"] = [[_line(file), number, _line(function)] for file, number, function in origins]
    if tape.chosen_root is not None:
        seed = tape.chosen_seed
        content["chosen"] = [tape.chosen_root, None if seed is None else members.ref(seed)]
    if session.facts.vocabulary:
        content["vocabulary"] = _vocabulary(session.facts.vocabulary, members)
    content["members"] = [[array.dtype.str, list(array.shape)] for array in members.arrays]
    return content


def _line(text: str) -> str:
    return printable(text)[:NAME_CHARACTERS]


def _facts(facts: RunFacts) -> dict[str, Json]:
    return {
        "name": _line(facts.name),
        "tokens": facts.tokens,
        "ids": facts.ids,
        "targets": facts.targets,
        "dtype": _line(facts.dtype),
        "tracked": facts.tracked,
        "fused": facts.fused,
        "loss": encode(facts.loss, Members()),
        "parameters": facts.parameters,
        "notes": [_line(note) for note in facts.notes],
        **_of_a_program(facts),
    }


def _of_a_program(facts: RunFacts) -> dict[str, Json]:
    """The last it printed, and how it ended."""
    fault = facts.fault and {
        "kind": _line(facts.fault.kind),
        "text": _line(facts.fault.text),
        "traceback": [_line(part) for part in facts.fault.traceback],
    }
    printed = [[stream, _line(text)] for stream, text in facts.printed[-PRINTED:]]
    return _said(printed=printed, exit_code=facts.exit_code, fault=fault or {})


def _vocabulary(texts: tuple[str, ...], members: Members) -> Json:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.array(list(accumulate(map(len, parts))), np.int64)
    return [members.ref(np.frombuffer(b"".join(parts), np.uint8)), members.ref(ends)]


def _said(**fields: Json) -> dict[str, Json]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value not in (False, "", [], {})}


# Rows


def _row(tape: Tape, row: Row, members: Members) -> dict[str, Json]:
    try:
        array, scope = members.ref(row.array), _line(row.scope)
    except Fault as fault:
        raise Fault(f"row {row.id}, {row.name}: {fault}") from None
    if row.kind == "note":
        return {"note": _line(row.name), "array": array, **_said(scope=scope)}
    if row.kind == "leaf":
        flags = _said(scope=scope, parameter=row.parameter, place=tape.place_of[row.id] is not None)
        return {"leaf": _line(row.name), "array": array, **flags}
    return {**_op(tape, row, members), "array": array, **_said(scope=scope, **_graph(tape, row, members))}


def _at(row: Row, origins: dict[Origin, int]) -> dict[str, Json]:
    """The lines that made the row, by their place among all that made one."""
    return _said(at=[origins.setdefault(origin, len(origins)) for origin in row.made_at])


def _op(tape: Tape, row: Row, members: Members) -> dict[str, Json]:
    """The op with its inputs and attributes; a custom one where it is not ours or was used as ours cannot be."""
    inputs = list(row.inputs)
    try:
        attrs = {name: encode(_plain(name, value), members) for name, value in row.attrs.items()}
        saved = [members.ref(np.asarray(array)) for array in row.saved]
        if _is_ours(tape, row):
            return {"op": row.name, "in": inputs, **_said(attrs=attrs, saved=saved)}
    except Fault:
        pass  # what cannot be written belongs to an op that cannot be run again
    name = CUSTOM if row.name in OPS else _line(row.name)
    return {"op": name, "in": inputs, "custom": True, **_said(attrs=_shown(row.attrs, members))}


def _plain(name: str, value: Any) -> Any:
    """The attribute as it will be read: axes as a number or a list, other scalars of NumPy as arrays."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    return value.tolist() if name in COUNTS else np.asarray(value)


def _is_ours(tape: Tape, row: Row) -> bool:
    """Whether our op of that name made this row, of shapes and attributes as it takes them."""
    if row.op is None or row.op.name not in SHAPES or OPS.get(row.op.name) is not row.op:
        return False
    node = tape.place_of[row.id]
    arrays = node.arrays if isinstance(node, Node) else [tape.rows[source].array for source in row.inputs]
    shapes, attrs = [array.shape for array in arrays], {k: _plain(k, v) for k, v in row.attrs.items()}
    try:
        found = result_shape(row.op, shapes, attrs)
        check_values(row.op, shapes, attrs, row.array.shape)
    except NUMPY_FAULTS:
        return False
    saved = [np.shape(array) for array in row.saved]
    return found in (None, row.array.shape) and is_saved(row.op, shapes, row.array.shape, saved)


def _shown(attrs: dict[str, Any], members: Members) -> dict[str, Json]:
    """Attributes of a custom op, which are only looked at: as text where they are not data."""
    shown: dict[str, Json] = {}
    for name, value in attrs.items():
        try:
            shown[name] = encode(value, members)
        except Fault:
            shown[name] = brief(value)
    return shown


def _graph(tape: Tape, row: Row, members: Members) -> dict[str, Json]:
    """What a tracked node used, where its rows do not say it: arrays written to since, inputs without gradient."""
    node = tape.place_of[row.id]
    if not isinstance(node, Node):
        return {}
    places = [tape.place_of[source] for source in row.inputs]
    pairs = zip(node.inputs, places, strict=True)
    uncarried = [slot for slot, (had, has) in enumerate(pairs) if had is None and has is not None]
    used = [(RESULT, node.y, row.array)]
    used += [(slot, array, tape.rows[row.inputs[slot]].array) for slot, array in enumerate(node.arrays)]
    differing = [[slot, members.ref(a)] for slot, a, b in used if members.ref(a) != members.ref(b)]
    return {"tracked": True, "uncarried": uncarried, "used": differing}


# Traversals


def _traversal(traversal: Traversal, custom: set[int], members: Members) -> dict[str, Json]:
    sent = [
        [record.row, [None if array is None else members.ref(array) for array in record.contributions]]
        for record in traversal.records
        if record.row in custom and record.grad is not None
    ]
    return {
        "root": traversal.plan.root,
        "seed": members.ref(traversal.seed),
        "fresh": traversal.fresh,
        "visits": len(traversal.records),
        **_said(sent=sent),
    }
