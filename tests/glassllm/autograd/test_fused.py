"""Each fused op against its twin, the composition of public ops that it stands for: values and gradients."""

import numpy as np
import pytest

from glassllm.autograd import (
    Tensor,
    cross_entropy,
    functions,
    masked_fill,
    matmul,
    mean,
    repeat_kv,
    rope,
    silu,
    softmax,
    sqrt,
    transpose,
)
from glassllm.autograd.ops import OPS, fused
from glassllm.nn import join_heads, keys_ahead, rope_angles, split_heads, turns

TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}  # of each array's largest element


def rms_norm(x, gamma, eps):
    return x / sqrt(mean(x * x, axis=-1, keepdims=True) + eps) * gamma


def causal_attention(q, k, v):
    repeats = q.shape[1] // k.shape[1]
    scores = matmul(q, transpose(repeat_kv(k, repeats), (0, 1, 3, 2))) * q.shape[-1] ** -0.5
    weights = softmax(masked_fill(scores, keys_ahead(q.shape[2], k.shape[2]), -np.inf))
    return join_heads(matmul(weights, repeat_kv(v, repeats)))


def project_heads(x, weight, heads, turn=None):
    apart = split_heads(matmul(x, weight), heads)
    if turn is None:
        return apart
    channels = turn.shape[1] // heads
    return rope(apart, turn[:, :channels:2], turn[:, 1:channels:2])


TWINS = {
    "project_heads": project_heads,
    "rms_norm": rms_norm,
    "feed_forward": lambda x, gate, up, down: matmul(silu(matmul(x, gate)) * matmul(x, up), down),
    "fused_cross_entropy": cross_entropy,
    "causal_attention": causal_attention,
}


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def heads(batch, n, m, query_heads, key_heads, channels, scale=1.0):
    """q, k and v, lying in memory as a model's do."""
    sizes = (n, query_heads), (m, key_heads), (m, key_heads)
    q, k, v = (normal(batch, n, h, channels).transpose(0, 2, 1, 3) for n, h in sizes)
    return scale * q, scale * k, v


def far_apart(rows, columns):
    """Scores whose e^x would overflow, and scores whose every e^x would vanish."""
    scores = 3 * normal(rows, columns)
    scores[::3] += 300
    scores[1::3] -= 300
    return scores


def lonely(n, channels):
    """One query whose best key is far away from all the others."""
    q, k, v = heads(1, n, n, 2, 1, channels)
    q[0, 0, n // 2] *= 40
    k[0, 0, 1] *= 10
    return q, k, v


CASES = {
    **{f"norm of {shape}": ("rms_norm", (normal(*shape), normal(shape[-1])), {"eps": 1e-5})
       for shape in [(1,), (7,), (5, 3), (2, 33, 16), (4, 1, 8)]},
    "norm of almost nothing": ("rms_norm", (1e-4 * normal(3, 8), normal(8)), {"eps": 1e-6}),
    "norm of much": ("rms_norm", (1e4 * normal(3, 8), normal(8)), {"eps": 1e-6}),
    **{f"feed-forward of {shape}": (
        "feed_forward", (normal(*shape), normal(shape[-1], 9), normal(shape[-1], 9) + 1, normal(9, shape[-1])), {})
       for shape in [(1,), (5, 3), (2, 33, 16)]},
    "feed-forward far out": (
        "feed_forward", (np.linspace(-200, 200, 81)[:, None], np.ones((1, 1)), np.ones((1, 1)), normal(1, 2)), {}),
    **{f"loss of {n}": ("fused_cross_entropy", (3 * normal(n, 11),), {"targets": np.arange(n) * 7 % 11})
       for n in (1, 2, 50)},
    "loss of certainties": ("fused_cross_entropy", (far_apart(7, 5),), {"targets": np.arange(7) % 5}),
    "loss where half is ruled out": (
        "fused_cross_entropy", (np.where(np.arange(6) % 2, -np.inf, normal(4, 6)),), {"targets": [0, 2, 4, 0]}),
    **{f"{h} heads at {n}": ("project_heads", (normal(2, n, 5), normal(5, 6 * h)),
                             {"heads": h, "turn": turns(*rope_angles(6, n, 10.0), h)})
       for h, n in [(1, 1), (3, 5), (2, 70)]},
    "heads that are not turned": ("project_heads", (normal(2, 3, 4), normal(4, 12)), {"heads": 4}),
    **{f"attention of {n}": ("causal_attention", heads(2, n, n, 4, 2, 6), {})
       for n in (1, 2, 63, 64, 65, 100, 130)},
    **{f"attention of {n} in {m}": ("causal_attention", heads(2, n, m, 4, 2, 6), {})
       for n, m in [(1, 2), (1, 200), (5, 69), (64, 65), (70, 140)]},
    **{f"attention of {h} heads on {k}": ("causal_attention", heads(3, 17, 17, h, k, 4), {})
       for h, k in [(1, 1), (2, 2), (6, 3), (8, 1)]},
    "attention of a large batch": ("causal_attention", heads(40, 66, 66, 2, 1, 2), {}),
    "attention with sharp scores": ("causal_attention", heads(1, 70, 70, 4, 2, 16, scale=12.0), {}),
    "attention of a lonely query": ("causal_attention", lonely(70, 16), {}),
}  # fmt: skip


def run(function, arrays, attrs, direction):
    """The result, and the gradient of (result · direction) with respect to each array."""
    tensors = [Tensor(a, requires_grad=True) for a in arrays]
    result = function(*tensors, **attrs)
    result.backward(direction(result.shape))
    return [result.data, *(t.grad for t in tensors)]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_are_those_of_the_twin(case, dtype):
    name, arrays, attrs = CASES[case]
    arrays = [a.astype(dtype) for a in arrays]
    if "turn" in attrs:
        attrs = {**attrs, "turn": attrs["turn"].astype(dtype)}
    found, wanted = (
        run(function, arrays, attrs, lambda shape: normal(*shape).astype(dtype))
        for function in (getattr(functions, name), TWINS[name])
    )
    largest = max(np.abs(other).max() for other in wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype == dtype
        assert np.isfinite(other).all()
        scale = max(np.abs(other).max(), largest / 10)  # one query alone sends exactly nothing to itself
        np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE[dtype] * scale)


def test_every_fused_op_has_a_twin():
    assert TWINS.keys() == {name for name, made in OPS.items() if vars(fused).get(name) is made}
    assert TWINS.keys() == {name for name, _, _ in CASES.values()}


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_row_of_nothing_spoils_itself_alone(dtype):
    logits = normal(3, 4).astype(dtype)
    logits[1] = -np.inf
    out = np.empty_like(logits)
    with np.errstate(invalid="raise"):
        fused._exponentials(logits, out)
    assert np.isnan(out[1]).all() and np.isfinite(out[[0, 2]]).all()


def test_a_key_that_is_not_finite_spoils_no_earlier_query():
    q, k, v = heads(1, 70, 70, 2, 1, 4)
    k[0, 0, 40], k[0, 0, 66] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        y = OPS["causal_attention"](q, k, v)
    assert np.isfinite(y[:, :40]).all()


@pytest.mark.parametrize("shapes", [
    ((1, 2, 3, 4), (1, 2, 2, 4), (1, 2, 2, 4)),
    ((1, 3, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)),
    ((1, 2, 3, 4), (1, 2, 3, 5), (1, 2, 3, 4)),
])  # fmt: skip
def test_heads_that_do_not_fit_are_refused(shapes):
    with pytest.raises(ValueError):
        OPS["causal_attention"](*(normal(*shape) for shape in shapes))


def test_losses_without_rows():
    with np.errstate(all="raise"):
        found = run(functions.fused_cross_entropy, [np.zeros((0, 3))], {"targets": []}, np.ones)
    assert np.isnan(found[0]) and found[1].shape == (0, 3)


@pytest.mark.parametrize("turn", [np.ones((1, 4)), np.ones((4, 4)), np.ones((3, 2)), np.ones((3, 4), np.float32)])
def test_angles_that_do_not_fit_are_refused(turn):
    with pytest.raises(ValueError, match="angles"):
        OPS["project_heads"](normal(2, 3, 5), normal(5, 4), heads=1, turn=turn)


@pytest.mark.parametrize("above", [3.0, 12.0, 18.0, 25.0, 29.0, 40.0, 300.0])
def test_the_loss_of_certain_targets_keeps_its_digits(above):
    logits = np.zeros((5, 7), np.float32)
    logits[:, 2] = above
    loss = float(OPS["fused_cross_entropy"](logits, targets=[2] * 5))
    assert loss == pytest.approx(np.log1p(6 * np.exp(-above)), abs=2e-7)
