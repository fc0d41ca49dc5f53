"""A small recording with a bit of everything, spelled out so that any part can be replaced.

Spelled out, a row is a dict: its kind, name, scope and flags; its attributes and the lines that made it as JSON;
its array, inputs and saved arrays. It has `taken`, `carried` and `result` only where they do not follow from that.
"""

import copy
import json
from pathlib import Path

import numpy as np

from glassllm import Tensor
from glassllm.autograd import embedding, gelu, masked_fill, matmul, op, softmax
from glassllm.debug.commands import run
from glassllm.debug.recorder import record
from glassllm.debug.recording.columns import COLUMNS, CUSTOM, KINDS, NUMBER_KINDS, PLACE, Columns
from glassllm.debug.recording.texts import Numbered, packed
from glassllm.debug.recording.write import RECORDING, described
from glassllm.debug.rows import KIND, PARAMETER, TRACKED
from glassllm.debug.session import Session
from glassllm.trace import mark

FLAGS = {"tracked": TRACKED, "parameter": PARAMETER, "place": PLACE, "custom": CUSTOM}


def session() -> Session:
    """x -> lookup, index, matmul, mask, softmax, gelu, a user's op, sum; one traversal finished, one begun."""

    @op
    def triple(x, *, note):
        return 3 * x

    triple.rule(lambda g, y, x, *, note: (3 * g,))
    x = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2), requires_grad=True)
    with record({"x": x}) as tape:
        looked_up = embedding(x, np.array([2, 0, 1]))
        scores = matmul(looked_up, x[np.array([1, 1])].transpose())  # (3, 2)
        weights = softmax(masked_fill(scores, np.array([[False, True]]), -np.inf))
        y = mark("hidden", gelu(weights * 2.5), 1)
        mark("note", np.arange(3))
        mark("loss", triple(y[:, 0:1], note="n").mean(axis=(0, 1)))
    made = Session.of(tape, "small")
    run(made, "last")
    run(made, "backward")
    run(made, "last")
    run(made, "backward hidden")
    run(made, "3 step")
    return made


def parts() -> dict:
    """The small recording, spelled out."""
    return spelled_out(described(session()))


# Taking apart


def spelled_out(members: dict) -> dict:
    """What the members of a file say."""
    columns = Columns(**{name: members[name] for name in COLUMNS})
    texts = list(columns.texts)
    said = json.loads(str(members[RECORDING]))
    said["rows"] = [row_of(columns, texts, i) for i in range(len(columns))]
    for i, row in enumerate(said["rows"]):
        span = slice(*columns.input_starts[i : i + 2])
        whole = {"taken": columns.taken[span], "carried": columns.carried[span], "result": columns.results[i]}
        plain = following(said["rows"], row)
        row |= {name: value.tolist() for name, value in whole.items() if value.tolist() != plain[name]}
    events = zip(columns.event_steps, columns.event_layers.tolist(), columns.event_rows.tolist(), strict=True)
    said["events"] = [[texts[step], layer, row] for step, layer, row in events]
    said["leaves"], said["created"] = columns.leaves.tolist(), columns.created.tolist()
    said["senders"], said["sent"] = columns.senders.tolist(), columns.sent.tolist()
    refs = zip(columns.ref_arrays.tolist(), columns.ref_shapes, columns.ref_axes, strict=True)
    said["refs"] = [[array, texts[shape], texts[axes]] for array, shape, axes in refs]
    kinds = [NUMBER_KINDS[kind] for kind in columns.array_kinds]
    pools = {name: members[name] for name in {*kinds}}
    numbers = {name: np.concatenate(pool) if isinstance(pool, list) else pool for name, pool in pools.items()}
    said["arrays"] = []
    for kind, size in zip(kinds, columns.array_sizes.tolist(), strict=True):
        said["arrays"].append(numbers[kind][:size])
        numbers[kind] = numbers[kind][size:]
    said["vocabulary"] = list(columns.words)
    return said


def row_of(columns: Columns, texts: list[str], i: int) -> dict:
    flags = int(columns.flags[i])
    return {
        "kind": KINDS[flags & KIND],
        "flags": [name for name, bit in FLAGS.items() if flags & bit],
        "name": texts[columns.names[i]],
        "scope": texts[columns.scopes[i]],
        "attrs": json.loads(texts[columns.attrs[i]] or "{}"),
        "at": texts[columns.origins[i]],
        "array": int(columns.arrays[i]),
        "in": columns.sources[slice(*columns.input_starts[i : i + 2])].tolist(),
        "saved": columns.saved[slice(*columns.saved_starts[i : i + 2])].tolist(),
    }


def following(rows: list[dict], row: dict) -> dict:
    """What is so unless a row says otherwise."""
    sources = [rows[source] if source < len(rows) else {"array": 0, "flags": []} for source in row["in"]]
    taking = ["tracked" in row["flags"] and bool({"tracked", "place"} & {*source["flags"]}) for source in sources]
    return {
        "taken": [source["array"] for source in sources],
        "carried": [int(takes) for takes in taking],
        "result": row["array"],
    }


# Putting together


def put_together(path: Path, said: dict) -> None:
    """Write what is said, whatever it is.

    `text` replaces the manifest, `columns` those of rows, refs and texts; `edits` are (column, place, number);
    `members` replace those of the file, None leaving one out.
    """
    members = members_of(said) | said.get("members", {})
    np.savez(path, **{name: member for name, member in members.items() if member is not None})


def members_of(said: dict) -> dict:
    """The members of a file that says this."""
    manifest = {name: said[name] for name in said if name not in IN_COLUMNS}
    pools: dict[str, list[np.ndarray]] = {}
    for array in said["arrays"]:
        pools.setdefault(str(array.dtype), []).append(array.reshape(-1))
    columns = said.get("columns") or columns_of(said)
    numbers = {name: np.array(column, np.int64) for name, column in columns.items()}
    for name, place, number in said.get("edits", ()):
        numbers[name][place] = number
    columns = Columns.made(numbers)
    return {
        RECORDING: np.array(said.get("text", json.dumps(manifest))),
        **{name: getattr(columns, name) for name in COLUMNS},
        **{name: np.concatenate(pool) for name, pool in pools.items()},
    }


IN_COLUMNS = {
    "rows", "events", "leaves", "created", "senders", "sent", "refs", "arrays", "vocabulary",
    "text", "columns", "edits", "members",
}  # fmt: skip


def columns_of(said: dict) -> dict:
    numbered = Numbered()
    text = numbered.number
    rows = [following(said["rows"], row) | row for row in said["rows"]]
    made = {
        "flags": [KINDS.index(row["kind"]) | sum(FLAGS[flag] for flag in row["flags"]) for row in rows],
        "names": [text(row["name"]) for row in rows],
        "scopes": [text(row["scope"]) for row in rows],
        "attrs": [text(json.dumps(row["attrs"]) if row["attrs"] != {} else "") for row in rows],
        "origins": [text(row["at"]) for row in rows],
        "arrays": [row["array"] for row in rows],
        "results": [row["result"] for row in rows],
        "input_starts": np.cumsum([0, *(len(row["in"]) for row in rows)]),
        "saved_starts": np.cumsum([0, *(len(row["saved"]) for row in rows)]),
        "sources": [source for row in rows for source in row["in"]],
        "taken": [ref for row in rows for ref in row["taken"]],
        "carried": [carried for row in rows for carried in row["carried"]],
        "saved": [ref for row in rows for ref in row["saved"]],
        "leaves": said["leaves"],
        "created": said["created"],
        "event_steps": [text(step) for step, _, _ in said["events"]],
        "event_layers": [layer for _, layer, _ in said["events"]],
        "event_rows": [row for _, _, row in said["events"]],
        "senders": said["senders"],
        "sent": said["sent"],
        "ref_arrays": [array for array, _, _ in said["refs"]],
        "ref_shapes": [text(shape) for _, shape, _ in said["refs"]],
        "ref_axes": [text(axes) for _, _, axes in said["refs"]],
        "array_kinds": [NUMBER_KINDS.index(str(array.dtype)) for array in said["arrays"]],
        "array_sizes": [array.size for array in said["arrays"]],
    }
    made["text_bytes"], made["text_starts"] = packed(numbered)
    made["word_bytes"], made["word_starts"] = packed(said["vocabulary"])
    return made


def row(kind: str, name: str, array: int, inputs=(), flags=(), **more) -> dict:
    """A row, spelled out."""
    plain = {"scope": "", "attrs": {}, "at": "", "saved": []}
    return {"kind": kind, "name": name, "array": array, "in": [*inputs], "flags": [*flags], **plain, **more}


def added(said: dict, array: np.ndarray) -> int:
    """The ref of one more array."""
    said["arrays"].append(array)
    said["refs"].append([len(said["arrays"]) - 1, shape_of(array), ""])
    return len(said["refs"]) - 1


def shape_of(array: np.ndarray) -> str:
    return json.dumps([*array.shape], separators=(",", ":"))


def copied(said: dict) -> dict:
    return copy.deepcopy(said)
