"""Archive and write_npz: what was written comes back; names, sizes and bytes of strangers are checked first."""

import io
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassllm.checkpoint import Archive, CheckpointError, write_npz, writing_npz
from glassllm.checkpoint.archive import parse_header

ARRAYS: dict[str, Any] = {
    "float16": np.arange(6, dtype=np.float16).reshape(2, 3),
    "float32": np.linspace(-1, 1, 50_000, dtype=np.float32),
    "float64": np.array([np.nan, np.inf, -0.0]),
    "big-endian": np.arange(5, dtype=">f4"),
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "fortran big-endian": np.asfortranarray(np.arange(12, dtype=">i2").reshape(3, 4)),
    "strided": np.arange(12.0)[::3],
    "scalar": np.array(3, np.int8),
    "empty": np.zeros((0, 3), np.float32),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j], np.complex64),
    "text": np.array("naïve ▁ 猫"),
    "big-endian text": np.array("naïve ▁ 猫").astype(">U12"),
    "bytes": np.array([b"ab", b"c"]),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arrays.npz"


@pytest.mark.parametrize("save", [write_npz, lambda path, arrays: np.savez(path, **arrays)])
def test_what_is_written_comes_back(path: Path, save: Callable[[Path, dict[str, Any]], None]) -> None:
    save(path, ARRAYS)
    with Archive(path) as archive:
        assert archive.names == tuple(ARRAYS)
        for name, array in ARRAYS.items():
            archive.verify(name)
            read = archive.read(name)
            np.testing.assert_array_equal(read, array)
            assert read.dtype == array.dtype.newbyteorder("=") and read.flags.c_contiguous
            assert read.shape == archive.header(name).shape == array.shape
        assert archive.text("text", 20) == archive.text("big-endian text", 20) == "naïve ▁ 猫"


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "big-endian", "fortran", "fortran big-endian"])
def test_numbers_are_converted_as_they_are_read(path: Path, name: str) -> None:
    write_npz(path, ARRAYS)
    with Archive(path) as archive:
        read = archive.read(name, np.float32)
    np.testing.assert_array_equal(read, ARRAYS[name].astype(np.float32))
    assert read.dtype == np.float32 and read.flags.c_contiguous and read.flags.writeable and read.flags.owndata


@pytest.mark.parametrize("stored", ["<f2", ">f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_reading_takes_no_more_than_what_is_read(path: Path, stored: str, order: Any) -> None:
    write_npz(path, {"x": np.zeros((3000, 1000), stored, order)})
    tracemalloc.start()
    try:
        with Archive(path) as archive:
            archive.verify("x")
            assert tracemalloc.get_traced_memory()[1] < 1e6
            read = archive.read("x", np.float32)
        assert tracemalloc.get_traced_memory()[1] < read.nbytes + 1e6
    finally:
        tracemalloc.stop()


def test_numpy_reads_what_we_write(path: Path) -> None:
    write_npz(path, ARRAYS)
    with np.load(path) as file:
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(file[name], array)


def test_the_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    write_npz(tmp_path / "a", ARRAYS)
    os.utime(tmp_path / "a", (0, 0))
    write_npz(tmp_path / "b", ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_arrays_in_a_row_become_one_and_long_ones_are_written_piece_by_piece(path: Path) -> None:
    parts = [np.arange(n, dtype=np.float32) for n in (0, 3, 300_000, 1, 150_000)]
    arrays: dict[str, Any] = {"joined": parts, "none": [np.zeros(0, np.int8)], "long": np.ones((700, 300))}
    progress = list(writing_npz(path, arrays))
    assert progress == [(i, 9) for i in range(1, 10)]  # of 4, 1 and 4 pieces
    with Archive(path) as archive:
        np.testing.assert_array_equal(archive.read("joined"), np.concatenate(parts))
        assert archive.read("none").shape == (0,)
        np.testing.assert_array_equal(archive.read("long"), arrays["long"])


def test_objects_are_neither_written_nor_read(path: Path) -> None:
    objects: Any = np.array([{}])
    with pytest.raises(ValueError, match="Object"):
        write_npz(path, {"x": objects})
    assert not path.exists()
    np.savez(path, x=objects)
    with Archive(path) as archive, pytest.raises(CheckpointError, match="never unpickled"):
        archive.read("x")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"cannot be written: .*; choose another place"):
        write_npz(tmp_path / "none" / "x.npz", {})


def test_text_of_another_kind_or_length_is_refused(path: Path) -> None:
    write_npz(path, {"numbers": np.zeros(3), "texts": np.array(["a"]), "long": np.array("x" * 11)})
    with Archive(path) as archive:
        for name, words in {"numbers": "one string", "texts": "one string", "long": "11 characters"}.items():
            with pytest.raises(CheckpointError, match=words):
                archive.text(name, 10)


def test_long_texts_are_read_as_one_string_only(path: Path) -> None:
    np.savez(path, one=np.array("x" * 600_000), many=np.array(["x" * 40_000, "y"]))
    with Archive(path) as archive:
        assert archive.text("one", 600_000) == "x" * 600_000
        for look in (archive.read, lambda name: list(archive.pieces(name))):
            with pytest.raises(CheckpointError, match="'many' holds texts that are too long"):
                look("many")


def test_an_unknown_name_is_a_key_error(path: Path) -> None:
    write_npz(path, {})
    with Archive(path) as archive, pytest.raises(KeyError):
        archive.header("x")


def test_a_directory_of_a_hundred_thousand_names_is_refused_unread(path: Path) -> None:
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"x"
    directory = entry * 100_000
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), 0, 0)
    path.write_bytes(directory + end)
    words = "the names of its arrays take 4700000 bytes, more than 4194304; keep fewer"
    with pytest.raises(CheckpointError, match=words):
        Archive(path)


def test_as_many_names_as_there_may_be_cost_little(path: Path) -> None:
    write_npz(path, {f"{i:040}": np.zeros(()) for i in range(40_000)})
    tracemalloc.start()
    try:
        with Archive(path) as archive:
            assert len(archive.names) == 40_000 and f"{39_999:040}" in archive
            assert archive.header(f"{39_999:040}").shape == ()
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["naïve 猫", "\udcff\udc80", "a" * 5000])
def test_names_of_any_bytes(path: Path, name: str) -> None:
    write_npz(path, {"@": np.arange(3)})
    encoded = name.encode("utf-8", "surrogateescape")
    raw = path.read_bytes()
    length, longer = struct.pack("<H", 5), struct.pack("<H", 4 + len(encoded))
    local, entry, end = raw.index(b"PK\3\4"), raw.index(b"PK\1\2"), raw.index(b"PK\5\6")
    assert raw[local + 26 : local + 28] == raw[entry + 28 : entry + 30] == length
    parts = [
        raw[: local + 26], longer, raw[local + 28 : local + 30], encoded, raw[local + 31 : entry + 28], longer,
        raw[entry + 30 : entry + 46], encoded, raw[entry + 47 : end + 12],
        struct.pack("<II", end - entry + len(encoded) - 1, entry + len(encoded) - 1), raw[end + 20 :],
    ]  # fmt: skip
    path.write_bytes(b"".join(parts))
    with Archive(path) as archive:
        assert archive.names == (name,)
        assert archive.read(name).tolist() == [0, 1, 2]


def test_how_many_arrays_there_may_be_is_an_option(path: Path) -> None:
    write_npz(path, {f"{i}": np.zeros(()) for i in range(100)})
    with pytest.raises(CheckpointError, match="it holds more than 99 arrays; keep fewer in one file"):
        Archive(path, most=99)
    with Archive(path, most=100) as archive:
        assert len(archive.names) == 100


def test_what_would_not_open_is_not_written(path: Path) -> None:
    few: Any = dict.fromkeys(map(str, range(40_000)), np.zeros(()))
    with pytest.raises(CheckpointError, match="it would hold 40001 arrays; a file opens with 40000 at most"):
        write_npz(path, few | {"more": np.zeros(())})
    with pytest.raises(
        CheckpointError, match="names of its arrays would take 4262000 bytes; a file opens with 4194304"
    ):
        write_npz(path, {f"{i:04200}": np.zeros(()) for i in range(1000)})
    assert not path.exists()


def wide(path: Path, arrays: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """The bytes of a file as one of many gigabytes is: its numbers are all told in 64 bits."""
    monkeypatch.setattr("zipfile.ZIP64_LIMIT", 0)
    write_npz(path, arrays)
    raw = bytearray(path.read_bytes())
    end = raw.rindex(b"PK\5\6")
    raw[end + 12 : end + 20] = b"\xff" * 8
    path.write_bytes(raw)
    return raw


def test_a_file_of_many_gigabytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide(path, ARRAYS, monkeypatch)
    with Archive(path) as archive:
        assert archive.names == tuple(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(archive.read(name), array)


@pytest.mark.parametrize("what", ["locator", "signature", "start", "size", "member", "member's size"])
@pytest.mark.parametrize("far", [2**64 - 1, 2**62, 2**40])
def test_wide_numbers_that_lead_nowhere(path: Path, monkeypatch: pytest.MonkeyPatch, what: str, far: int) -> None:
    raw = wide(path, {"a": np.zeros(9), "b": np.zeros(9)}, monkeypatch)
    end, extra = raw.rindex(b"PK\6\6"), raw.rindex(b"PK\1\2") + 46 + len("b.npy") + 4
    places = {"locator": end + 56 + 8, "signature": end, "start": end + 48, "size": end + 40, "member": extra + 16}
    start = places.get(what, extra)
    raw[start : start + 8] = far.to_bytes(8, "little")
    path.write_bytes(raw)
    with pytest.raises(CheckpointError), Archive(path) as archive:
        archive.header("b")


def npy(header: str, version: int = 1) -> io.BytesIO:
    width = "<H" if version == 1 else "<I"
    text = header.encode("latin-1")
    return io.BytesIO(b"\x93NUMPY" + bytes([version, 0]) + struct.pack(width, len(text)) + text)


def test_headers_of_other_writers() -> None:
    for version in (1, 2, 3):
        header = parse_header(npy("{'descr':'>f4','fortran_order':True,'shape':(3,4)}   \n", version))
        assert (header.dtype, header.shape, header.is_fortran) == (np.dtype(">f4"), (3, 4), True)
        assert header.nbytes == 48


PLAIN = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
BAD_HEADERS = {
    "nothing": "",
    "brackets": "[" * 3000,
    "nested descr": PLAIN.replace("'<f4'", "[" * 1000 + "]" * 1000),
    "code": PLAIN.replace("(3, 4)", "(__import__('os').getpid(),)"),
    "negative": PLAIN.replace("3", "-3"),
    "float": PLAIN.replace("3", "3.0"),
    "too many digits": PLAIN.replace("3", "3" * 19),
    "too many axes": PLAIN.replace("3", "1, " * 40 + "3"),
    "structured": PLAIN.replace("'<f4'", "[('a', '<f4')]"),
    "object": PLAIN.replace("<f4", "|O"),
    "void": PLAIN.replace("<f4", "|V4"),
    "time": PLAIN.replace("<f4", "<M8"),
    "unknown size": PLAIN.replace("<f4", "<f3"),
    "huge text": PLAIN.replace("<f4", "<U999999999"),
    "twice": PLAIN.replace("}", "'shape': (1,), }"),
    "more": PLAIN + "1",
    "spaces": PLAIN.replace("}", " " * 4000 + "!"),
}


@pytest.mark.parametrize("header", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_bad_headers(header: str) -> None:
    with pytest.raises(ValueError, match=r"dtype|shape|header|never unpickled"):
        parse_header(npy(header))


def test_headers_that_lie_about_their_length() -> None:
    with pytest.raises(ValueError, match="header is 83886080 bytes long"):
        parse_header(io.BytesIO(b"\x93NUMPY\2\0" + struct.pack("<I", 80 << 20) + b" " * 5000))
    with pytest.raises(EOFError, match="within its header"):
        parse_header(io.BytesIO(npy(PLAIN).getvalue()[:-1]))
    with pytest.raises(ValueError, match="start like an array"):
        parse_header(io.BytesIO(b"PK\3\4" + bytes(20)))
    with pytest.raises(ValueError, match="start like an array"):
        parse_header(npy(PLAIN, version=9))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("claimed", [7, 9])
def test_data_shorter_or_longer_than_claimed(path: Path, compression: int, claimed: int) -> None:
    content = io.BytesIO()
    np.save(content, np.zeros(8))
    truth = np.lib.format.header_data_from_array_1_0(np.zeros(8))
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(lie, truth | {"shape": (claimed,)})
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("x.npy", lie.getvalue() + content.getvalue()[len(lie.getvalue()) :])
    with Archive(path) as archive, pytest.raises(CheckpointError, match="claims to be float64"):
        archive.header("x")
    # the same lie in the zip's directory too: only the data itself tells
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"PK\1\2")
    size = len(lie.getvalue()) + 8 * claimed
    raw[entry + 24 : entry + 28] = struct.pack("<I", size)
    path.write_bytes(raw)
    with Archive(path) as archive:
        for look in (archive.verify, archive.read):
            with pytest.raises(CheckpointError, match="'x' is damaged or cut short"):
                look("x")


def test_one_wrong_bit_anywhere_in_the_data_is_noticed(path: Path) -> None:
    write_npz(path, {"x": np.random.default_rng(0).normal(size=1000)})
    whole = path.read_bytes()
    start = whole.index(b"x.npy") + 100
    for place in range(start, len(whole) - 200, 97):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError), Archive(path) as archive:
            archive.verify("x")
