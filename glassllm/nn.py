"""The parts of the model, each a few public functions on Tensors: norm, attention, feed-forward, block.

Every part says its events where they arise; shapes are spoken at the line, a trace shows them without batch.
B batch, n positions, m keys, H heads, K key/value heads, c channels of a head, d of the stream, f hidden.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .autograd import Tensor, masked_fill, matmul, mean, repeat_kv, reshape, rope, silu, softmax, sqrt, transpose
from .autograd.functions import causal_attention, feed_forward, project_heads, rms_norm
from .autograd.ops import Array
from .config import Config
from .trace import Tracer, Value, mark, scope


class Module:
    """Named parameters: every Tensor found among its attributes, in the order in which they were set.

    A subclass defines `forward`; calling the module runs it in a scope named after the attribute that holds the
    module. Our own parts below are called directly: their events say more.
    """

    scope_name = ""  # empty: nobody holds it

    def __setattr__(self, attribute: str, value: Any) -> None:
        super().__setattr__(attribute, value)
        for path, part in _named(attribute, value):
            if isinstance(part, Module):
                part.scope_name = path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.scope_name:
            return self.forward(*args, **kwargs)
        with scope(self.scope_name):
            return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def named_parameters(self) -> dict[str, Tensor]:
        """The parameters by dotted path; an attribute that is a list counts its parts: `blocks.0.norm1.gamma`."""
        found: dict[str, Tensor] = {}
        for attribute, value in vars(self).items():
            for path, part in _named(attribute, value):
                if isinstance(part, Module):
                    found |= {f"{path}.{name}": tensor for name, tensor in part.named_parameters().items()}
                elif isinstance(part, Tensor):
                    found[path] = part
        return found

    def parameters(self) -> list[Tensor]:
        return list(self.named_parameters().values())


def _named(attribute: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        return [(f"{attribute}.{i}", part) for i, part in enumerate(value)]
    return [(attribute, value)]


class Initial:
    """Where new weights come from: matrices normal(0, std), gammas one.

    One generator serves all matrices in checkpoint order (E, then per block W_Q W_K W_V W_O W1 W3 W2, then an
    untied output), drawing float64, so a seed means the same model in every dtype. Without a seed matrices are
    zero, for a model that is filled next.
    """

    def __init__(self, seed: int | None, std: float, dtype: DTypeLike):
        self.rng = None if seed is None else np.random.default_rng(seed)
        self.std = std
        self.dtype = dtype

    def matrix(self, rows: int, columns: int) -> Tensor:
        if self.rng is None:
            return Tensor(np.zeros((rows, columns), self.dtype), requires_grad=True)
        values = self.rng.normal(0.0, self.std, (rows, columns))
        return Tensor(values.astype(self.dtype), requires_grad=True)

    def gamma(self, channels: int) -> Tensor:
        return Tensor(np.ones(channels, self.dtype), requires_grad=True)


def rope_angles(d_k: int, max_len: int, base: float) -> tuple[Array, Array]:
    """Cosine and sine of m·base^(−2i/d_k), float64, each (max_len, d_k/2): RoFormer, arXiv 2104.09864, eq. 15."""
    if d_k < 2 or d_k % 2:
        raise ValueError(f"rotary embedding turns pairs of channels, d_k must be even, got {d_k}")
    frequencies = base ** (-2.0 * np.arange(d_k // 2) / d_k)
    angles = np.arange(max_len)[:, None] * frequencies
    return np.cos(angles), np.sin(angles)


def turns(cos: Array, sin: Array, heads: int) -> Array:
    """Both tables (m, c/2) as one (m, heads·c): cosine and sine of each pair side by side, for every head."""
    return np.tile(np.stack([cos, sin], axis=-1).reshape(len(cos), -1), heads)


def keys_ahead(n: int, m: int) -> Array:
    """(n, m) bool, True where key j lies ahead of query i, the queries being the last n of m positions."""
    return np.arange(m) > np.arange(m - n, m)[:, None]


class Cache:
    """Rotated keys, and values, of the positions that have run: (B, K, max_len, c) per layer, filled in place.

    Only what lies beyond `length` is ever written, so a view of the positions so far stays true.
    """

    def __init__(self, config: Config, dtype: DTypeLike, batch: int = 1):
        shape = (config.n_layers, batch, config.n_kv_heads, config.max_len, config.head_size)
        self.keys: Array = np.empty(shape, dtype)
        self.values: Array = np.empty(shape, dtype)
        self.length = 0

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all positions, (B, K, m, c): those held, then k and v (B, K, n, c)."""
        m = self.length + k.shape[2]
        for held, new in ((self.keys, k), (self.values, v)):
            held[layer][:, :, self.length : m] = new.data
        return Tensor(self.keys[layer][:, :, :m]), Tensor(self.values[layer][:, :, :m])


@dataclass(frozen=True)
class Run:
    """What the blocks share in one forward pass."""

    cos: Array  # (n, c/2), of the positions that run
    sin: Array
    turn: Array  # (n, H·c), both side by side for each pair of every head
    ahead: Array  # (n, m) bool
    trace: Tracer | None  # None: nobody writes this pass down
    cache: Cache | None  # None: the keys are those of this pass
    fused: bool = False  # True: one op for each part, the events inside stay unsaid

    def mark(self, step_id: str, value: Value, layer: int | None = None) -> Value:
        return mark(step_id, value, layer, self.trace)


class RMSNorm(Module):
    """x / √(mean(x²) + ε) · γ over the last axis: arXiv 1910.07467, eq. 4."""

    def __init__(self, channels: int, eps: float, initial: Initial):
        self.gamma = initial.gamma(channels)
        self.eps = eps

    def __call__(self, x: Tensor, fused: bool = False) -> Tensor:
        if fused:
            return rms_norm(x, self.gamma, self.eps)
        return x / sqrt(mean(x * x, axis=-1, keepdims=True) + self.eps) * self.gamma


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, n, heads·c) -> (B, heads, n, c)"""
    batch, n, width = x.shape
    return transpose(reshape(x, (batch, n, heads, width // heads)), (0, 2, 1, 3))


def join_heads(x: Tensor) -> Tensor:
    """(B, H, n, c) -> (B, n, H·c)"""
    batch, heads, n, channels = x.shape
    return reshape(transpose(x, (0, 2, 1, 3)), (batch, n, heads * channels))


class Attention(Module):
    """Causal attention with rotary positions, each key/value head serving H/K query heads (arXiv 2305.13245)."""

    def __init__(self, config: Config, initial: Initial, layer: int):
        d, c = config.d_model, config.head_size
        self.W_Q = initial.matrix(d, config.n_heads * c)
        self.W_K = initial.matrix(d, config.n_kv_heads * c)
        self.W_V = initial.matrix(d, config.n_kv_heads * c)
        self.W_O = initial.matrix(config.n_heads * c, d)
        self.config = config
        self.layer = layer

    def __call__(self, x: Tensor, run: Run) -> Tensor:
        q, k, v = self.project_fused(x, run) if run.fused else self.project(x, run)
        if run.cache is not None:
            k, v = run.cache.extend(self.layer, k, v)  # (B, K, m, c)
        mixed = causal_attention(q, k, v) if run.fused else self.attend(q, k, v, run)  # (B, n, H·c)
        return run.mark("attn.out", matmul(mixed, self.W_O), self.layer)  # (B, n, d)

    def project(self, x: Tensor, run: Run) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, n, c), keys and values (B, K, n, c), queries and keys turned by their positions."""
        heads, kv_heads, layer = self.config.n_heads, self.config.n_kv_heads, self.layer
        q = run.mark("attn.q", split_heads(matmul(x, self.W_Q), heads), layer)
        k = run.mark("attn.k", split_heads(matmul(x, self.W_K), kv_heads), layer)
        v = run.mark("attn.v", split_heads(matmul(x, self.W_V), kv_heads), layer)
        q = run.mark("attn.rope_q", rope(q, run.cos, run.sin), layer)
        k = run.mark("attn.rope_k", rope(k, run.cos, run.sin), layer)
        return q, k, v

    def project_fused(self, x: Tensor, run: Run) -> tuple[Tensor, Tensor, Tensor]:
        """The same, split and turned at once."""
        heads, kv_heads, layer = self.config.n_heads, self.config.n_kv_heads, self.layer
        turn = run.turn[:, : kv_heads * self.config.head_size]
        q = run.mark("attn.rope_q", project_heads(x, self.W_Q, heads, run.turn), layer)
        k = run.mark("attn.rope_k", project_heads(x, self.W_K, kv_heads, turn), layer)
        v = run.mark("attn.v", project_heads(x, self.W_V, kv_heads), layer)
        return q, k, v

    def attend(self, q: Tensor, k: Tensor, v: Tensor, run: Run) -> Tensor:
        """Each query's weighted mean of the values it may see: q (B, H, n, c), k and v (B, K, m, c)."""
        repeats, layer = self.config.n_heads // self.config.n_kv_heads, self.layer
        keys = transpose(repeat_kv(k, repeats), (0, 1, 3, 2))  # (B, H, c, m)
        scale = self.config.head_size**-0.5  # a Python float: float32 scores stay float32
        scores = run.mark("attn.scores", matmul(q, keys) * scale, layer)  # (B, H, n, m)
        scores = run.mark("attn.mask", masked_fill(scores, run.ahead, -np.inf), layer)
        weights = run.mark("attn.softmax", softmax(scores), layer)
        return join_heads(run.mark("attn.mix", matmul(weights, repeat_kv(v, repeats)), layer))


class SwiGLU(Module):
    """silu(x·W1) · (x·W3), then ·W2: arXiv 2002.05202, eq. 6."""

    def __init__(self, config: Config, initial: Initial, layer: int):
        d, f = config.d_model, config.ffn_size
        self.W1 = initial.matrix(d, f)
        self.W3 = initial.matrix(d, f)
        self.W2 = initial.matrix(f, d)
        self.layer = layer

    def __call__(self, x: Tensor, run: Run) -> Tensor:
        if run.fused:
            return run.mark("ffn.down", feed_forward(x, self.W1, self.W3, self.W2), self.layer)
        gate = run.mark("ffn.gate", matmul(x, self.W1), self.layer)  # (B, n, f)
        up = run.mark("ffn.up", matmul(x, self.W3), self.layer)
        act = run.mark("ffn.act", silu(gate) * up, self.layer)
        return run.mark("ffn.down", matmul(act, self.W2), self.layer)  # (B, n, d)


class Block(Module):
    """Attention, then feed-forward, each reading a norm of the residual stream and adding to it."""

    def __init__(self, config: Config, initial: Initial, layer: int):
        self.norm1 = RMSNorm(config.d_model, config.eps, initial)
        self.attn = Attention(config, initial, layer)
        self.norm2 = RMSNorm(config.d_model, config.eps, initial)
        self.ffn = SwiGLU(config, initial, layer)
        self.layer = layer

    def __call__(self, x: Tensor, run: Run) -> Tensor:
        a = run.mark("norm.attn", self.norm1(x, run.fused), self.layer)  # (B, n, d), as are all below
        x = run.mark("resid.attn", x + self.attn(a, run), self.layer)
        b = run.mark("norm.ffn", self.norm2(x, run.fused), self.layer)
        return run.mark("resid.ffn", x + self.ffn(b, run), self.layer)
