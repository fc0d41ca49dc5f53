"""What is fuzzed: for each kind of file a few valid ones, how it is read, and how what it holds is used."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from glassllm.checkpoint import CheckpointError, load_checkpoint, save_checkpoint, write_npz
from glassllm.config import Config
from glassllm.debug.commands import run
from glassllm.debug.explain.rule import rule_lines
from glassllm.debug.recording.read import open_recording
from glassllm.debug.recording.write import described
from glassllm.debug.report import report
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from glassllm.model import GlassLM
from glassllm.tokenizer import Tokenizer
from tests.glassllm.debug.recording import small

CONFIG = Config(vocab_size=9, d_model=4, n_layers=1, n_heads=2, n_kv_heads=1, max_len=6)
TOKENIZER = Tokenizer("ab▁", [("a", "b"), ("▁", "ab")])
LINES = (
    "last",
    "step",
    "backward",
    "last",
    "40 step-back",
    "contribution-back",
    "first",
    "3 next",
    "finish",
    "non-finite",
)


@dataclass(frozen=True)
class Kind:
    """`valid()` gives whole files; `read` opens one, and `use` does with it what a person would."""

    name: str
    file_name: str
    valid: Callable[[], list[bytes]]
    read: Callable[[Path], Any]
    use: Callable[[Any], None]
    refusals: type[Exception]


def _contents(*writers: Callable[[Path], object]) -> list[bytes]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for i, write in enumerate(writers):
            path = Path(folder) / f"{i}.npz"
            write(path)
            found.append(path.read_bytes())
    return found


# Checkpoints


@cache
def checkpoints() -> list[bytes]:
    """Plain as older writers leave it, and with all that ours adds."""
    model = GlassLM(CONFIG)
    weights = {name: p.data.astype(np.float16) for name, p in model.named_parameters().items()}
    untied = GlassLM(Config(9, 4, 1, 2, 2, 6, d_ff=3, head_dim=6, tied=False))
    untied_weights = {name: p.data for name, p in untied.named_parameters().items()}
    more: Any = {"tokenizer": TOKENIZER, "meta": {"val_loss": [3.5, 2.5]}, "sample": [4, 5, 8]}
    return _contents(
        lambda path: np.savez(path, __config__=np.array(CONFIG.to_json()), **weights),
        lambda path: save_checkpoint(path, CONFIG, weights, **more),
        lambda path: save_checkpoint(path, untied.config, untied_weights, **more),
    )


def use_checkpoint(checkpoint: Any) -> None:
    for name, shape in checkpoint.config.parameter_shapes().items():
        assert checkpoint.weights[name].shape == shape
    assert all(warning.isprintable() for warning in checkpoint.warnings)
    if checkpoint.tokenizer is not None:
        use_tokenizer(checkpoint.tokenizer)


# Recordings


@cache
def recordings() -> list[bytes]:
    """One with a bit of everything, and one of a model's run with its words."""
    model = GlassLM(CONFIG)
    model.tokenizer = TOKENIZER
    run_of_model = Session.open(model, ids=[4, 5, 8, 7])
    for line in ("continue", "9 step"):
        run(run_of_model, line)
    return _contents(
        lambda path: small.put_together(path, small.parts()),
        lambda path: write_npz(path, described(run_of_model)),
    )


@cache
def large_recordings() -> list[bytes]:
    """The first of those, with texts for its ids and beside much that is right: holding it would be noticed."""
    said = small.parts()
    said["rows"].append(small.row("leaf", "large", small.added(said, np.zeros(24_000_000, np.int8))))
    said["vocabulary"] = ["aaa"] * 10_000
    return _contents(lambda path: write_npz(path, small.members_of(said)))


def open_and_close(session: Session) -> None:
    """What a large one is used for here: it was opened."""
    session.snapshot()


def use_recording(session: Session) -> None:
    """Walk through it, look at every row and at cells of it, report it, and save it again."""
    for line in LINES:
        command(session, line)
        look(session)
    for row in range(min(len(session.tape.rows), 40)):
        session.selection = row
        look(session)
    json.dumps(report(session), allow_nan=False)
    described(session)


def command(session: Session, line: str) -> None:
    try:
        run(session, line)
    except CommandError as refusal:
        assert str(refusal).isprintable(), f"not one line: {refusal!r}"


def look(session: Session) -> None:
    focus = session.snapshot().focus
    list(focus.contributions)
    assert len(focus.axes) == focus.value.ndim
    rule_lines(focus, None)
    if focus.value.size:
        rule_lines(focus, (0,) * focus.value.ndim)
        rule_lines(focus, tuple(n - 1 for n in focus.value.shape))


# Tokenizers


@cache
def tokenizers() -> list[bytes]:
    texts = ["ab ab ba\n" * 9, "eins zwei drei vier 猫 é\n" * 3]
    return [Tokenizer.train(text, 24).to_json().encode() for text in texts] + [TOKENIZER.to_json().encode()]


def use_tokenizer(tokenizer: Tokenizer) -> None:
    for text in ("ab ba  abba\n\nc", "\ud800 猫 é", ""):
        ids = tokenizer.encode(text)
        assert all(0 <= i < tokenizer.vocab_size for i in ids)
        tokenizer.decode(ids)
    assert Tokenizer.from_json(tokenizer.to_json()).merges == tokenizer.merges


KINDS = {
    kind.name: kind
    for kind in (
        Kind("checkpoint", "model.npz", checkpoints, load_checkpoint, use_checkpoint, CheckpointError),
        Kind("recording", "run.npz", recordings, open_recording, use_recording, CheckpointError),
        Kind("large-recording", "run.npz", large_recordings, open_recording, open_and_close, CheckpointError),
        Kind("tokenizer", "model.tokenizer.json", tokenizers, Tokenizer.load, use_tokenizer, ValueError),
    )
}
