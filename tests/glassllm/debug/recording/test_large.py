"""Recordings that are large, whole and right but for one thing: refusing them costs no more than small ones."""

import copy
import time
import tracemalloc

import numpy as np
import pytest

from glassllm.checkpoint import CheckpointError
from glassllm.debug.recording.read import open_recording
from tests.glassllm.debug.recording.bad import ARRAYS, BAD, MANIFEST, both, changed
from tests.glassllm.debug.recording.small import put_together

COUNT = 3_000_000  # 24 MB of ids
BESIDE = [
    "version of the future", "field missing", "row unknown", "input forward", "op unknown",
    "attribute missing", "result of another shape", "saved missing", "member missing", "another shape",
    "ids beyond", "index beyond", "mask of another shape", "event of a leaf", "leaf forgotten", "created not all",
    "root without gradient", "seed of another dtype", "visits beyond", "visits more than there are",
    "nothing sent", "sent too early", "sent another shape", "position beyond", "position between",
    "position without its edges", "position forward", "chosen seed",
    "vocabulary of floats", "vocabulary without end", "vocabulary of no text",
]  # fmt: skip
"""Faults of small recordings, each found beside 24 MB that are all right."""


def added(manifest, arrays, array):
    """The number of one more member."""
    manifest["members"].append([array.dtype.str, list(array.shape)])
    arrays[f"array{len(manifest['members']) - 1}"] = array
    return len(manifest["members"]) - 1


def with_a_large_leaf(manifest, arrays):
    """As the next row, which nothing uses."""
    manifest["rows"].append({"leaf": "large", "array": added(manifest, arrays, np.zeros(COUNT))})


def looking_up(*changes, op="embedding", name="ids"):
    """A last op that looks up COUNT places of the first leaf; `changes` are (place, id)."""

    def edit(manifest, arrays):
        ids = np.zeros(COUNT, np.int64)
        for place, i in changes:
            ids[place] = i
        attrs = {name: {"array": added(manifest, arrays, ids)}}
        array = added(manifest, arrays, np.zeros((COUNT, 2), np.int8))
        leaf = {"leaf": "bytes", "array": added(manifest, arrays, np.zeros((3, 2), np.int8))}
        manifest["rows"] += [leaf, {"op": op, "in": [len(manifest["rows"])], "attrs": attrs, "array": array}]

    return edit


def choosing(manifest, arrays):
    """A mask of COUNT that chooses one more than its result has."""
    mask = np.arange(COUNT) < 4
    leaf = {"leaf": "x", "array": added(manifest, arrays, np.zeros(COUNT, np.int8))}
    attrs = {"index": {"array": added(manifest, arrays, mask)}}
    row = {"op": "getitem", "in": [len(manifest["rows"])], "attrs": attrs}
    manifest["rows"] += [leaf, row | {"array": added(manifest, arrays, np.zeros(3, np.int8))}]


def vocabulary(texts, ends):
    """Texts as bytes, and where they end."""

    def edit(manifest, arrays):
        made = [
            added(manifest, arrays, np.array(part, kind)) for part, kind in ((texts, np.uint8), (ends, np.int64))
        ]
        manifest["vocabulary"] = made

    return edit


def all_texts(last):
    """As many texts as there may be, each of 16 bytes but the last, which is one."""
    joined = np.full(4 << 20, ord("a"), np.uint8)
    joined[-1] = last
    return joined, np.arange(16, (4 << 20) + 1, 16)


FAULTS = {name: BAD[name] for name in BESIDE} | {
    "an id": ("row 17, embedding: ids from 0 to 3 for 3 rows", looking_up((COUNT - 1, 3))),
    "a negative id": ("ids from -4 to 0 for 3 rows", looking_up((0, -4))),
    "an index": ("row 17, getitem: index 9 is out of", looking_up((COUNT // 2, 9), op="getitem", name="index")),
    "a selection": ("the selection must be an integer from 0 to", changed("selection", to=99)),
    "a mask": (r"row 17, getitem: an index that makes \(4,\), not \(3,\)", choosing),
    "a large vocabulary": ("the vocabulary: 'utf-8' codec can't decode", vocabulary(*all_texts(0xFF))),
    "a vocabulary too short": (
        "the vocabulary: its texts end where there are none",
        vocabulary(np.zeros(4, np.uint8), [*range(4), 9]),
    ),
    "a vocabulary too long": ("there is more than its texts", vocabulary(np.zeros(9, np.uint8), [4, 8])),
    "a vocabulary backward": ("texts end where there are none", vocabulary(np.zeros(9, np.uint8), [8, 4, 9])),
    "a vocabulary without an id": (
        "ids beyond the vocabulary's 2 entries",
        both(
            vocabulary(np.zeros(2, np.uint8), [1, 2]),
            changed("facts", "ids", to=[2]),
            changed("facts", "tokens", to=["a"]),
        ),
    ),
}  # fmt: skip


def peak_of_refusing(path, words):
    """Bytes, once it has been refused in less than two seconds."""
    start = time.process_time()
    with pytest.raises(CheckpointError, match=words):
        open_recording(path)
    assert time.process_time() - start < 2
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=words):
            open_recording(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_in_a_large_recording(name, tmp_path):
    words, change = FAULTS[name]
    manifest, arrays = copy.deepcopy(MANIFEST), dict(ARRAYS)
    with_a_large_leaf(manifest, arrays)
    change(manifest, arrays)
    put_together(tmp_path / "run.npz", manifest, arrays)
    assert peak_of_refusing(tmp_path / "run.npz", words) < 20e6


def test_a_wrong_checksum_at_the_end(tmp_path):
    manifest, arrays = copy.deepcopy(MANIFEST), dict(ARRAYS)
    with_a_large_leaf(manifest, arrays)
    put_together(tmp_path / "run.npz", manifest, arrays)
    raw = bytearray((tmp_path / "run.npz").read_bytes())
    raw[raw.rindex(b"PK\1\2") + 16] ^= 1
    (tmp_path / "run.npz").write_bytes(raw)
    assert peak_of_refusing(tmp_path / "run.npz", "is damaged or cut short: Bad CRC") < 20e6


def test_without_its_fault_each_opens(tmp_path):
    """The makers above make recordings that are right in all else."""
    manifest, arrays = copy.deepcopy(MANIFEST), dict(ARRAYS)
    for edit in (
        looking_up((COUNT - 1, 2), (0, -3)),
        looking_up((3, -1), op="getitem", name="index"),
        vocabulary(*all_texts(ord("a"))),
        with_a_large_leaf,
    ):
        edit(manifest, arrays)
    declared = sum(array.nbytes for array in arrays.values())
    put_together(tmp_path / "run.npz", manifest, arrays)
    tracemalloc.start()
    try:
        session = open_recording(tmp_path / "run.npz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert session.facts.vocabulary[-1] == "a" * 16 and len(session.facts.vocabulary) == 1 << 18
    assert peak < 2 * declared + 20e6


def most_rows(arrays, **fields):
    """As many rows as a manifest may have."""
    row = {"op": "neg", "in": [0], "array": 0, "tracked": True}
    rows = [
        {"leaf": "x", "array": 0, "place": True},
        *(row | {"in": [i], "array": i % len(arrays)} for i in range(9000)),
    ]
    return MANIFEST | {
        "members": [["<f8", []]] * len(arrays), "rows": rows, "events": [], "leaves": [0], "traversals": [],
        "position": [0, 0, 0], "selection": 0, "vocabulary": None,
    } | fields  # fmt: skip


MANY = {
    "a position": (9, "there is no position 0, 9000, 0", {"position": [0, 9000, 0]}),
    "traversals from everywhere": (
        5800,
        "its traversals have more than 200000 visits",
        {"traversals": [{"root": 9000 - i, "seed": 0, "fresh": False, "visits": 1} for i in range(200)]},
    ),
    "traversals of everything": (
        9,
        "its traversals have more than 200000 visits",
        {"traversals": [{"root": 9000, "seed": 0, "fresh": False, "visits": 9001}] * 200},
    ),
}


@pytest.mark.parametrize("name", MANY)
def test_many_rows_and_members(name, tmp_path):
    members, words, fields = MANY[name]
    arrays = {f"array{i}": np.zeros(()) for i in range(members)}
    put_together(tmp_path / "run.npz", most_rows(arrays, **fields), arrays)
    assert peak_of_refusing(tmp_path / "run.npz", words) < 20e6
