"""Fused ops: one op where a model composes several, for when nobody looks at what lies between.

Each equals a composition of public ops up to rounding. They gain by passing over less memory: blocks that stay in
the cache, and exponentials kept as they come, so that what is divided by their sum is the small result.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from . import Array, op
from .language import class_ids, side_by_side
from .matrix import times_matrix, to_matrix

LARGEST = 30.0  # a score up to which eˣ needs no shift: its sums, and quotients by them, stay far inside float32
SMALLEST = math.exp(-LARGEST)  # a sum of eˣ from which on no digits were lost
QUERIES = 64  # rows of scores computed at a time
SCORES = 1 << 17  # scores computed at a time, a few batch rows together where they are short
PAIRS = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}
AHEAD = ~np.tri(QUERIES, dtype=bool)  # True where a key lies ahead of a query


def _exponentials(scores: Array, out: Array) -> tuple[Array, Any]:
    """out = e^(scores − shift); its row sums, and the shift: 0 where that is safe, else each row's maximum."""
    ones = np.ones(scores.shape[-1], scores.dtype)
    if scores.max(initial=-np.inf) < LARGEST:
        sums = np.exp(scores, out=out) @ ones
        if sums.min(initial=np.inf) > SMALLEST:
            return sums, 0
    with np.errstate(invalid="ignore"):  # a row of nothing but −inf becomes NaN
        shift = scores.max(axis=-1, keepdims=True)
        np.exp(scores - shift, out=out)
    return out @ ones, shift[..., 0]


@op
def rms_norm(x: Array, gamma: Array, *, eps: float) -> tuple[Array, Array]:
    """x / √(mean(x²) + ε) · γ over the last axis, x (..., d) and gamma (d,): arXiv 1910.07467, eq. 4."""
    scale = 1 / np.sqrt(np.vecdot(x, x)[..., np.newaxis] / x.shape[-1] + eps)  # (..., 1)
    y = x * scale
    y *= gamma
    return y, scale


@rms_norm.rule
def _(g: Array, y: Array, scale: Array, x: Array, gamma: Array, *, eps: float) -> tuple[Array, Array]:
    unit = x * scale
    to_x = g * unit
    rows = to_x.reshape(-1, len(gamma))
    to_gamma = np.ones(len(rows), rows.dtype) @ rows
    unit *= (to_x @ gamma / len(gamma))[..., np.newaxis]
    np.multiply(g, gamma, out=to_x)
    to_x -= unit
    to_x *= scale
    return to_x, to_gamma


def _gated(gate: Array, up: Array) -> tuple[Array, Array]:
    """silu(gate) · up, and sigmoid(gate)."""
    y = np.maximum(gate, -88.0)  # below, silu is 0 as float32 goes, and e⁸⁸ is still one
    s = np.exp(-y)
    s += 1
    np.reciprocal(s, out=s)
    y *= s
    y *= up
    return y, s


def _to_gated(g: Array, s: Array, gate: Array, up: Array) -> tuple[Array, Array]:
    to_up = gate * s
    to_gate = 1 - s
    to_gate *= to_up
    to_gate += s  # silu′ = σ + silu·(1 − σ)
    to_gate *= up
    to_gate *= g
    to_up *= g
    return to_gate, to_up


@op
def feed_forward(x: Array, w1: Array, w3: Array, w2: Array) -> tuple[Array, ...]:
    """(silu(x·W1) · (x·W3))·W2 of x (..., d), W1 and W3 (d, f), W2 (f, d): SwiGLU, arXiv 2002.05202, eq. 6."""
    gate, up = times_matrix(x, w1), times_matrix(x, w3)
    act, s = _gated(gate, up)
    return times_matrix(act, w2), gate, up, s, act


@feed_forward.rule
def _(
    g: Array,
    y: Array,
    gate: Array,
    up: Array,
    s: Array,
    act: Array,
    x: Array,
    w1: Array,
    w3: Array,
    w2: Array,
) -> tuple[Array, ...]:
    to_gate, to_up = _to_gated(times_matrix(g, w2.T), s, gate, up)
    to_x = times_matrix(to_gate, w1.T)
    to_x += times_matrix(to_up, w3.T)
    return to_x, to_matrix(x, to_gate, w1), to_matrix(x, to_up, w3), to_matrix(act, g, w2)


@op
def fused_cross_entropy(logits: Array, *, targets: Any) -> Any:
    """cross_entropy of logits (N, V), its exponentials kept for the rule."""
    ids = class_ids(logits, targets)
    e = np.empty_like(logits)
    sums, shift = _exponentials(logits, e)
    # (N,), in float64: of a certain target the difference of two near numbers
    losses = np.log(sums, dtype=np.float64) + shift - logits[np.arange(len(ids)), ids]
    return (losses.mean() if ids.size else np.full((), np.nan)).astype(sums.dtype), e, sums


@fused_cross_entropy.rule
def _(g: Array, y: Array, e: Array, sums: Array, logits: Array, *, targets: Any) -> tuple[Array]:
    each = g / max(len(sums), 1)
    out = e * (each / sums)[:, np.newaxis]
    out[np.arange(len(sums)), targets] -= each
    return (out,)


def _apart(a: Array, heads: int) -> Array:
    """(B, n, H·c) -> (B, H, n, c), a view."""
    batch, n, width = a.shape
    return a.reshape(batch, n, heads, width // heads).swapaxes(1, 2)


def _joined(a: Array) -> Array:
    """(B, H, n, c) -> (B, n, H·c), a view where it came apart from such an array."""
    batch, heads, n, channels = a.shape
    return a.swapaxes(1, 2).reshape(batch, n, heads * channels)


def _pairs(a: Array) -> Array:
    """Adjacent pairs of a (..., w) as complex numbers (..., w/2)."""
    return side_by_side(a).view(PAIRS[a.dtype])


@op
def project_heads(x: Array, weight: Array, *, heads: int, turn: Array | None = None) -> Array:
    """rope of x·weight, its heads apart: x (B, n, d), weight (d, H·c) -> (B, H, n, c).

    turn (n, H·c) holds cos and sin of each pair side by side; without it nothing is turned.
    """
    y = times_matrix(x, weight)
    if turn is not None:
        if turn.shape != y.shape[1:] or turn.dtype != y.dtype:
            raise ValueError(f"angles {turn.shape} of {turn.dtype} for channels {y.shape} of {y.dtype}")
        y = (_pairs(y) * _pairs(turn)).view(y.dtype)
    return _apart(y, heads)


@project_heads.rule
def _(
    g: Array, y: Array, x: Array, weight: Array, *, heads: int, turn: Array | None = None
) -> tuple[Array, Array]:
    arriving = _joined(g)
    if turn is not None:
        arriving = (_pairs(arriving) * _pairs(turn).conj()).view(g.dtype)
    return times_matrix(arriving, weight.T), to_matrix(x, arriving, weight)


class Block(NamedTuple):
    """Scores computed together: some batch rows, some folded queries, the keys up to the last of these."""

    batch: slice
    queries: slice
    keys: slice
    kept: slice  # where a batch row keeps their exponentials


def _blocks(batch: int, groups: int, repeats: int, n: int, m: int) -> list[Block]:
    blocks, start = [], 0
    for first in range(0, n, QUERIES):
        last = min(first + QUERIES, n)
        seen = m - n + last
        end = start + groups * repeats * (last - first) * seen
        together = max(1, SCORES // (end - start))
        queries, keys, kept = slice(first * repeats, last * repeats), slice(seen), slice(start, end)
        blocks += [Block(slice(b, b + together), queries, keys, kept) for b in range(0, batch, together)]
        start = end
    return blocks


def _folded(a: Array, groups: int) -> Array:
    """(B, K·r, n, c) -> (B, K, n·r, c), a copy: the r query heads of a group meet its keys in one product."""
    batch, heads, n, channels = a.shape
    repeats = heads // groups
    apart = a.reshape(batch, groups, repeats, n, channels)
    return np.array(apart.swapaxes(2, 3), order="C").reshape(batch, groups, n * repeats, channels)


def _unfolded(a: Array, heads: int) -> Array:
    """Back from (B, K, n·r, c) to heads that are joined, (B, n, K·r·c)."""
    batch, groups, rows, channels = a.shape
    repeats = heads // groups
    apart = a.reshape(batch, groups, rows // repeats, repeats, channels)
    return np.array(apart.swapaxes(1, 2), order="C").reshape(batch, rows // repeats, heads * channels)


def _hide_ahead(scores: Array, repeats: int) -> None:
    """−inf for each key ahead, in scores (b, K, i·r, j) of the last i of j positions."""
    *front, rows, seen = scores.shape
    n = rows // repeats
    corner = scores.reshape(*front, n, repeats, seen)[..., seen - n :]
    np.copyto(corner, -np.inf, where=AHEAD[:n, np.newaxis, :n])


@op
def causal_attention(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """softmax(q·kᵀ/√c, no key ahead)·v, heads joined: q (B, H, n, c), k and v (B, K, m, c) -> (B, n, H·c).

    The queries are the last n of m positions. Each key head serves r = H/K query heads, arXiv 2305.13245.
    """
    (batch, heads, n, channels), (groups, m) = q.shape, k.shape[1:3]
    if n > m:
        raise ValueError(f"{n} queries are the last of at least as many keys, got {m}")
    repeats = heads // groups
    if n == 1:  # the step of a generation: one block, nothing ahead
        scores = (q * channels**-0.5).reshape(batch, groups, repeats, channels) @ k.mT
        e = np.empty_like(scores)
        sums, _ = _exponentials(scores, e)
        mixed = e @ v
        mixed /= sums[..., np.newaxis]
        return mixed.reshape(batch, 1, heads * v.shape[-1]), e.reshape(batch, heads * m), sums
    blocks = _blocks(batch, groups, repeats, n, m)
    asked = _folded(q, groups)  # (B, K, n·r, c)
    asked *= channels**-0.5
    mixed = np.empty((*asked.shape[:3], v.shape[-1]), q.dtype)
    sums = np.empty(asked.shape[:3], q.dtype)
    e = np.empty((batch, blocks[-1].kept.stop if blocks else 0), q.dtype)
    for b, i, j, kept in blocks:
        scores = asked[b, :, i] @ k[b, :, j].mT
        _hide_ahead(scores, repeats)
        weights = e[b, kept].reshape(scores.shape)
        sums[b, :, i], _ = _exponentials(scores, weights)
        np.matmul(weights, v[b, :, j], out=mixed[b, :, i])
    mixed /= sums[..., np.newaxis]
    return _unfolded(mixed, heads), e, sums


@causal_attention.rule
def _(g: Array, y: Array, e: Array, sums: Array, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    (batch, heads, n, channels), (groups, m) = q.shape, k.shape[1:3]
    asked = _folded(q, groups)
    asked *= channels**-0.5
    share = _folded(_apart(g, heads), groups)
    share /= sums[..., np.newaxis]
    drift = np.vecdot(share, _folded(_apart(y, heads), groups))[..., np.newaxis]
    to_asked = np.empty_like(asked)
    to_k, to_v = np.zeros(k.shape, k.dtype), np.zeros(v.shape, v.dtype)
    for b, i, j, kept in _blocks(batch, groups, heads // groups, n, m):
        to_scores = share[b, :, i] @ v[b, :, j].mT
        weights = e[b, kept].reshape(to_scores.shape)
        to_scores -= drift[b, :, i]
        to_scores *= weights
        np.matmul(to_scores, k[b, :, j], out=to_asked[b, :, i])
        to_k[b, :, j] += to_scores.mT @ asked[b, :, i]
        to_v[b, :, j] += weights.mT @ share[b, :, i]
    to_asked *= channels**-0.5
    to_q = _apart(_unfolded(to_asked, heads), heads)
    return to_q, _apart(_unfolded(to_k, groups), groups), _apart(_unfolded(to_v, groups), groups)
