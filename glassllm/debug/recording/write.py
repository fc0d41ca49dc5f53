"""Saving a session: rows, events and traversals as columns, and every distinct array once.

What a file could not bring back the same is left out on purpose: a rule of somebody else's op, whose traversals
keep what it sent, and the model. All is checked as it is when read: no file is made that does not open.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from glassllm.checkpoint import CheckpointError, Writable, writing_npz
from glassllm.debug.session import Session
from glassllm.debug.slices import Sliced, finished
from glassllm.debug.snapshot import CommandError, RunFacts
from glassllm.debug.traversal import Traversal
from glassllm.files import printable, shown

from .columns import COLUMN_BYTES, COLUMNS, Columns
from .encoding import Fault, Json, encode
from .fit import checking
from .manifest import CHARACTERS, VERSION, read_manifest
from .sizes import needed_bytes
from .table import Table
from .texts import line_of

RECORDING = "__recording__"
LIMIT_BYTES = 4 << 30
PRINTED = 500  # lines of what a program printed


def size_text(size: int) -> str:
    """`38 kB`, `1.2 MB`"""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 1):.0f} kB"


def save(session: Session, path: str, replace: bool = False) -> Iterator[tuple[int, int]]:
    """Write a recording piece by piece, yielding (done, total).

    Raises CommandError where there is a file that this session neither wrote nor came from, unless `replace`;
    and for what no recording can hold.
    """
    target = _target(path)
    if target.exists() and not replace and str(target) not in session.files:
        raise CommandError(f"{shown(path)} is there already; :save! PATH replaces it")
    members = yield from describing(session)
    try:
        yield from writing_npz(target, members)
    except CheckpointError as error:
        raise CommandError(str(error)) from None
    session.files.add(str(target))
    size = target.stat().st_size
    session.say(("saved ", "bright"), (f" {shown(path)}", "text"), (f"  {size_text(size)}", "muted"))


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


def described(session: Session) -> dict[str, Writable]:
    """The members of the file. Raises CommandError where the session cannot be brought back from them."""
    return finished(describing(session))


def describing(session: Session) -> Sliced[dict[str, Writable]]:
    """The same in slices."""
    try:
        table = Table(session.tape, session.facts.vocabulary)
        yield from table.filling()
        text = json.dumps(_manifest(session, table), separators=(",", ":"), allow_nan=False)
        columns = Columns.made(table.columns())
        yield 0, len(columns)
        _check_length(text, columns)
        manifest = read_manifest(text, columns)
        yield from checking(manifest)
    except Fault as fault:
        raise CommandError(f"this run cannot be recorded: {fault}") from None
    if (needed := needed_bytes(manifest)) > LIMIT_BYTES:
        raise CommandError(f"this recording would need {needed / 2**30:.1f} GiB to open; run fewer tokens")
    return {RECORDING: np.array(text)} | {name: getattr(columns, name) for name in COLUMNS} | table.pools.members


def _check_length(text: str, columns: Columns) -> None:
    columns.check()
    nbytes = sum(getattr(columns, name).nbytes for name in COLUMNS)
    if len(text) > CHARACTERS or nbytes > COLUMN_BYTES:
        sizes = f"{(len(text) + nbytes) / 1e6:.1f} MB besides their arrays, more than {COLUMN_BYTES / 1e6:.1f}"
        raise Fault(f"{len(columns)} rows need {sizes}")


def _manifest(session: Session, table: Table) -> dict[str, Json]:
    tape, at = session.tape, session.position
    content: dict[str, Json] = {
        "version": VERSION,
        "facts": _facts(session.facts),
        "traversals": [_traversal(traversal, table) for traversal in tape.traversals],
        "position": [at.traversal, at.place, at.edges],
        "selection": session.selection,
        "fresh": session.starts_fresh,
    }
    if tape.chosen_root is not None:
        seed = tape.chosen_seed
        content["chosen"] = [tape.chosen_root, None if seed is None else table.pools.ref(seed)]
    return content


def _traversal(traversal: Traversal, table: Table) -> dict[str, Json]:
    return {
        "root": traversal.plan.root,
        "seed": table.pools.ref(traversal.seed),
        "fresh": traversal.fresh,
        "visits": len(traversal.records),
        "sent": table.add_sent(traversal),
    }


def _facts(facts: RunFacts) -> dict[str, Json]:
    return {
        "name": line_of(facts.name),
        "tokens": facts.tokens,
        "ids": facts.ids,
        "targets": facts.targets,
        "dtype": line_of(facts.dtype),
        "tracked": facts.tracked,
        "fused": facts.fused,
        "loss": encode(facts.loss, _no_array),
        "parameters": facts.parameters,
        "notes": [line_of(note) for note in facts.notes],
        **_of_a_program(facts),
    }


def _no_array(array: Any) -> int:
    raise Fault("an array cannot be recorded here")


def _of_a_program(facts: RunFacts) -> dict[str, Json]:
    """The last it printed, and how it ended."""
    fault = facts.fault and {
        "kind": line_of(facts.fault.kind),
        "text": line_of(facts.fault.text),
        "traceback": [line_of(part) for part in facts.fault.traceback],
    }
    printed = [[stream, line_of(text)] for stream, text in facts.printed[-PRINTED:]]
    said = {"printed": printed, "exit_code": facts.exit_code, "fault": fault}
    return {name: value for name, value in said.items() if value}
