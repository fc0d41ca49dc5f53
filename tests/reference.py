"""The model once more, as plain loops over positions and heads in float64: what the engine must agree with.

Nothing of glassllm is imported. Arrays in, arrays out; written for being obviously right, not for speed.
"""

import numpy as np


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def rms_norm(x, gamma, eps):
    return np.stack([row / np.sqrt((row * row).mean() + eps) * gamma for row in x])


def rotate(row, position, base):
    """One head's channels at one position: pair i turns by position · base^(−2i/c)."""
    out = np.empty_like(row)
    for i in range(len(row) // 2):
        angle = position * base ** (-2 * i / len(row))
        a, b = row[2 * i], row[2 * i + 1]
        out[2 * i] = a * np.cos(angle) - b * np.sin(angle)
        out[2 * i + 1] = a * np.sin(angle) + b * np.cos(angle)
    return out


def heads_of(x, heads):
    """(n, heads·c) -> (heads, n, c)"""
    return np.stack(np.split(x, heads, axis=1))


def attention(a, weights, config, keep):
    n, H, K = len(a), config["n_heads"], config["n_kv_heads"]
    q = keep("attn.q", heads_of(a @ weights["attn.W_Q"], H))
    k = keep("attn.k", heads_of(a @ weights["attn.W_K"], K))
    v = keep("attn.v", heads_of(a @ weights["attn.W_V"], K))
    base = config["rope_base"]
    q = keep("attn.rope_q", np.array([[rotate(row, i, base) for i, row in enumerate(head)] for head in q]))
    k = keep("attn.rope_k", np.array([[rotate(row, i, base) for i, row in enumerate(head)] for head in k]))
    scores, masked, weighted = (np.empty((H, n, n)) for _ in range(3))
    mixed = np.zeros_like(q)
    for h in range(H):
        group = h // (H // K)
        for i in range(n):
            for j in range(n):
                scores[h, i, j] = q[h, i] @ k[group, j] / np.sqrt(q.shape[-1])
                masked[h, i, j] = scores[h, i, j] if j <= i else -np.inf
            weighted[h, i] = softmax(masked[h, i])
            mixed[h, i] = sum(weighted[h, i, j] * v[group, j] for j in range(n))
    keep("attn.scores", scores)
    keep("attn.mask", masked)
    keep("attn.softmax", weighted)
    keep("attn.mix", mixed)
    return keep("attn.out", np.concatenate(list(mixed), axis=1) @ weights["attn.W_O"])


def feed_forward(b, weights, keep):
    gate = keep("ffn.gate", b @ weights["ffn.W1"])
    up = keep("ffn.up", b @ weights["ffn.W3"])
    act = keep("ffn.act", gate / (1 + np.exp(-gate)) * up)
    return keep("ffn.down", act @ weights["ffn.W2"])


def forward(weights, config, ids, targets=None, bumps=None):
    """Every event of one forward pass of ids (n,), by (step id, layer); layer None outside the blocks.

    `weights` and `config` are named as in a checkpoint. With targets (n,) also the loss and its gradient with
    respect to the logits. `bumps` are added to values of a block that the next ones are computed from, by
    (step id, layer): what a finite difference needs.
    """
    bumps = bumps or {}
    weights = {name: np.asarray(w, np.float64) for name, w in weights.items()}
    eps = config["eps"]
    events = {}
    x = events["embed", None] = weights["E"][np.asarray(ids)]
    for layer in range(config["n_layers"]):
        prefix = f"blocks.{layer}."
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}

        def keep(step_id, value, layer=layer):
            events[step_id, layer] = value + bumps.get((step_id, layer), 0.0)
            return events[step_id, layer]

        a = keep("norm.attn", rms_norm(x, own["norm1.gamma"], eps))
        x = keep("resid.attn", x + attention(a, own, config, keep))
        b = keep("norm.ffn", rms_norm(x, own["norm2.gamma"], eps))
        x = keep("resid.ffn", x + feed_forward(b, own, keep))
    h = events["norm.final", None] = rms_norm(x, weights["norm_f.gamma"], eps)
    output = weights["output"] if "output" in weights else weights["E"].T
    logits = events["logits", None] = h @ output
    if targets is not None:
        probs = np.stack([softmax(row) for row in logits])
        rows = np.arange(len(logits))
        events["loss", None] = -np.log(probs[rows, targets]).mean()
        gradient = probs.copy()
        gradient[rows, targets] -= 1
        events["loss.grad", None] = gradient / len(logits)
    return events
