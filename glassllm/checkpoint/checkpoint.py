"""Checkpoint: a model's config and weights, and what may go with them, in one .npz.

The config comes first and says which weights there must be and how large; a file that holds anything else is
refused before any of it is read.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from glassllm.checkpoint.archive import COPY_AGAIN, Archive, Array, CheckpointError, opening_error
from glassllm.checkpoint.npz import write_npz
from glassllm.config import JSON_BYTES, Config, Shape
from glassllm.files import StrPath, parse_json, read_text
from glassllm.tokenizer import FILE_BYTES, MOST_ENTRIES, Tokenizer

CONFIG, TOKENIZER, META, SAMPLE = "__config__", "__tokenizer__", "__meta__", "__sample__"

LIMIT_BYTES = 4 << 30
META_CHARACTERS = 512 << 10
META_BYTES = 2 << 20  # that parsing it may take
ENTRY_CHARACTERS = 128  # of a tokenizer's JSON for each entry, about six times what real ones take
SAMPLE_IDS = 1 << 17
GIB = 1 << 30
SAVE_AGAIN = "save the model again with GlassLM.save"


@dataclass(frozen=True)
class Checkpoint:
    """What one file holds."""

    config: Config
    weights: dict[str, Array]  # in file order; float16, float32 or float64 as in the file unless asked otherwise
    tokenizer: Tokenizer | None  # None: neither in the file nor beside it
    meta: dict[str, Any]  # notes of whoever trained it; empty where there are none
    sample: Array | None  # (n,) int64 ids to open with
    warnings: tuple[str, ...]  # one line each


def load_checkpoint(path: StrPath, limit_bytes: int = LIMIT_BYTES, dtype: DTypeLike | None = None) -> Checkpoint:
    """Read a checkpoint, its weights as `dtype` if one is given.

    Raises CheckpointError for any file that is not one or asks for more than `limit_bytes`.
    """
    with Archive(path) as archive:
        return read_checkpoint(archive, limit_bytes, dtype)


def read_checkpoint(
    archive: Archive, limit_bytes: int = LIMIT_BYTES, dtype: DTypeLike | None = None
) -> Checkpoint:
    """`load_checkpoint` from an archive that is open; what else it holds is left unread."""
    config = read_config(archive, limit_bytes)
    shapes = config.parameter_shapes()
    check_weights(archive, shapes, limit_bytes)
    meta = _read_meta(archive)
    sample = _read_sample(archive, config)
    _read_tokenizer(archive, config)  # a bad one is refused before weights are read; a good one is not held
    for name in shapes:
        archive.verify(name)
    tokenizer = _read_tokenizer(archive, config)
    weights = {name: archive.read(name, dtype) for name in shapes}
    warnings = [*_extra_members(archive, shapes), *_unnamed_ids(tokenizer, config)]
    return Checkpoint(config, weights, tokenizer, meta, sample, tuple(warnings))


def read_config(archive: Archive, limit_bytes: int = LIMIT_BYTES) -> Config:
    """The config of an archive, once it is known that its model fits and may be there."""
    if CONFIG not in archive:
        raise archive.fault(f"no {CONFIG} in it: not a checkpoint", SAVE_AGAIN)
    text = archive.text(CONFIG, JSON_BYTES)
    try:
        config = Config.from_json(text)
    except ValueError as error:
        raise archive.fault(f"bad {CONFIG}: {error}", SAVE_AGAIN) from None
    rotary_tables = 8 * config.max_len * config.head_size
    _check_limit(archive, 4 * config.parameter_count + rotary_tables, limit_bytes)
    if config.n_layers > len(archive.names):
        held = f"the file holds {len(archive.names)} arrays"
        raise archive.fault(f"{CONFIG} asks for {config.n_layers} blocks, {held}", COPY_AGAIN)
    return config


def _check_limit(archive: Archive, needed: int, limit_bytes: int) -> None:
    if needed > limit_bytes:
        sizes = f"{needed / GIB:,.1f} GiB, more than the limit of {limit_bytes / GIB:,.1f} GiB"
        raise archive.fault(f"the model needs {sizes}", "raise the limit if you trust the file")


def check_weights(archive: Archive, shapes: Mapping[str, Shape], limit_bytes: int = LIMIT_BYTES) -> None:
    """Raise CheckpointError unless there are floats of each name and shape, no larger than the limit in all."""
    total = 0
    for name, shape in shapes.items():
        if name not in archive:
            raise archive.fault(f"the weight '{name}' is missing", SAVE_AGAIN)
        header = archive.header(name)
        if not _is_float(header.dtype):
            kinds = "not float16, float32 or float64"
            raise archive.fault(f"the weight '{name}' is {header.dtype}, {kinds}", SAVE_AGAIN)
        if header.shape != shape:
            asked = f"{CONFIG} asks for {shape}"
            raise archive.fault(f"the weight '{name}' has shape {header.shape}, {asked}", SAVE_AGAIN)
        total += header.nbytes
    _check_limit(archive, total, limit_bytes)


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize in (2, 4, 8)


def _read_tokenizer(archive: Archive, config: Config) -> Tokenizer | None:
    path = archive.path
    limit = min(FILE_BYTES, 4096 + ENTRY_CHARACTERS * config.vocab_size)
    most = min(MOST_ENTRIES, config.vocab_size)
    try:
        if TOKENIZER in archive:
            return Tokenizer.from_json(archive.text(TOKENIZER, limit), most)
        path = tokenizer_path(archive.path)
        return Tokenizer.from_json(read_text(path, limit), most) if path.exists() else None
    except CheckpointError:
        raise
    except OSError as error:
        raise opening_error(path, error) from None
    except ValueError as error:
        raise CheckpointError(path, f"bad tokenizer: {error}", "use the one it was trained with") from None


def tokenizer_path(path: StrPath) -> Path:
    """Where the tokenizer of NAME.npz may lie: NAME.tokenizer.json."""
    return Path(os.fspath(path).removesuffix(".npz") + ".tokenizer.json")


def _read_meta(archive: Archive) -> dict[str, Any]:
    if META not in archive:
        return {}
    try:
        meta = parse_json(archive.text(META, META_CHARACTERS), META_BYTES)
    except CheckpointError:
        raise
    except ValueError as error:
        raise archive.fault(f"bad {META}: {error}", SAVE_AGAIN) from None
    if not isinstance(meta, dict):
        raise archive.fault(f"{META} must be a JSON object", SAVE_AGAIN)
    return meta


def _read_sample(archive: Archive, config: Config) -> Array | None:
    if SAMPLE not in archive:
        return None
    header = archive.header(SAMPLE)
    is_row = header.shape[:-1] in ((), (1,)) and header.shape != ()
    if header.dtype.kind not in "iu" or not is_row or not 0 < header.count <= SAMPLE_IDS:
        found = f"{header.dtype} of shape {header.shape}"
        raise archive.fault(f"{SAMPLE} must be one row of integers, got {found}", SAVE_AGAIN)
    ids = archive.read(SAMPLE).reshape(-1)
    if ids.min() < 0 or ids.max() >= config.vocab_size:
        found = f"ids from {ids.min()} to {ids.max()}, the vocabulary {config.vocab_size} entries"
        raise archive.fault(f"{SAMPLE} holds {found}", SAVE_AGAIN)
    return ids.astype(np.int64)


def _extra_members(archive: Archive, shapes: Mapping[str, Shape]) -> Iterable[str]:
    known = {*shapes, CONFIG, TOKENIZER, META, SAMPLE}
    if extra := [name for name in archive.names if name not in known]:
        shown = ", ".join(ascii(name[:40]) for name in extra[:3]) + (", …" if len(extra) > 3 else "")
        yield f"skipped {len(extra)} unknown {'entry' if len(extra) == 1 else 'entries'}: {shown}"


def _unnamed_ids(tokenizer: Tokenizer | None, config: Config) -> Iterable[str]:
    if tokenizer and tokenizer.vocab_size < config.vocab_size:
        yield f"the tokenizer names {tokenizer.vocab_size} of the model's {config.vocab_size} ids"


def save_checkpoint(
    path: StrPath,
    config: Config,
    weights: Mapping[str, Array],
    *,
    tokenizer: Tokenizer | None = None,
    meta: Mapping[str, Any] | None = None,
    sample: Iterable[int] | None = None,
) -> None:
    """Write what `load_checkpoint` reads, whole or not at all. ValueError if the weights are not the config's."""
    write_npz(path, checkpoint_arrays(config, weights, tokenizer=tokenizer, meta=meta, sample=sample))


def checkpoint_arrays(
    config: Config,
    weights: Mapping[str, Array],
    *,
    tokenizer: Tokenizer | None = None,
    meta: Mapping[str, Any] | None = None,
    sample: Iterable[int] | None = None,
) -> dict[str, Array]:
    """The members of a checkpoint's file by name. ValueError if the weights are not the config's."""
    arrays: dict[str, Array] = {CONFIG: np.array(config.to_json())}
    for name, shape in config.parameter_shapes().items():
        weight = np.asarray(weights[name]) if name in weights else None
        if weight is None or weight.shape != shape or not _is_float(weight.dtype):
            found = "nothing" if weight is None else f"{weight.dtype} {weight.shape}"
            raise ValueError(f"the weight '{name}' must be floats of shape {shape}, got {found}")
        arrays[name] = weight
    if unknown := weights.keys() - arrays.keys():
        raise ValueError(f"the config knows no weight '{min(unknown)}'")
    if tokenizer is not None:
        arrays[TOKENIZER] = np.array(tokenizer.to_json())
    if meta is not None:
        arrays[META] = np.array(json.dumps(meta))
    if sample is not None:
        arrays[SAMPLE] = np.asarray(sample, np.int64)
    return arrays
