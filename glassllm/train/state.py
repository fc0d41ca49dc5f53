"""Training state: all that a run needs to go on to the bit, in one NAME.train.npz beside NAME.npz.

It is a checkpoint with more in it, so whatever opens checkpoints opens it: float32 weights, and besides them
AdamW's moments and counts, the curves, and `__run__`, the rest as JSON. It is read as carefully as a checkpoint.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.checkpoint import (
    Archive,
    check_weights,
    checkpoint_arrays,
    read_checkpoint,
    read_config,
    writing_npz,
)
from glassllm.config import Config, Shape
from glassllm.files import StrPath, brief, parse_json
from glassllm.model import GlassLM
from glassllm.tokenizer import Tokenizer

from .curve import CAPACITY, ROWS, Curve
from .report import group_of
from .settings import RunSettings

RUN, FIRST, SECOND, COUNTS, CURVE = "__run__", "adamw.first.", "adamw.second.", "adamw.counts", "curve."
RUN_CHARACTERS = 512 << 10
RUN_BYTES = 8 << 20
MOST_STEPS = 10**9
ANEW = "begin the run anew"


class Best(NamedTuple):
    """The lowest loss so far, in nats, and the step that had it."""

    step: int
    loss: float


@dataclass(frozen=True)
class Run:
    """How far a run is."""

    settings: RunSettings
    step: int  # steps done
    rng: Mapping[str, int]  # of the PCG64 that draws the batches: state, inc, has_uint32, uinteger
    best: Best | None  # of the batches' losses; None before the first step
    best_val: Best | None  # None: not measured yet
    reference: float | None  # the lowest loss since the last alarm
    clipped: int  # steps in which gradients were clipped
    data: str  # fingerprints of the ids trained and validated on
    val_data: str | None


@dataclass(frozen=True, eq=False)
class TrainingState:
    """A run between two steps: arrays that nothing writes into, float32 and by the parameter's name."""

    config: Config
    weights: Mapping[str, Array]
    first: Mapping[str, Array]
    second: Mapping[str, Array]
    counts: Mapping[str, int]
    run: Run
    curves: Mapping[str, Curve]
    tokenizer: Tokenizer | None
    meta: Mapping[str, Any]
    sample: Array | None

    def model(self) -> GlassLM:
        """A model of these weights, not copied."""
        return GlassLM.of(self.config, self.weights, self.tokenizer, self.meta, self.sample)


def state_path(path: StrPath) -> Path:
    """NAME.train.npz for NAME.npz, and for itself."""
    name = os.fspath(path).removesuffix(".npz").removesuffix(".train")
    return Path(f"{name}.train.npz")


def curve_names(config: Config) -> list[str]:
    """The curves of a run: what each step reports, and the update of each group of parameters."""
    groups = dict.fromkeys(group_of(name) for name in config.parameter_shapes())
    return ["loss", "val_loss", "lr", "grad_norm", *(f"update.{group}" for group in groups)]


# Writing


def save_state(path: StrPath, state: TrainingState) -> None:
    """Write the state, whole or not at all. CheckpointError where that cannot be."""
    for _ in writing_state(path, state):
        pass


def writing_state(path: StrPath, state: TrainingState) -> Iterator[tuple[int, int]]:
    """`save_state` array by array, yielding (done, total); abandoned midway it has written nothing."""
    arrays = checkpoint_arrays(
        state.config, state.weights, tokenizer=state.tokenizer, meta=state.meta or None, sample=state.sample
    )
    arrays[RUN] = np.array(json.dumps(_run_values(state)))
    for name in state.config.parameter_shapes():
        arrays[FIRST + name], arrays[SECOND + name] = state.first[name], state.second[name]
    arrays[COUNTS] = np.array([state.counts[name] for name in state.config.parameter_shapes()], np.int64)
    arrays |= {CURVE + name: curve.bins for name, curve in state.curves.items()}
    return writing_npz(path, arrays)


def _run_values(state: TrainingState) -> dict[str, Any]:
    run = state.run
    return {
        "version": 1,
        "settings": run.settings.to_json(),
        "step": run.step,
        "rng": {name: f"{value:x}" for name, value in run.rng.items()},
        "best": run.best,
        "best_val": run.best_val,
        "reference": run.reference,
        "clipped": run.clipped,
        "data": run.data,
        "val_data": run.val_data,
        "strides": {name: curve.stride for name, curve in state.curves.items()},
    }


# Reading


def load_state(path: StrPath) -> TrainingState:
    """Read a training state. CheckpointError of one line for any file that is not one."""
    with Archive(path) as archive:
        config = read_config(archive)
        run, strides = _read_run(archive)
        shapes = config.parameter_shapes()
        moments = {prefix + name: shape for prefix in (FIRST, SECOND) for name, shape in shapes.items()}
        _check_floats(archive, shapes | moments)
        _check_member(archive, COUNTS, "int64", (len(shapes),))
        curves = dict(_read_curves(archive, config, strides))
        for name in moments:
            archive.verify(name)
        counts = archive.read(COUNTS).tolist()
        checkpoint = read_checkpoint(archive)
        first, second = ({name: archive.read(prefix + name) for name in shapes} for prefix in (FIRST, SECOND))
    named_counts = dict(zip(shapes, counts, strict=True))
    weights, tokenizer = checkpoint.weights, checkpoint.tokenizer
    return TrainingState(
        config, weights, first, second, named_counts, run, curves, tokenizer, checkpoint.meta, checkpoint.sample
    )


def load_run(path: StrPath) -> tuple[Config, Run]:
    """How far a saved run is, its arrays left unread. CheckpointError of one line for a file without one."""
    with Archive(path) as archive:
        return read_config(archive), _read_run(archive)[0]


def _check_floats(archive: Archive, shapes: Mapping[str, Shape]) -> None:
    check_weights(archive, shapes)
    for name in shapes:
        if archive.header(name).dtype.itemsize != 4:
            raise archive.fault(f"'{name}' is {archive.header(name).dtype}, not float32", ANEW)


def _check_member(archive: Archive, name: str, dtype: str, shape: Shape) -> None:
    if name not in archive:
        raise archive.fault(f"'{name}' is missing", ANEW)
    header = archive.header(name)
    if header.dtype.newbyteorder("=") != np.dtype(dtype) or header.shape != shape:
        found = f"{header.dtype} of shape {header.shape}"
        raise archive.fault(f"'{name}' must be {dtype} of shape {shape}, got {found}", ANEW)


def _read_run(archive: Archive) -> tuple[Run, Mapping[str, Any]]:
    """The run, and the strides of its curves."""
    values = _run_json(archive)
    try:
        return _run_of(values), values["strides"]
    except (ValueError, KeyError, TypeError) as error:
        raise archive.fault(f"bad {RUN}: {error}", ANEW) from None


def _run_json(archive: Archive) -> dict[str, Any]:
    if RUN not in archive:
        raise archive.fault(f"no {RUN} in it: not a training state", "name a file like NAME.train.npz")
    text = archive.text(RUN, RUN_CHARACTERS)
    try:
        values = parse_json(text, RUN_BYTES)
    except ValueError as error:
        raise archive.fault(f"{RUN}: {error}", ANEW) from None
    if not isinstance(values, dict) or not isinstance(values.get("strides"), dict):
        raise archive.fault(f"{RUN} must be a JSON object with strides", ANEW)
    if values.get("version") != 1:
        raise archive.fault(f"{RUN} has version {brief(values.get('version'))}, not 1", "update this program")
    return values


def _run_of(values: Mapping[str, Any]) -> Run:
    rng = values["rng"]
    widths = {"state": 128, "inc": 128, "has_uint32": 1, "uinteger": 32}
    if not isinstance(rng, dict) or set(rng) != set(widths):
        raise ValueError(f"rng must have {', '.join(widths)}")
    reference = values["reference"]
    return Run(
        settings=RunSettings.from_json(values["settings"]),
        step=_whole(values, "step"),
        rng={name: _hexadecimal(name, rng[name], bits) for name, bits in widths.items()},
        best=_best(values, "best"),
        best_val=_best(values, "best_val"),
        reference=None if reference is None else _finite("reference", reference),
        clipped=_whole(values, "clipped"),
        data=_fingerprint(values, "data"),
        val_data=None if values["val_data"] is None else _fingerprint(values, "val_data"),
    )


def _whole(values: Mapping[str, Any], name: str) -> int:
    value = values[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_STEPS:
        raise ValueError(f"{name} must be from 0 to {MOST_STEPS}, got {brief(value)}")
    return value


def _finite(name: str, value: Any) -> float:
    # note: a plain comparison also refuses NaN and integers no float can hold
    if not isinstance(value, int | float) or isinstance(value, bool) or not -1e300 < value < 1e300:
        raise ValueError(f"{name} must be a finite number, got {brief(value)}")
    return float(value)


def _hexadecimal(name: str, text: Any, bits: int) -> int:
    is_plain = isinstance(text, str) and 0 < len(text) <= 32 and set(text) <= set("0123456789abcdef")
    if not is_plain or int(text, 16) >= 1 << bits:
        raise ValueError(f"rng's {name} must be {bits} bits in hexadecimal, got {brief(text)}")
    return int(text, 16)


def _best(values: Mapping[str, Any], name: str) -> Best | None:
    pair = values[name]
    if pair is None:
        return None
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError(f"{name} must be a step and a loss, got {brief(pair)}")
    return Best(_whole({name: pair[0]}, name), _finite(name, pair[1]))


def _fingerprint(values: Mapping[str, Any], name: str) -> str:
    value = values[name]
    if not isinstance(value, str) or len(value) != 64:
        raise ValueError(f"{name} must be a fingerprint, got {brief(value)}")
    return value


def _read_curves(archive: Archive, config: Config, strides: Mapping[str, Any]) -> Iterable[tuple[str, Curve]]:
    for name in curve_names(config):
        member = CURVE + name
        if member not in archive:
            raise archive.fault(f"'{member}' is missing", ANEW)
        header = archive.header(member)
        size = header.shape[-1] if header.shape else 0
        _check_member(archive, member, "float64", (len(ROWS), min(size, CAPACITY)))
        try:
            stride = _whole(strides, name)
            yield name, Curve.of(stride, archive.read(member))
        except (ValueError, KeyError) as error:
            raise archive.fault(f"bad '{member}': {error}", ANEW) from None
