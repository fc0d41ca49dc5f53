"""GlassLM: a decoder-only language model in which every step of the forward pass has a name.

Tokens become rows of E, pass through the blocks, and are compared with E again: the last row's likeness to each
entry of the vocabulary is the logit of that entry coming next.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .autograd import (
    Tensor,
    cross_entropy,
    cross_entropy_grad,
    embedding,
    matmul,
    no_grad,
    reshape,
    softmax_np,
    transpose,
)
from .autograd.functions import fused_cross_entropy
from .autograd.ops import Array
from .checkpoint import load_checkpoint, save_checkpoint
from .config import Config
from .nn import Block, Cache, Initial, Module, RMSNorm, Run, keys_ahead, rope_angles, turns
from .tokenizer import Tokenizer
from .trace import Tracer, is_heard, mark


@dataclass(frozen=True, eq=False)
class Generated:
    """One new token: its id, the distribution (V,) it was drawn from, and its trace where one was asked for."""

    token: int
    probs: Array
    trace: Tracer | None


class NotFinite(ValueError):
    """Logits that no token can be drawn from."""


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen from logits. Raises ValueError, naming the field, when made out of range."""

    temperature: float = 1.0
    greedy: bool = False  # True: always the largest logit
    top_k: int | None = None  # None: no limit
    top_p: float | None = None  # None: no limit

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise ValueError(
                f"temperature must be finite and above 0, got {self.temperature}; greedy takes the likeliest"
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, got {self.top_k}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {self.top_p}")

    def probs(self, logits: Array) -> Array:
        """softmax(logits / T) in float64 (V,), what top_k and top_p leave of it summing to 1 again.

        top_p keeps the fewest tokens, likeliest first, that reach it. Raises NotFinite for logits that are not.
        """
        if not np.isfinite(logits).all():
            raise NotFinite("the last logits hold NaN or Inf, so no token can be drawn from them")
        shifted = np.subtract(logits, logits.max(), dtype=np.float64)
        with np.errstate(over="ignore"):  # a tiny T sends all but the largest to −inf, whose share is 0
            probs = softmax_np(shifted / self.temperature)
        if self.top_k is None and self.top_p is None:
            return probs
        kept = np.argsort(-probs, kind="stable")[: self.top_k]
        if self.top_p is not None:
            reached = np.cumsum(probs[kept]) >= self.top_p
            kept = kept[: np.argmax(reached) + 1] if reached.any() else kept
        left = np.zeros_like(probs)
        left[kept] = probs[kept] / probs[kept].sum()
        return left

    def choose(self, logits: Array, probs: Array, rng: np.random.Generator) -> int:
        return int(logits.argmax() if self.greedy else rng.choice(len(probs), p=probs))


def _narrowed(name: str, weight: Array, dtype: DTypeLike) -> Array:
    largest = np.abs(weight[np.isfinite(weight)]).max(initial=0)
    if largest > np.finfo(dtype).max:
        raise ValueError(f"{name} holds {largest:g}, too large for {np.dtype(dtype)}; save it with fp16=False")
    return weight.astype(dtype)


class GlassLM(Module):
    """The model of a Config, its weights drawn from `seed` (None: left zero), float32 or float64 throughout.

    `tokenizer`, `meta` and `sample` (ids to open with) travel with a checkpoint; None or empty in a new model.
    """

    def __init__(self, cfg: Config, seed: int | None = 0, dtype: DTypeLike = np.float32):
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
        initial = Initial(seed, cfg.init_std, dtype)
        self.E = initial.matrix(cfg.vocab_size, cfg.d_model)
        self.blocks = [Block(cfg, initial, layer) for layer in range(cfg.n_layers)]
        self.norm_f = RMSNorm(cfg.d_model, cfg.eps, initial)
        if not cfg.tied:
            self.output = initial.matrix(cfg.d_model, cfg.vocab_size)
        self.config = cfg
        self.fused = False  # True: faster ops, which hide their parts
        self.tokenizer: Tokenizer | None = None
        self.meta: dict[str, Any] = {}
        self.sample: Array | None = None
        cos, sin = rope_angles(cfg.head_size, cfg.max_len, cfg.rope_base)
        self.cos: Array = cos.astype(dtype)  # (max_len, c/2)
        self.sin: Array = sin.astype(dtype)
        self.turns: Array = turns(self.cos, self.sin, cfg.n_heads)  # (max_len, H·c)

    def forward(
        self, ids: ArrayLike, trace: Tracer | None = None, cache: Cache | None = None, start: int = 0
    ) -> Tensor:
        """Logits (B, n, V) for ids (n,) or (B, n) that stand at positions start, start + 1, ...

        A cache supplies the keys and values of the positions before, and takes those of this pass; such a pass
        builds no graph. Raises ValueError or IndexError for ids, lengths or a start that do not fit.
        """
        checked = self._checked(ids, start)
        if cache is not None and start != cache.length:
            raise ValueError(f"start is {start}, but the cache holds {cache.length} positions; they must be equal")
        if trace is not None:
            self._refuse_fused()
        n = checked.shape[1]
        here = slice(start, start + n)
        m = n if cache is None else start + n
        run = Run(self.cos[here], self.sin[here], self.turns[here], keys_ahead(n, m), trace, cache, self.fused)
        if cache is None:
            return self._logits(checked, run)
        with no_grad():
            logits = self._logits(checked, run)
        cache.length += n
        return logits

    def _checked(self, ids: ArrayLike, start: int = 0) -> Array:
        """ids as integers (B, n), known to be in the vocabulary and to fit in max_len."""
        array, cfg = np.asarray(ids), self.config
        if array.ndim not in (1, 2) or array.size == 0:
            raise ValueError(f"ids must be (n,) or (B, n) and hold at least one id, got shape {array.shape}")
        if array.dtype.kind not in "iu":
            raise IndexError(f"ids must be integers, got {array.dtype}")
        low, high, n = array.min(), array.max(), array.shape[-1]
        if low < 0 or high >= cfg.vocab_size:
            raise IndexError(f"ids must be from 0 to {cfg.vocab_size - 1}, got {low if low < 0 else high}")
        if start < 0 or start + n > cfg.max_len:
            raise ValueError(f"{n} ids from position {start} do not fit in max_len, which is {cfg.max_len}")
        return array.reshape(-1, n)

    def _refuse_fused(self) -> None:
        if self.fused:
            raise ValueError("fused ops hide the steps that a trace is asked for; set fused=False")

    def _logits(self, ids: Array, run: Run) -> Tensor:
        x = run.mark("embed", embedding(self.E, ids))  # (B, n, d)
        for block in self.blocks:
            x = block(x, run)
        h = run.mark("norm.final", self.norm_f(x, run.fused))
        output = transpose(self.E) if self.config.tied else self.output  # (d, V)
        return run.mark("logits", matmul(h, output))  # (B, n, V)

    def loss(self, ids: ArrayLike, targets: ArrayLike, trace: Tracer | None = None) -> Tensor:
        """Mean −log p[target] in nats over all positions, a scalar; targets has ids' shape, nothing is shifted."""
        if np.shape(targets) != np.shape(ids):
            raise ValueError(f"targets must have the shape of ids {np.shape(ids)}, got {np.shape(targets)}")
        logits = self.forward(ids, trace)
        rows = reshape(logits, (-1, self.config.vocab_size))  # (B·n, V)
        flat = np.asarray(targets).reshape(-1)
        mean_nats = fused_cross_entropy if self.fused else cross_entropy
        loss = mark("loss", mean_nats(rows, flat), trace=trace)
        if is_heard(trace):
            mark("loss.grad", cross_entropy_grad(rows.data, flat).reshape(logits.shape), trace=trace)
        return loss

    def generate(
        self,
        ids: ArrayLike,
        n_new: int,
        temperature: float = 1.0,
        greedy: bool = False,
        seed: int | None = None,
        trace: bool = False,
        top_k: int | None = None,
        top_p: float | None = None,
    ) -> Generator[Generated, None, None]:
        """n_new tokens after the prompt ids (n,), one per step; each is computed when it is asked for.

        seed None draws differently every time. Beyond max_len only the last max_len tokens are looked at.
        Raises ValueError or IndexError at once when an argument is out of range.
        """
        sampling = Sampling(temperature, greedy, top_k, top_p)
        prompt = np.asarray(ids)
        if prompt.ndim != 1 and prompt.shape[:-1] != (1,):
            raise ValueError(f"generation needs one prompt (n,), got shape {prompt.shape}")
        if n_new < 0:
            raise ValueError(f"n_new must be at least 0, got {n_new}")
        self._checked(prompt[..., -self.config.max_len :])
        if trace:
            self._refuse_fused()
        rng = np.random.default_rng(seed)
        return self._generate([int(i) for i in prompt.reshape(-1)], n_new, sampling, rng, trace)

    def _generate(
        self, ids: list[int], n_new: int, sampling: Sampling, rng: np.random.Generator, trace: bool
    ) -> Generator[Generated, None, None]:
        cache = Cache(self.config, self.E.dtype)
        for _ in range(n_new):
            new = self._next(ids, cache, sampling, rng, Tracer() if trace else None)
            ids.append(new.token)
            yield new

    @no_grad()
    def _next(
        self, ids: list[int], cache: Cache, sampling: Sampling, rng: np.random.Generator, trace: Tracer | None
    ) -> Generated:
        """The token after ids; only those that the cache lacks are run."""
        if len(ids) <= self.config.max_len:
            logits = self.forward(ids[cache.length :], trace, cache, cache.length)
        else:  # the window slides, so every position in it is new
            logits = self.forward(ids[-self.config.max_len :], trace)
        last = logits.data[0, -1]
        probs = mark("probs", sampling.probs(last), trace=trace)
        token = sampling.choose(last, probs, rng)
        mark("sample", np.array(token), trace=trace)
        return Generated(token, probs, trace)

    def save(self, path: str | PathLike[str], fp16: bool = True) -> None:
        """Write a checkpoint: config, weights as float16 (else float32), and what travels with them.

        Raises ValueError, naming it, for a weight too large for float16.
        """
        dtype = np.float16 if fp16 else np.float32
        weights = {name: _narrowed(name, p.data, dtype) for name, p in self.named_parameters().items()}
        meta = self.meta or None
        save_checkpoint(path, self.config, weights, tokenizer=self.tokenizer, meta=meta, sample=self.sample)

    @classmethod
    def load(cls, path: str | PathLike[str], dtype: DTypeLike = np.float32) -> Self:
        """The model of a checkpoint, its weights in `dtype`, whatever they are stored in."""
        found = load_checkpoint(path, dtype=dtype)
        return cls.of(found.config, found.weights, found.tokenizer, found.meta, found.sample)

    @classmethod
    def of(
        cls,
        cfg: Config,
        weights: Mapping[str, Array],
        tokenizer: Tokenizer | None = None,
        meta: Mapping[str, Any] | None = None,
        sample: Array | None = None,
    ) -> Self:
        """A composed model of these weights, all of one dtype and not copied, and of what travels with them."""
        model = cls(cfg, seed=None, dtype=next(iter(weights.values())).dtype)
        for name, parameter in model.named_parameters().items():
            parameter.data = weights[name]
        model.tokenizer, model.meta, model.sample = tokenizer, dict(meta or {}), sample
        return model
