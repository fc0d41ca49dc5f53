"""Bad checkpoints: the words that must say what is wrong, and how to make one."""

import io
import json
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassllm.checkpoint import write_npz
from glassllm.config import Config
from glassllm.tokenizer import MOST_ENTRIES, SPECIALS, Tokenizer
from tests.glassllm.checkpoint.members import CONFIG, Members, config_text, members, random_weights


def directory_entry(raw: bytes) -> int:
    return raw.index(b"PK\1\2", raw.index(b"PK\1\2") + 1)  # the second one: E


def damaged(place: Callable[[bytes], int], new: bytes) -> Callable[[Path], None]:
    """Write a good file, then `new` over the bytes at `place`."""

    def build(path: Path) -> None:
        np.savez_compressed(path, **members())
        raw = bytearray(path.read_bytes())
        start = place(bytes(raw))
        raw[start : start + len(new)] = new
        path.write_bytes(raw)

    return build


def with_members(**changes: Any) -> Callable[[Path], None]:
    return lambda path: np.savez(path, **members(**changes))


def with_config(**changes: Any) -> Callable[[Path], None]:
    return with_members(__config__=config_text(**changes))


def with_header(header: bytes, size: int = 0) -> Callable[[Path], None]:
    """A good file but for E, which starts with `header` and has `size` zeros behind it."""

    def build(path: Path) -> None:
        write_npz(path, members(E=None))
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
            length = struct.pack("<I", len(header))
            file.writestr("E.npy", b"\x93NUMPY\2\0" + length + header + bytes(size))

    return build


def with_shape(shape: str) -> Callable[[Path], None]:
    return with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode(), 144)


def compressed_by(method: int) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        write_npz(path, members(E=None))
        content = io.BytesIO()
        np.save(content, random_weights(CONFIG)["E"])
        with zipfile.ZipFile(path, "a", method) as file:
            file.writestr("E.npy", content.getvalue())

    return build


def twice(path: Path) -> None:
    np.savez(path, **members())
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("E.npy", b"")


def other_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps([1]))


def truncated(path: Path) -> None:
    np.savez(path, **members())
    path.write_bytes(path.read_bytes()[:-400])


def bare_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def beside(text: str) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        np.savez(path, **members())
        path.with_name("model.tokenizer.json").write_text(text)

    return build


def folder_beside(path: Path) -> None:
    np.savez(path, **members())
    path.with_name("model.tokenizer.json").mkdir()


def honest_bomb(path: Path) -> None:
    """80 MB of zeros in 80 KB, for a config that asks for 9 x 4 numbers."""
    np.savez_compressed(path, **members(E=np.zeros((20_000_000,), np.float32)))


def bomb_for_its_config(path: Path) -> None:
    """80 MB of zeros a config does ask for, with a wrong checksum."""
    config = Config(vocab_size=5_000_000, d_model=4, n_layers=1, n_heads=2, n_kv_heads=1)
    weights: Members = {name: np.zeros(s, np.float32) for name, s in config.parameter_shapes().items()}
    write_npz(path, {"__config__": np.array(config.to_json())} | weights)
    raw = bytearray(path.read_bytes())
    raw[directory_entry(bytes(raw)) + 16] ^= 1
    path.write_bytes(raw)


objects: Any = np.array([{}])
ids: Any = np.array([1, 2])
deep_json = np.array('{"a": ' * 9000)
huge_lists = np.array("[[]," * 100_000)
structured = np.zeros((9, 4), [("x", "f4")])

BAD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    # not a checkpoint at all
    "empty": ("empty; copy", lambda path: path.write_bytes(b"")),
    "text": ("not an .npz archive; name", lambda path: path.write_text("hello\n" * 99)),
    "bare array": ("a single array, .*; name", bare_array),
    "pickle": ("pickle, which is never read; name", lambda path: path.write_bytes(pickle.dumps([1]))),
    "lfs pointer": ("pointer, .*; run git lfs", lambda path: path.write_text("version https://git-lfs\n")),
    "zip without arrays": ("no __config__ .*; save", other_members),
    "no members": ("no __config__ .*; save", lambda path: np.savez(path)),
    "folder": ("a folder, .*; name", lambda path: path.mkdir()),
    "pipe": ("not a regular file; name", lambda path: os.mkfifo(path)),
    "dangling": ("leads nowhere; mend", lambda path: path.symlink_to("none")),
    "missing": ("no such file; check the name", lambda path: None),
    "nearly": (r"no such file; did you mean modle\.npz\?", lambda path: path.with_name("modle.npz").touch()),
    # damaged archives
    "truncated": ("damaged or cut short: .*; copy", truncated),
    "only its start": ("damaged or cut short: .*; copy", lambda path: path.write_bytes(b"PK\3\4" + bytes(90))),
    "checksum": (
        "'norm_f.gamma' is damaged or cut short: Bad CRC.*; copy",
        damaged(lambda raw: raw.rindex(b"PK\1\2") + 16, b"\0\0\0\0"),
    ),
    "encrypted": ("'E' is encrypted; save", damaged(lambda raw: directory_entry(raw) + 8, b"\1")),
    "method 99": ("unknown method 99; save", damaged(lambda raw: directory_entry(raw) + 10, b"\x63")),
    "bzip2": ("unknown method 12; save", compressed_by(zipfile.ZIP_BZIP2)),
    "lzma": ("unknown method 14; save", compressed_by(zipfile.ZIP_LZMA)),
    "name twice": ("same name; copy", twice),
    "bad name": (
        "weight 'norm_f.gamma' is missing",
        damaged(lambda raw: raw.rindex(b"norm_f"), b"\xff\xfe\x1b[2J"),
    ),
    "name length": (
        "'__config__' is damaged or cut short: the directory has another name for it",
        damaged(lambda raw: raw.index(b"PK\3\4") + 26, b"\xff\x03"),
    ),
    "offset": ("damaged or cut short", damaged(lambda raw: directory_entry(raw) + 42, b"\xff\xff\xff\x7f")),
    # configs
    "config missing": ("no __config__ .*; save", with_members(__config__=None)),
    "config numbers": ("must be one string", with_members(__config__=np.zeros(3))),
    "config bytes": ("must be one string", with_members(__config__=np.array(b"{}"))),
    "config pickled": ("never unpickled", with_members(__config__=objects)),
    "config empty": ("not JSON", with_members(__config__=np.array(""))),
    "config cut": ("not JSON", with_members(__config__=np.array(CONFIG.to_json()[:-9]))),
    "config deep": ("nested too deeply", with_members(__config__=deep_json)),
    "config list": ("must be a JSON object", with_members(__config__=np.array("[1]"))),
    "config long": ("characters, more than 65536", with_members(__config__=np.array(" " * 70_000))),
    "config surrogate": ("'__config__' is damaged", with_members(__config__=np.array("{\ud800}"))),
    "config NaN": ("NaN", with_members(__config__=np.array('{"eps": NaN}'))),
    "config twice": ("twice", with_members(__config__=np.array('{"eps": 1, "eps": 2}'))),
    "config unknown": ("unknown keys: 'colour'", with_config(colour=3)),
    "config text": ("d_model must be an integer", with_config(d_model="4")),
    "config boolean": ("n_layers must be an integer", with_config(n_layers=True)),
    "config negative": ("d_model must be an integer", with_config(d_model=-4)),
    "config zero": ("max_len must be an integer", with_config(max_len=0)),
    "config null": ("vocab_size must be an integer", with_config(vocab_size=None)),
    "config float": ("n_heads must be an integer", with_config(n_heads=2.0)),
    "config infinite": ("rope_base must be", with_members(__config__=np.array('{"rope_base": 1e999}'))),
    "config beyond": ("vocab_size must be an integer", with_config(vocab_size=10**12)),
    "config huge": (r"needs .* GiB, more than the limit of 4\.0 GiB; raise", with_config(d_model=2**30)),
    "config long text": ("limit of", with_config(max_len=2**31 - 1)),
    "config layers": (r"asks for 1000000 blocks, the file holds 21 arrays", with_config(n_layers=10**6)),
    "heads": ("n_heads .* must be a multiple of n_kv_heads", with_config(n_heads=3, n_kv_heads=2)),
    "head size": ("must be even", with_config(n_heads=4)),
    "head split": ("d_model .* must be a multiple of n_heads", with_config(n_heads=3)),
    # weights
    "weight missing": ("weight 'E' is missing; save", with_members(E=None)),
    "output missing": ("weight 'output' is missing", with_config(tied=False)),
    "layer missing": ("weight 'blocks.2.norm1.gamma' is missing", with_config(n_layers=3)),
    "transposed": (r"'E' has shape \(4, 9\), .* asks for \(9, 4\); save", with_members(E=np.zeros((4, 9)))),
    "flat": (r"'E' has shape \(36,\)", with_members(E=np.zeros(36))),
    "int8": ("'E' is int8, not float16", with_members(E=np.zeros((9, 4), np.int8))),
    "bool": ("'E' is bool, not float16", with_members(E=np.zeros((9, 4), bool))),
    "complex": ("'E' is complex128, not float16", with_members(E=np.zeros((9, 4), complex))),
    "strings": ("'E' is <U1, not float16", with_members(E=np.full((9, 4), "x"))),
    "structured": ("'E' is not a plain array", with_members(E=structured)),
    "pickled": ("'E' is not a plain array: .* never unpickled; save", with_members(E=objects)),
    "no header": ("'E' is not a plain array: its header", with_header(b"")),
    "shape 1e12": ("'E' claims to be float32 of shape .*; copy", with_shape("(1000000000000, 4)")),
    "shape overflow": ("'E' claims to be", with_shape("(4294967296, 4294967296)")),
    "shape negative": ("'E' is not a plain array", with_shape("(-9, -4)")),
    "shape float": ("'E' is not a plain array", with_shape("(9.0, 4)")),
    "shape code": ("'E' is not a plain array", with_shape("(9, 2 + 2)")),
    "data short": ("'E' claims to be", with_shape("(9, 5)")),
    "data long": ("'E' claims to be", with_shape("(9, 3)")),
    "brackets": ("'E' is not a plain array: its header", with_header(b"[" * 3000)),
    "long header": ("'E' is not a plain array: its header is 83886080", with_header(b" " * (80 << 20))),
    "bomb": (r"'E' has shape \(20000000,\)", honest_bomb),
    "damaged bomb": ("'E' is damaged or cut short: Bad CRC", bomb_for_its_config),
    # what may go with them
    "tokenizer text": ("bad tokenizer: not JSON: .*; use the one", with_members(__tokenizer__=np.array("hello"))),
    "tokenizer deep": ("bad tokenizer", with_members(__tokenizer__=np.array("[" * 5000))),
    "tokenizer long": ("characters, more than", with_members(__tokenizer__=huge_lists)),
    "tokenizer numbers": ("must be one string", with_members(__tokenizer__=ids)),
    "tokenizer large": (
        "bad tokenizer: the tokenizer has 11 entries, more than 9; use",
        with_members(__tokenizer__=np.array(Tokenizer("abcdefg", []).to_json())),
    ),
    "tokenizer beside": (r"model\.tokenizer\.json: bad tokenizer: .*; use", beside("{}")),
    "tokenizer beside long": ("bad tokenizer: longer than 5248 bytes", beside(" " * 9000)),
    "tokenizer folder": (
        "model.tokenizer.json: a folder",
        folder_beside,
    ),
    "meta text": ("bad __meta__: not JSON", with_members(__meta__=np.array("hello"))),
    "meta deep": ("bad __meta__: JSON of too many", with_members(__meta__=np.array("[" * 99_999))),
    "meta list": ("__meta__ must be a JSON object", with_members(__meta__=np.array("[1]"))),
    "sample negative": (r"__sample__ holds ids from -1 to 2", with_members(__sample__=np.array([-1, 2]))),
    "sample beyond": (r"ids from 1 to 9, .*; save", with_members(__sample__=np.array([1, 9]))),
    "sample float": ("must be one row of integers", with_members(__sample__=np.array([1.0]))),
    "sample bool": ("must be one row of integers", with_members(__sample__=np.array([True]))),
    "sample scalar": ("must be one row of integers", with_members(__sample__=np.array(1))),
    "sample batch": ("must be one row of integers", with_members(__sample__=np.array([[1], [2]]))),
    "sample nothing": ("must be one row of integers", with_members(__sample__=ids[:0])),
    "sample long": ("must be one row of integers", with_members(__sample__=np.zeros(200_000, int))),
}
if not hasattr(os, "mkfifo"):
    del BAD["pipe"]


# Large ones: all but one thing in them is right


def large(
    tokenizer: str, vocab_size: int = 60_000, is_damaged: bool = False, **more: Any
) -> Callable[[Path], None]:
    """A model of so many ids with this tokenizer; its first weight may have a wrong checksum."""

    def build(path: Path) -> None:
        config = Config(vocab_size=vocab_size, d_model=4, n_layers=1, n_heads=2, n_kv_heads=1)
        weights: Members = {name: np.zeros(s, np.float16) for name, s in config.parameter_shapes().items()}
        texts = {"__config__": np.array(config.to_json()), "__tokenizer__": np.array(tokenizer)}
        write_npz(path, texts | more | weights)
        if is_damaged:
            raw = bytearray(path.read_bytes())
            raw[raw.rindex(b"E.npy") - 46 + 16] ^= 1
            path.write_bytes(raw)

    return build


def tokenizer_of(merges: list[list[str]]) -> str:
    content = {"version": 1, "alphabet": FACES, "merges": merges}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


FACES = [chr(0x1F600 + i) for i in range(64)]  # of the characters that take most memory
PAIRS = [[a, b] for a in FACES for b in FACES]
MERGES = [*PAIRS, *([a + b, c] for a, b in PAIRS for c in FACES)][: MOST_ENTRIES - len(SPECIALS) - len(FACES) - 1]
LAST = ["".join(FACES[:2])] * 2
META = np.array("{" + ",".join(f'"{i}":0' for i in range(9000)) + "}")
SAMPLE = np.zeros(1 << 17, np.uint8)

LARGE: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "last merge": ("bad tokenizer: .* joins the unknown 'zz'; use", large(tokenizer_of([*MERGES, ["zz", "a"]]))),
    "one entry too many": (
        "the tokenizer has 51201 entries, more than 51200",
        large(tokenizer_of([*MERGES, LAST, LAST])),
    ),
    "more than the model": (
        "the tokenizer has 51200 entries, more than 50000",
        large(tokenizer_of([*MERGES, LAST]), vocab_size=50_000),
    ),
    "a million ids": ("tokenizer: merge 0 must be two strings", large('{"merges":[' + "[]," * 500_000, 1_000_000)),
    "objects": ("tokenizer: JSON of too many entries", large('{"a":' * 300_000, 1_000_000)),
    "long": ("characters, more than 1572864", large(" " * 2_000_000, 1_000_000)),
    "damaged weight": (
        "'E' is damaged or cut short: Bad CRC",
        large(tokenizer_of([*MERGES, LAST]), is_damaged=True),
    ),
    "with all there may be": (
        "joins the unknown 'zz'",
        large(tokenizer_of([*MERGES, ["zz", "a"]]), __meta__=META, __sample__=SAMPLE),
    ),
    "meta": ("bad __meta__: JSON of too many", large(tokenizer_of([]), __meta__=np.array('{"":' * 130_000))),
    "sample": ("one row of integers", large(tokenizer_of([]), __sample__=np.zeros(1 << 20, np.uint8))),
}
"""Refusing each takes as much as refusing may."""
