"""Batches drawn from one long row of ids, and the loss on text not trained on."""

import hashlib

import numpy as np
from numpy.typing import ArrayLike

from glassllm.autograd import no_grad
from glassllm.autograd.ops import Array
from glassllm.model import GlassLM

EVALUATION_BATCHES = 10
EVALUATION_SEED = 1234


def row_of_ids(name: str, data: ArrayLike, vocab_size: int, seq_len: int) -> Array:
    """The data as one row of ids of the vocabulary, longer than a row of a batch; a copy nobody writes into."""
    ids = np.array(data)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or len(ids) <= seq_len:
        found = f"{ids.dtype} of shape {ids.shape}"
        raise ValueError(f"{name} must be one row of more than {seq_len} integers, got {found}")
    if ids.min() < 0 or ids.max() >= vocab_size:
        found = f"ids from {ids.min()} to {ids.max()}"
        raise ValueError(f"{name} must hold ids from 0 to {vocab_size - 1}, got {found}")
    ids.flags.writeable = False
    return ids


def fingerprint(ids: Array) -> str:
    """SHA-256 of a row of ids: equal for equal data."""
    return hashlib.sha256(ids.astype("<i8").tobytes()).hexdigest()


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


@no_grad()
def batch_loss(model: GlassLM, x: Array, y: Array) -> Array:
    """The loss in nats on one batch (B, n), a scalar array in the model's dtype; builds no graph."""
    return model.loss(x, y).data


def mean_loss(losses: list[Array]) -> float:
    """The mean of several batches' losses, in float64."""
    return float(np.mean(losses, dtype=np.float64))


def evaluate(
    model: GlassLM,
    data: ArrayLike,
    batch_size: int,
    seq_len: int,
    n_batches: int = EVALUATION_BATCHES,
    seed: int = EVALUATION_SEED,
) -> float:
    """Mean loss in nats over n_batches batches, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    batches = (get_batch(data, batch_size, seq_len, rng) for _ in range(n_batches))
    return mean_loss([batch_loss(model, x, y) for x, y in batches])
