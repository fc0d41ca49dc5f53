"""Fit a sine with two layers: h = tanh(x·W1 + b1), y = h·W2 + b2, trained by AdamW on the mean squared error."""

import numpy as np

from glassllm import Tensor
from glassllm.autograd import tanh
from glassllm.optim import AdamW

HIDDEN = 16


def samples(count: int = 64) -> tuple[Tensor, Tensor]:
    """x (count, 1) evenly spread over one period, and sin(x)."""
    x = np.linspace(-np.pi, np.pi, count).reshape(-1, 1)
    return Tensor(x), Tensor(np.sin(x))


def weights(seed: int = 0) -> dict[str, Tensor]:
    """Small random matrices and zero biases."""
    rng = np.random.default_rng(seed)
    arrays = {
        "W1": rng.normal(0, 1, (1, HIDDEN)),
        "b1": np.zeros(HIDDEN),
        "W2": rng.normal(0, HIDDEN**-0.5, (HIDDEN, 1)),
        "b2": np.zeros(1),
    }
    return {name: Tensor(array, requires_grad=True) for name, array in arrays.items()}


def predict(w: dict[str, Tensor], x: Tensor) -> Tensor:
    """y (n, 1) for x (n, 1)."""
    h = tanh(x @ w["W1"] + w["b1"])  # (n, HIDDEN)
    return h @ w["W2"] + w["b2"]


def loss(w: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
    """Mean squared error, a scalar."""
    return ((predict(w, x) - y) ** 2).mean()


def fit(steps: int = 300, lr: float = 0.02, seed: int = 0) -> list[float]:
    """The loss at every step."""
    (x, y), w = samples(), weights(seed)
    optimizer = AdamW(w.values(), lr=lr, weight_decay=0.0)
    losses = []
    for _ in range(steps):
        error = loss(w, x, y)
        losses.append(float(error.data))
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
    return losses


if __name__ == "__main__":
    losses = fit()
    for step in (0, 50, 100, 200, len(losses) - 1):
        print(f"step {step:3}  loss {losses[step]:.6f}")
