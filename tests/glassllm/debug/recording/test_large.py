"""Recordings that are large, whole and right but for one thing: refusing them costs no more than small ones."""

import tracemalloc

import numpy as np
import pytest

from glassllm.debug.recording import visits
from glassllm.debug.recording.columns import COLUMNS, NUMBER_KINDS
from glassllm.debug.recording.read import open_recording
from glassllm.debug.recording.texts import packed
from tests.glassllm.debug.recording.bad import BAD, SAID
from tests.glassllm.debug.recording.edits import both, changed, column
from tests.glassllm.debug.recording.refusing import refused
from tests.glassllm.debug.recording.small import added, copied, put_together, row

COUNT = 3_000_000  # 24 MB of ids
BESIDE = [
    "version of the future", "field missing", "input forward", "op unknown", "attribute missing", "used shape",
    "result of another shape", "saved missing", "numbers missing", "another length", "column missing",
    "starts that fall", "text of no text",
    "ids beyond", "index beyond", "mask of another shape", "event of a leaf",
    "leaf forgotten", "created not all", "root without gradient", "seed of another dtype", "visits beyond",
    "visits more than there are", "nothing sent", "sent too early", "sent another shape", "position beyond",
    "position between",
    "position without its edges", "position forward", "chosen seed", "vocabulary without an id",
    "vocabulary of no text",
]  # fmt: skip
"""Faults of small recordings, each found beside 24 MB that are all right."""
WORDS = 1 << 18


def with_a_large_leaf(said):
    """As the last row, which nothing uses."""
    said["rows"].append(row("leaf", "large", added(said, np.zeros(COUNT))))


def looking_up(*changes, op="embedding", name="ids"):
    """A last op that looks up COUNT places of a leaf; `changes` are (place, id)."""

    def edit(said):
        ids = np.zeros(COUNT, np.int64)
        for place, i in changes:
            ids[place] = i
        attrs = {name: {"array": added(said, ids)}}
        said["rows"].append(row("leaf", "bytes", added(said, np.zeros((3, 2), np.int8))))
        made = added(said, np.zeros((COUNT, 2), np.int8))
        said["rows"].append(row("node", op, made, [len(said["rows"]) - 1], attrs=attrs))

    return edit


def choosing(said):
    """A mask of COUNT that chooses one more than its result has."""
    attrs = {"index": {"array": added(said, np.arange(COUNT) < 4)}}
    said["rows"].append(row("leaf", "x", added(said, np.zeros(COUNT, np.int8))))
    made = added(said, np.zeros(3, np.int8))
    said["rows"].append(row("node", "getitem", made, [len(said["rows"]) - 1], attrs=attrs))


many_words = changed("vocabulary", to=["a" * 16] * WORDS)
FAULTS = {name: BAD[name] for name in BESIDE} | {
    "an id": ("row 17, embedding: ids from 0 to 3 for 3 rows", looking_up((COUNT - 1, 3))),
    "a negative id": ("ids from -4 to 0 for 3 rows", looking_up((0, -4))),
    "an index": ("row 17, getitem: index 9 is out of", looking_up((COUNT // 2, 9), op="getitem", name="index")),
    "a selection": ("the selection must be an integer from 0 to", changed("selection", to=99)),
    "a mask": (r"row 17, getitem: an index that makes \(4,\), not \(3,\)", choosing),
    "a large vocabulary": (
        "the vocabulary: text 262143: 'utf-8' codec can't decode",
        both(many_words, column("word_bytes", -1, 255)),
    ),
    "too many words": ("262145 of word, more than 262144", changed("vocabulary", to=[""] * (WORDS + 1))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_in_a_large_recording(name, tmp_path):
    words, change = FAULTS[name]
    said = copied(SAID)
    with_a_large_leaf(said)
    change(said)
    put_together(tmp_path / "run.npz", said)
    assert refused(tmp_path / "run.npz", words)[1] < 20e6


def test_a_wrong_checksum_at_the_end(tmp_path):
    said = copied(SAID)
    with_a_large_leaf(said)
    put_together(tmp_path / "run.npz", said)
    raw = bytearray((tmp_path / "run.npz").read_bytes())
    raw[raw.rindex(b"PK\1\2") + 16] ^= 1
    (tmp_path / "run.npz").write_bytes(raw)
    assert refused(tmp_path / "run.npz", "is damaged or cut short: Bad CRC")[1] < 20e6


def test_without_its_fault_each_opens(tmp_path):
    """The makers above make recordings that are right in all else."""
    said = copied(SAID)
    for edit in (
        looking_up((COUNT - 1, 2), (0, -3)),
        looking_up((3, -1), op="getitem", name="index"),
        many_words,
        with_a_large_leaf,
    ):
        edit(said)
    declared = sum(array.nbytes for array in said["arrays"])
    put_together(tmp_path / "run.npz", said)
    tracemalloc.start()
    try:
        session = open_recording(tmp_path / "run.npz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert session.facts.vocabulary[-1] == "a" * 16 and len(session.facts.vocabulary) == WORDS
    assert peak < 2 * declared + 20e6


# Very many rows


ROWS = 70_000
FEWER_VISITS = 150_000
"""Somewhat more than one traversal of all rows comes to; more would take as much memory, only longer."""


def chain(**changed):
    """A leaf that is added again and again to the sum so far, each an array of its own; as columns."""
    nodes, row = np.arange(ROWS) > 0, np.arange(ROWS)
    inputs = np.stack([row[:-1], 0 * row[:-1]], 1).reshape(-1)
    text_bytes, text_starts = packed(["add", "", "[]", *(f"x{i}" for i in range(40_000))])
    word_bytes, word_starts = packed(["a" * 9] * 60_000)
    empty = np.ones(ROWS, int)
    columns = {
        "flags": np.where(nodes, 4, 1 | 16),
        "names": np.zeros(ROWS, int),
        "scopes": 3 + row % 40_000,
        "attrs": empty,
        "origins": empty,
        "arrays": row,
        "results": row,
        "input_starts": np.concatenate([[0], np.cumsum(2 * nodes)]),
        "saved_starts": np.zeros(ROWS + 1, int),
        "sources": inputs,
        "taken": inputs,
        "carried": np.ones_like(inputs),
        "leaves": [0],
        "ref_arrays": row,
        "ref_shapes": empty + 1,
        "ref_axes": empty,
        "array_kinds": np.full(ROWS, NUMBER_KINDS.index("float32")),
        "array_sizes": np.ones(ROWS, int),
        "text_bytes": text_bytes,
        "text_starts": text_starts,
        "word_bytes": word_bytes,
        "word_starts": word_starts,
    }
    return {name: [] for name in COLUMNS} | columns | changed


def put_columns_together(path, columns=None, **manifest):
    plain = {"traversals": [], "position": [0, 0, 0], "selection": 0, "arrays": [np.arange(ROWS, dtype="f4")]}
    put_together(path, SAID | plain | {"columns": chain(**(columns or {}))} | manifest)


def traversal(root, count, sent=0):
    return {"root": root, "seed": 0, "fresh": False, "visits": count, "sent": sent}


def of_custom_ops():
    """Each takes the one before it, and all but the first of them have sent."""
    nodes, row = np.arange(ROWS) > 0, np.arange(ROWS)
    return {
        "flags": np.where(nodes, 4 | 32, 1 | 16),
        "names": np.where(nodes, 3, 0),
        "input_starts": np.concatenate([[0], np.cumsum(nodes)]),
        "sources": row[:-1],
        "taken": row[:-1],
        "carried": np.ones(last, int),
        "senders": row[:1:-1],
        "sent": np.ones(last - 1, int),
        "word_bytes": [],
        "word_starts": [0],
    }


last = ROWS - 1
MANY = {
    "a position": (f"there is no position 0, {last}, 0", {"position": [0, last, 0]}),
    "traversals from everywhere": (
        f"its traversals have more than {FEWER_VISITS} visits",
        {"traversals": [traversal(last - i, 1) for i in range(7)]},
    ),
    "traversals of everything": (
        f"its traversals have more than {FEWER_VISITS} visits",
        {"traversals": [traversal(last, ROWS)] * 4},
    ),
    "a traversal of too much": (
        f"traversal 1: {ROWS} visits, there are {last}",
        {"traversals": [traversal(last - 1, ROWS)]},
    ),
    "what custom ops sent": (
        "traversal 1: x0 has no rule, and row 1 sent nothing in its visit",
        {"columns": of_custom_ops(), "traversals": [traversal(last, ROWS, last - 1)]},
    ),
    "an input": (
        f"row {last}: an input must be an earlier row",
        {"columns": {"sources": [*[0] * (2 * last - 1), last]}},
    ),
    "a name": (f"row {last}: there is no op 'x0'", {"columns": {"names": [*[0] * last, 3]}}),
    "an attribute": (f"row {last}, add: not JSON", {"columns": {"attrs": [*[1] * last, 3]}}),
    "an order": (
        "created has a node before one of its inputs",
        {"columns": {"created": [*range(2, ROWS), 1], "word_bytes": [], "word_starts": [0]}},
    ),
    "numbers": ("'float32' is float32 of shape", {"arrays": [np.zeros(ROWS + 1, np.float32)]}),
}


@pytest.mark.parametrize("name", MANY)
def test_one_fault_in_very_many_rows(name, tmp_path, monkeypatch):
    monkeypatch.setattr(visits, "MOST_VISITS", FEWER_VISITS)
    words, changes = MANY[name]
    put_columns_together(tmp_path / "run.npz", **changes)
    assert refused(tmp_path / "run.npz", words)[1] < 20e6


def test_without_its_fault_it_opens(tmp_path):
    put_columns_together(
        tmp_path / "run.npz", traversals=[traversal(last, ROWS) | {"seed": 1}], position=[1, last, 0]
    )
    session = open_recording(tmp_path / "run.npz")
    assert session.tape.gradient(0, session.position) == ROWS
