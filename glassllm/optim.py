"""What turns gradients into better weights: AdamW, a limit on the gradient's norm, and the learning rate's course.

Gradients are replaced, never written into: somebody may still be looking at them. Weights are updated in place.
"""

import math
from collections.abc import Iterable

import numpy as np

from .autograd import Tensor
from .autograd.ops import Array

SQUARES = 1e-20, 1e30  # sums of squares between which float32 has lost and overflown nothing


class AdamW:
    """Adam with decoupled weight decay (arXiv 1711.05101), decay on matrices only.

    `first` and `second` are the running moments, `counts` the updates so far, each per parameter: one without a
    gradient is left alone, and its count stands still.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 3e-3,
        betas: tuple[float, float] = (0.9, 0.95),
        eps: float = 1e-8,
        weight_decay: float = 0.1,
    ):
        self.params = list(params)
        for p in self.params:
            if p.dtype.kind != "f":
                raise ValueError(f"only float parameters can be trained, got {p!r}")
        self.lr = lr
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.first: list[Array] = [np.zeros_like(p.data) for p in self.params]
        self.second: list[Array] = [np.zeros_like(p.data) for p in self.params]
        self.counts = [0] * len(self.params)

    def zero_grad(self) -> None:
        """Set every gradient to None."""
        for p in self.params:
            p.grad = None

    def step(self, lr: float | None = None) -> None:
        """Update every parameter that has a gradient; lr None: the rate given at the start."""
        rate = float(self.lr if lr is None else lr)  # a NumPy float would turn float32 into float64
        for i, p in enumerate(self.params):
            if p.grad is not None:
                self.counts[i] += 1
                self._update(p.data, p.grad, self.first[i], self.second[i], self.counts[i], rate)

    def _update(self, p: Array, g: Array, m: Array, v: Array, count: int, rate: float) -> None:
        """m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ); p ← p·(1 − rate·decay) − rate·m̂/(√v̂ + ε)

        Both divisors are put into the last factor and ε, which saves a pass over the array.
        """
        beta1, beta2 = self.betas
        scratch = np.empty_like(p)
        np.multiply(g, 1 - beta1, out=scratch)
        m *= beta1
        m += scratch
        np.multiply(g, g, out=scratch)
        scratch *= 1 - beta2
        v *= beta2
        v += scratch
        root = math.sqrt(1 - beta2**count)
        np.sqrt(v, out=scratch)
        scratch += self.eps * root
        np.divide(m, scratch, out=scratch)
        scratch *= rate * root / (1 - beta1**count)
        if p.ndim >= 2:
            p *= 1 - rate * self.weight_decay
        p -= scratch


def clip_grad_norm(params: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients so that their joint 2-norm is at most max_norm; the norm before.

    A norm that is not finite scales nothing: the caller sees it in what is returned.
    """
    reached = [(p, p.grad) for p in params if p.grad is not None]
    with np.errstate(over="ignore"):
        norm = math.sqrt(sum(_square_sum(g) for _, g in reached))
    if max_norm < norm < math.inf:
        scale = float(max_norm) / norm
        for p, g in reached:
            p.grad = np.asarray(g * scale)
    return norm


def _square_sum(g: Array) -> float:
    flat = g.reshape(-1)
    square = float(np.dot(flat, flat))
    if SQUARES[0] < square < SQUARES[1]:
        return square
    wide = flat.astype(np.float64)  # a square outside of what float32 holds
    return float(np.dot(wide, wide))


def lr_schedule(step: int, total_steps: int, base_lr: float, warmup: int, min_ratio: float = 0.1) -> float:
    """The learning rate of `step` (from 0): base·(step+1)/warmup, then half a cosine down to min_ratio·base."""
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / max(1, total_steps - warmup))
    return base_lr * (min_ratio + (1 - min_ratio) * 0.5 * (1 + math.cos(math.pi * progress)))
