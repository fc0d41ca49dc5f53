"""What the debugger adds to the engine's own work: recording, opening, stepping."""

import time
from collections.abc import Callable

import numpy as np

from glassllm import Config, GlassLM
from glassllm.debug.commands import run
from glassllm.debug.opening import open_file
from glassllm.debug.recorder import record
from glassllm.debug.session import Session
from glassllm.optim import AdamW
from glassllm.train import get_batch, train_step
from tui.cli import sample_path

from .table import Result

Work = Callable[[], object]


def measure() -> list[Result]:
    return [recording(1, 32, 20), recording(8, 128, 9), opening(), walking()]


def compare(what: str, work: Work, other: Work, rounds: int, goal: float | None = None) -> Result:
    """Both in turns; the first round only warms up."""
    here, there = [], []
    for _ in range(rounds + 1):
        there.append(cpu_time(other))
        here.append(cpu_time(work))
    return Result(what, here[1:], there[1:], goal)


def cpu_time(work: Work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def recording(batch: int, length: int, rounds: int) -> Result:
    """A training step of the default model while every op is recorded by reference, and without."""
    model = GlassLM(Config())
    optimizer = AdamW(model.parameters())
    names = model.named_parameters()
    rng = np.random.default_rng(0)
    x, y = get_batch(rng.integers(0, model.config.vocab_size, 4 * length + batch), batch, length, rng)

    def step() -> None:
        train_step(model, optimizer, x, y, 1e-3)

    def recorded() -> None:
        with record(names):
            step()

    return compare(f"training step ({batch}, {length}), recorded / not", recorded, step, rounds)


def opening() -> Result:
    """From the file to a session, against the loss it has recorded."""
    model = GlassLM.load(sample_path())
    session = open_file(sample_path())
    ids, targets = np.array(session.facts.ids), np.array(session.facts.targets)
    return compare(
        "opening tiny.npz / its loss alone", lambda: open_file(sample_path()), lambda: model.loss(ids, targets), 20
    )


def walking() -> Result:
    """Every step of the run and of the way back, each with its snapshot, against the run itself."""
    model = GlassLM.load(sample_path())
    session = Session.open(model)
    ids, targets = np.array(session.facts.ids), np.array(session.facts.targets)

    def walk() -> None:
        walked = Session.open(model)
        while walked.position != walked.places.last:
            run(walked, "step")

    return compare(
        "all steps forward and back, with snapshots / loss and backward",
        walk,
        lambda: model.loss(ids, targets).backward(),
        9,
    )
