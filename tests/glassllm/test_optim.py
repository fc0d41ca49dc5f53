"""AdamW against a plain float64 one written here; clipping; the learning rate's course."""

import math

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.optim import AdamW, clip_grad_norm, lr_schedule


def parameter(values, dtype=np.float64):
    return Tensor(np.array(values, dtype), requires_grad=True)


def reference_adamw(p, gradients, rates, betas, eps, decay):
    """The textbook update, one gradient and one rate per step; None skips the step."""
    p, m, v, t = p.astype(np.float64), 0.0, 0.0, 0
    for g, lr in zip(gradients, rates, strict=True):
        if g is None:
            continue
        t += 1
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        if p.ndim >= 2:
            p = p - lr * decay * p
        p = p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)
    return p


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-14), (np.float32, 2e-6)])
@pytest.mark.parametrize("shape", [(), (5,), (4, 3), (2, 3, 2)])
def test_adamw_equals_the_reference(shape, dtype, tolerance):
    rng = np.random.default_rng(1)
    start = rng.normal(size=shape)
    gradients = [rng.normal(size=shape).astype(dtype) for _ in range(6)]
    gradients[2] = None
    rates = [0.1, 0.1, 0.1, 0.03, 0.02, 0.01]
    settings = {"betas": (0.8, 0.95), "eps": 1e-6}
    p = parameter(start, dtype)
    optimizer = AdamW([p], lr=0.1, weight_decay=0.2, **settings)
    for i, (g, lr) in enumerate(zip(gradients, rates, strict=True)):
        p.grad = g
        optimizer.step(np.float64(lr) if i >= 3 else None)
    assert p.dtype == dtype and optimizer.first[0].dtype == dtype and optimizer.second[0].dtype == dtype
    wanted = reference_adamw(start.astype(dtype), gradients, rates, decay=0.2, **settings)
    assert p.data == pytest.approx(wanted, rel=tolerance, abs=tolerance)


def test_a_parameter_without_gradient_is_left_alone():
    still, moved = parameter([[1.0, 2.0]]), parameter([[1.0, 2.0]])
    optimizer = AdamW([still, moved])
    moved.grad = np.ones((1, 2))
    optimizer.step()
    assert np.array_equal(still.data, [[1, 2]]) and not np.array_equal(moved.data, [[1, 2]])
    assert optimizer.counts == [0, 1]


def test_decay_is_on_matrices_only():
    vector, matrix = parameter([2.0]), parameter([[2.0]])
    optimizer = AdamW([vector, matrix], lr=0.1, weight_decay=0.5)
    for p in optimizer.params:
        p.grad = np.zeros_like(p.data)
    optimizer.step()
    assert vector.data[0] == 2.0
    assert matrix.data[0, 0] == pytest.approx(2.0 * (1 - 0.1 * 0.5))


def test_weights_are_updated_in_place_and_gradients_left_as_they_are():
    p = parameter([1.0, 2.0])
    p.grad = g = np.array([1.0, -1.0])
    data = p.data
    AdamW([p]).step()
    assert p.data is data and np.array_equal(g, [1, -1])


def test_zero_grad_sets_none():
    p = parameter([1.0])
    p.grad = np.ones(1)
    AdamW([p]).zero_grad()
    assert p.grad is None


def test_integers_cannot_be_trained():
    with pytest.raises(ValueError, match="float"):
        AdamW([Tensor(np.arange(3))])


def with_gradients(*gradients, dtype=np.float64):
    params = [parameter(np.zeros(np.shape(g)), dtype) for g in gradients]
    for p, g in zip(params, gradients, strict=True):
        p.grad = np.array(g, dtype)
    return params


def test_clip_scales_all_gradients_together():
    params = with_gradients([3.0, 0.0], [[4.0]])
    yesterday = params[0].grad
    assert clip_grad_norm(params, 1.0) == 5.0
    assert params[0].grad == pytest.approx([0.6, 0]) and params[1].grad == pytest.approx(np.array([[0.8]]))
    assert np.array_equal(yesterday, [3, 0]), "gradients are replaced, not written into"


def test_clip_leaves_small_gradients_and_absent_ones():
    params = [*with_gradients([0.3, 0.4]), parameter([1.0])]
    before = params[0].grad
    assert clip_grad_norm(params, 1.0) == pytest.approx(0.5)
    assert params[0].grad is before and params[1].grad is None


def test_clip_keeps_float32_and_sums_in_float64():
    params = with_gradients([1e30, 1e30], dtype=np.float32)
    assert clip_grad_norm(params, np.float64(1.0)) == pytest.approx(math.sqrt(2) * 1e30)
    assert params[0].grad.dtype == np.float32
    assert params[0].grad == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_a_norm_that_is_not_finite_is_told_and_scales_nothing(bad):
    params = with_gradients([1.0, bad])
    assert not math.isfinite(clip_grad_norm(params, 1.0))
    assert params[0].grad[0] == 1.0


@pytest.mark.parametrize(
    "step, rate",
    [
        (0, 0.1),
        (4, 0.5),
        (9, 1.0),
        (10, 1.0),
        (60, 0.55),
        (35, 0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2),
        (110, 0.1),
        (500, 0.1),
    ],
)
def test_schedule(step, rate):
    assert lr_schedule(step, 110, 1.0, 10) == pytest.approx(rate)


def test_schedule_without_warmup_and_with_nothing_but_warmup():
    assert lr_schedule(0, 10, 2.0, 0) == 2.0
    assert lr_schedule(10, 10, 2.0, 0, min_ratio=0.25) == pytest.approx(0.5)
    assert lr_schedule(9, 10, 2.0, 10) == 2.0
    assert lr_schedule(10, 10, 2.0, 10) == 2.0


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e-18, 1e-10, 1e-3, 1e10, 1e18, 1e30])
def test_the_norm_is_right_where_float32_squares_vanish_or_overflow(scale):
    values = np.linspace(-1, 2, 5000) * scale
    params = with_gradients(values, dtype=np.float32)
    wanted = np.linalg.norm(values.astype(np.float32).astype(np.float64))
    assert clip_grad_norm(params, math.inf) == pytest.approx(wanted, rel=1e-5)
