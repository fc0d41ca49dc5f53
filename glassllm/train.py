"""Training: batches drawn from one long row of ids, one step at a time, and the loss on text not trained on.

`train_steps` is a generator, so whoever pulls it may stop, look and go on between any two steps.
"""

import ctypes
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .autograd import no_grad
from .autograd.ops import Array
from .model import GlassLM
from .optim import AdamW, clip_grad_norm, lr_schedule

MAX_NORM = 1.0  # of all gradients together

Report = dict[str, Any]


def get_batch(data: ArrayLike, batch_size: int, seq_len: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """batch_size pieces x (B, n) of the ids data (N,), and y (B, n), the same pieces one to the left.

    Raises ValueError when data is no longer than seq_len.
    """
    ids = np.asarray(data)
    if ids.ndim != 1 or len(ids) <= seq_len:
        raise ValueError(f"a batch needs more than {seq_len} ids in one row, got shape {ids.shape}")
    starts = rng.integers(0, len(ids) - seq_len, size=batch_size)
    pieces = ids[starts[:, None] + np.arange(seq_len + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def train_step(model: GlassLM, optimizer: AdamW, x: Array, y: Array, lr: float) -> float:
    """One update on one batch; the loss before it. Raises ValueError where tracking is off."""
    optimizer.zero_grad()
    loss = model.loss(x, y)
    if not loss.requires_grad:
        raise ValueError("training needs gradients, but tracking is off here (no_grad)")
    loss.backward()
    clip_grad_norm(optimizer.params, MAX_NORM)
    optimizer.step(lr)
    return float(loss.data)


@no_grad()
def evaluate(
    model: GlassLM, data: ArrayLike, batch_size: int, seq_len: int, n_batches: int = 10, seed: int = 1234
) -> float:
    """Mean loss in nats over n_batches batches, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    batches = (get_batch(data, batch_size, seq_len, rng) for _ in range(n_batches))
    return float(np.mean([model.loss(x, y).data for x, y in batches], dtype=np.float64))


def train_steps(
    model: GlassLM,
    data: ArrayLike,
    steps: int,
    batch_size: int = 16,
    seq_len: int = 128,
    lr: float = 3e-3,
    warmup: int = 100,
    seed: int = 0,
    val_data: ArrayLike | None = None,
    eval_every: int = 100,
) -> Iterator[Report]:
    """Train the model in place; one report per step, {step, loss, lr}, steps counting from 0.

    Where val_data is given, every eval_every-th report and the last also have val_loss, measured after the step.
    """
    rng = np.random.default_rng(seed)
    optimizer = AdamW(model.parameters(), lr=lr)
    for step in range(steps):
        rate = lr_schedule(step, steps, lr, warmup)
        x, y = get_batch(data, batch_size, seq_len, rng)
        report: Report = {"step": step, "loss": train_step(model, optimizer, x, y, rate), "lr": rate}
        if val_data is not None and (step % eval_every == 0 or step == steps - 1):
            report["val_loss"] = evaluate(model, val_data, batch_size, seq_len)
        yield report


def train(
    model: GlassLM,
    data: ArrayLike,
    steps: int,
    batch_size: int = 16,
    seq_len: int = 128,
    lr: float = 3e-3,
    warmup: int = 100,
    seed: int = 0,
    val_data: ArrayLike | None = None,
    eval_every: int = 100,
) -> list[Report]:
    """Run all of `train_steps`; its reports."""
    return list(train_steps(model, data, steps, batch_size, seq_len, lr, warmup, seed, val_data, eval_every))


def reuse_memory() -> bool:
    """Ask glibc to keep freed memory instead of handing it back, which saves a page fault per page and step.

    For programs that train, once, at their start; nothing here calls it. True where it took effect.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    trim, mmap_threshold, mmap_max = -1, -3, -4
    kept = mallopt(mmap_threshold, 1 << 30) or mallopt(mmap_max, 0)  # older glibc refuses so high a threshold
    return bool(mallopt(trim, 2**31 - 1) and kept)
