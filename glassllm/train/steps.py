"""The plain training loop: one step at a time, on the model itself.

`train_steps` is a generator, so whoever pulls it may stop, look and go on between any two steps. A run that is to
be saved and resumed is a `Trainer`; it takes the very same steps.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from glassllm.autograd.ops import Array
from glassllm.model import GlassLM
from glassllm.optim import AdamW, clip_grad_norm, lr_schedule

from .batches import evaluate, get_batch

MAX_NORM = 1.0  # of all gradients together

Report = dict[str, Any]


def backpropagate(model: GlassLM, optimizer: AdamW, x: Array, y: Array) -> float:
    """Give every parameter its gradient on one batch (B, n); the loss. ValueError where tracking is off."""
    optimizer.zero_grad()
    loss = model.loss(x, y)
    if not loss.requires_grad:
        raise ValueError("training needs gradients, but tracking is off here (no_grad)")
    loss.backward()
    return float(loss.data)


def train_step(model: GlassLM, optimizer: AdamW, x: Array, y: Array, lr: float) -> float:
    """One update on one batch; the loss before it. Raises ValueError where tracking is off."""
    loss = backpropagate(model, optimizer, x, y)
    clip_grad_norm(optimizer.params, MAX_NORM)
    optimizer.step(lr)
    return loss


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
