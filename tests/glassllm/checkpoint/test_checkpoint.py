"""Checkpoints: every file we write opens again, and no other file costs more than one line."""

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassllm.checkpoint import CheckpointError, load_checkpoint, save_checkpoint, write_npz
from glassllm.config import Config
from glassllm.tokenizer import Tokenizer

CONFIG = Config(vocab_size=9, d_model=4, n_layers=2, n_heads=2, n_kv_heads=1, max_len=6)
TOKENIZER = Tokenizer("ab▁", [("a", "b"), ("▁", "ab")])

Members = dict[str, Any]


def random_weights(config: Config, dtype: Any = np.float32) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in config.parameter_shapes().items()}


def members(**changes: Any) -> Members:
    """All arrays of a good file, some replaced; None leaves one out."""
    arrays = {"__config__": np.array(CONFIG.to_json())} | random_weights(CONFIG) | changes
    return {name: array for name, array in arrays.items() if array is not None}


def config_text(**changes: Any) -> Any:
    return np.array(json.dumps(json.loads(CONFIG.to_json()) | changes))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.npz"


# Files that open


@pytest.mark.parametrize("config", [CONFIG, Config(9, 4, 1, 2, 2, 6, d_ff=3, head_dim=6, tied=False)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_saved_and_loaded(path: Path, config: Config, dtype: Any) -> None:
    weights = random_weights(config, dtype)
    notes = {"val_loss": [3.5, 2.5], "name": "näive"}
    save_checkpoint(path, config, weights, tokenizer=TOKENIZER, meta=notes, sample=[4, 5, 8])
    loaded = load_checkpoint(path)
    assert loaded.config == config and loaded.meta == notes and loaded.warnings == ()
    assert list(loaded.weights) == list(weights)
    for name, weight in weights.items():
        np.testing.assert_array_equal(loaded.weights[name], weight)
        assert loaded.weights[name].dtype == dtype
    assert loaded.tokenizer is not None and loaded.tokenizer.merges == TOKENIZER.merges
    assert loaded.sample is not None and loaded.sample.tolist() == [4, 5, 8]


def test_the_plain_file_of_older_writers(path: Path) -> None:
    np.savez_compressed(path, **members())
    loaded = load_checkpoint(str(path))
    assert (loaded.tokenizer, loaded.meta, loaded.sample, loaded.warnings) == (None, {}, None, ())


def test_what_is_ours_stays_out_of_a_plain_file(path: Path) -> None:
    save_checkpoint(path, CONFIG, random_weights(CONFIG))
    with np.load(path) as file:
        assert file.files == ["__config__", *CONFIG.parameter_shapes()]
        assert file["__config__"].shape == () and file["__config__"].dtype.kind == "U"


@pytest.mark.parametrize("change", [np.asfortranarray, lambda w: w.astype(">f4"), lambda w: w.astype(">f8")])
def test_any_order_of_axes_and_bytes(path: Path, change: Callable[[Any], Any]) -> None:
    weights = random_weights(CONFIG)
    np.savez(path, **members(**{name: change(weight) for name, weight in weights.items()}))
    for name, weight in load_checkpoint(path).weights.items():
        np.testing.assert_array_equal(weight, weights[name])
        assert weight.dtype.isnative and weight.flags.c_contiguous


def test_a_tokenizer_beside_the_file(path: Path) -> None:
    np.savez(path, **members())
    TOKENIZER.save(path.with_name("model.tokenizer.json"))
    tokenizer = load_checkpoint(path).tokenizer
    assert tokenizer is not None and tokenizer.alphabet == TOKENIZER.alphabet


def test_a_sample_may_have_a_batch_axis(path: Path) -> None:
    np.savez(path, **members(__sample__=np.array([[1, 2]], np.uint8)))
    sample = load_checkpoint(path).sample
    assert sample is not None and sample.tolist() == [1, 2] and sample.dtype == np.int64


def test_what_is_unknown_is_named_once_and_never_read(path: Path) -> None:
    objects: Any = np.array([{}])
    np.savez(path, **members(x=objects, y=np.zeros(3), **{"z\x1b[2J": np.zeros(3)}))
    (warning,) = load_checkpoint(path).warnings
    assert warning == r"skipped 3 unknown entries: 'x', 'y', 'z\x1b[2J'"


def test_a_tokenizer_smaller_than_the_model_is_worth_a_warning(path: Path) -> None:
    np.savez(path, **members(__tokenizer__=np.array(Tokenizer("ab", []).to_json())))
    assert load_checkpoint(path).warnings == ("the tokenizer names 6 of the model's 9 ids",)


def test_a_link_is_followed(path: Path) -> None:
    np.savez(path, **members())
    link = path.with_name("link.npz")
    link.symlink_to(path)
    assert load_checkpoint(link).config == CONFIG


def test_the_limit_is_an_option(path: Path) -> None:
    np.savez(path, **members())
    with pytest.raises(CheckpointError, match=r"limit of .* GiB; raise the limit"):
        load_checkpoint(path, limit_bytes=1000)


@pytest.mark.parametrize(
    "weights", [{}, {"more": np.zeros(3)}, {"E": np.zeros((9, 5))}, {"E": np.zeros((9, 4), int)}]
)
def test_only_the_configs_weights_are_saved(path: Path, weights: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="weight"):
        save_checkpoint(path, CONFIG, (random_weights(CONFIG) | weights) if weights else {})
    assert not path.exists()


# Files that do not


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
        "'__config__' is damaged or cut short: File name in directory",
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


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line_and_costs_little(name: str, path: Path) -> None:
    words, build = BAD[name]
    build(path)
    start = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=words) as refusal:
            load_checkpoint(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    error = refusal.value
    assert str(error) == f"{error.path}: {error.fault}; {error.remedy}"
    assert str(error).isprintable() and error.fault and error.remedy and len(error.fault) < 300
    assert str(path.parent) in str(error.path)
    assert peak < 10e6 and time.perf_counter() - start < 2


def test_a_file_that_may_not_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(CheckpointError, match="may not be read; change its permissions"):
        load_checkpoint(path)


@pytest.mark.parametrize("name", ["", "a\0b", "none/x.npz", "x" * 5000, "\ud800"])
def test_names_that_are_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError) as refusal:
        load_checkpoint(name)
    assert str(refusal.value).isprintable()


def test_escape_codes_in_names_never_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2Jb.npz").write_text("x")
    with pytest.raises(CheckpointError) as refusal:
        load_checkpoint(tmp_path / "a\x1b[2Jc.npz")
    assert str(refusal.value).endswith(r"a\x1b[2Jc.npz: no such file; did you mean a\x1b[2Jb.npz?")


def test_every_prefix_of_a_file_is_refused(path: Path) -> None:
    np.savez_compressed(path, **members())
    whole = path.read_bytes()
    for length in range(0, len(whole), 211):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            load_checkpoint(path)


def test_no_file_with_a_wrong_byte_raises_anything_else(path: Path) -> None:
    np.savez_compressed(path, **members())
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            loaded = load_checkpoint(path)  # a byte that carries nothing, such as a date
        except CheckpointError as error:
            assert str(error).isprintable()
        else:
            assert loaded.config == CONFIG


KILLED_WHILE_SAVING = """
import os, sys, numpy as np
from glassllm.checkpoint import save_checkpoint
from glassllm.config import Config

def killed(*args, **kwargs):
    os.kill(os.getpid(), 9)

config = Config(9, 4, 2, 2, 1, 6)
weights = {name: np.ones(shape, np.float32) for name, shape in config.parameter_shapes().items()}
moments = {"fsync": os, "replace": os, "write_array": np.lib.format}
setattr(moments[sys.argv[2]], sys.argv[2], killed)
save_checkpoint(sys.argv[1], config, weights)
"""


@pytest.mark.parametrize("moment", ["write_array", "fsync", "replace"])
def test_killed_while_saving_the_old_file_is_whole(path: Path, moment: str) -> None:
    save_checkpoint(path, CONFIG, random_weights(CONFIG))
    before = path.read_bytes()
    child = subprocess.run([sys.executable, "-c", KILLED_WHILE_SAVING, path, moment], check=False)
    assert abs(child.returncode) == 9
    assert path.read_bytes() == before


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(path, CONFIG, random_weights(CONFIG))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="cannot be written: No space left on device; choose"):
        save_checkpoint(path, CONFIG, random_weights(CONFIG))
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]
