"""The ends of each op's domain: infinities, zeros, nothing at all, and what must be refused."""

import numpy as np
import pytest

from glassllm.autograd import (
    Tensor,
    abs,
    clip,
    concat,
    cross_entropy,
    cross_entropy_grad,
    embedding,
    gelu,
    log,
    log_softmax,
    masked_fill,
    max,
    mean,
    power,
    relu,
    repeat_kv,
    rope,
    sigmoid,
    silu,
    softmax,
    softmax_np,
    sqrt,
    transpose,
    where,
)

INF, NAN = np.inf, np.nan
SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)


def gradient(function, x, seed=None):
    """The gradient of `function` at the array or number x."""
    x = Tensor(np.asarray(x, float), requires_grad=True)
    function(x).backward(seed)
    return x.grad.tolist()


def test_kinks():
    assert gradient(abs, [-2, 0, 2]) == [-1, 0, 1]
    assert gradient(relu, [-2, 0, 2]) == [0, 0, 1]
    assert gradient(lambda x: clip(x, -1, 1), [-2, -1, 0, 1, 2]) == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("exponent", [0, 0.0, False, np.float64(0), np.zeros(3), np.zeros((2, 3), int), [0, 0, 0]])
def test_a_zeroth_power_is_flat_everywhere(exponent):
    assert gradient(lambda x: power(x, exponent), [0, -INF, 2]) == [0, 0, 0]
    assert gradient(lambda x: power(x, exponent), [NAN, INF, -2]) == [0, 0, 0]


def test_a_first_power_has_slope_one_everywhere():
    assert gradient(lambda x: x**1, [0, -3]) == [1, 1]
    assert gradient(lambda x: x ** [1, 0, 1], [0, 0, INF]) == [1, 0, 1]


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
def test_the_side_not_taken_gets_nothing_whatever_flows(bad):
    seed, x = [bad, 2.0], [-1.0, 1.0]
    assert gradient(relu, x, seed) == [0, 2]
    assert gradient(lambda x: clip(x, 0, 3), x, seed) == [0, 2]
    assert gradient(lambda x: where([False, True], x, 0), x, seed) == [0, 2]
    assert gradient(lambda x: where([True, False], 0, x), x, seed) == [0, 2]
    assert gradient(lambda x: masked_fill(x, [True, False], 5), x, seed) == [0, 2]
    assert gradient(lambda x: power(x, [0, 1]), x, seed) == [0, 2]
    assert gradient(abs, [0, 1], seed) == [0, 2]
    assert gradient(lambda x: max(x, axis=1), [[-1, -2], [4, 3]], [2.0, bad])[0] == [2, 0]
    assert gradient(lambda x: max(x, axis=1), [[-1, -2], [4, 3]], [2.0, bad])[1][1] == 0


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
def test_the_value_not_taken_changes_no_gradient(bad):
    a = Tensor([bad, 1.0], requires_grad=True)
    b = Tensor([2.0, bad], requires_grad=True)
    y = where([False, True], a, b)
    y.backward()
    assert y.data.tolist() == [2, 1]
    assert a.grad.tolist() == [0, 1]
    assert b.grad.tolist() == [1, 0]


def test_the_largest_among_not_a_number():
    assert gradient(max, [1, NAN, 3]) == [0, 1, 0]
    assert gradient(lambda x: max(x, axis=0), [[NAN, 1], [NAN, 1]]) == [[0.5, 0.5], [0.5, 0.5]]
    assert gradient(max, [-INF, -INF]) == [0.5, 0.5]


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_ties_share_within_each_slice(axis):
    x = Tensor(np.ones((2, 4), np.float32), requires_grad=True)
    y = max(x, axis=axis)
    y.backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_allclose(x.grad, y.size / x.size)


def test_faults_of_arithmetic_follow_numpy():
    for function, x, value in [
        (log, 0, -INF),
        (log, -1, NAN),
        (lambda x: 1 / x, 0, INF),
        (lambda x: x**0.5, -1, NAN),
    ]:
        with pytest.warns(RuntimeWarning):
            y = function(Tensor(float(x)))
        np.testing.assert_equal(y.data, value)
    with pytest.warns(RuntimeWarning):
        assert gradient(sqrt, 0) == INF


def test_a_gradient_nobody_wants_does_not_warn():
    future = [[False, True], [False, False]]
    for scaled in (lambda x: x * 0.5, lambda x: x / 2, lambda x: 0.5 * x):
        found = gradient(lambda x, f=scaled: softmax(f(masked_fill(x, future, -INF)))[0, 0], np.zeros((2, 2)))
        assert found == [[0, 0], [0, 0]]


@pytest.mark.parametrize("scaled", [lambda x: x * np.float32(1e30), lambda x: x / np.float32(1e-30)])
def test_a_gradient_somebody_wants_warns_beside_a_constant_too(scaled):
    x = Tensor(np.float32(1e-30), requires_grad=True)
    y = scaled(x)
    with pytest.warns(RuntimeWarning, match="overflow"):
        y.backward(1e30)
    assert x.grad == INF


def test_a_row_of_nothing_is_not_a_number_in_that_row_only():
    rows = [[-INF, -INF], [0.0, -INF], [0.0, 0.0]]
    expected = [[NAN, NAN], [1, 0], [0.5, 0.5]]
    np.testing.assert_array_equal(softmax(rows).data, expected)
    np.testing.assert_array_equal(softmax_np(rows), expected)
    np.testing.assert_array_equal(log_softmax(rows).data[:2], [[NAN, NAN], [0, -INF]])
    found = gradient(lambda x: softmax(x) * [1.0, 2.0], rows)
    np.testing.assert_allclose(found, [[NAN, NAN], [0, 0], [-0.25, 0.25]])
    assert np.isnan(cross_entropy(rows, [0, 0, 0]).data)


def test_each_row_has_its_own_maximum_subtracted():
    x = np.array([[0.0, 1.0], [-1000.0, -1001.0], [1e4, 1e4 - 2]])
    np.testing.assert_allclose(softmax_np(x)[1], softmax_np(x[0])[::-1])
    np.testing.assert_allclose(softmax(x.T, axis=0).data, softmax_np(x).T)
    np.testing.assert_allclose(
        cross_entropy(x, [0, 1, 1]).data, (2 * np.log1p(np.e) + 2 + np.log1p(np.exp(-2))) / 3
    )


def test_softmax_of_integers_does_not_wrap_around():
    np.testing.assert_allclose(softmax_np(np.array([0, 200], np.uint8)), [np.exp(-200.0), 1])
    np.testing.assert_allclose(log_softmax(np.array([-100, 100], np.int8)).data, [-200, 0], atol=1e-15)


def test_sigmoid_and_silu_keep_their_digits_in_float32():
    x = np.concatenate([np.linspace(-110, 110, 200_001), np.linspace(-104, -80, 200_000)]).astype(np.float32)
    exact = x.astype(np.longdouble)
    for function, expected in [(sigmoid, 1 / (1 + np.exp(-exact))), (silu, exact / (1 + np.exp(-exact)))]:
        found = function(x).data
        assert found.dtype == np.float32
        error, size = np.abs(found - expected), np.abs(expected)
        assert np.max(error[size >= SMALLEST_NORMAL] / size[size >= SMALLEST_NORMAL]) < 1e-6
        assert np.max(error[size < SMALLEST_NORMAL]) <= 3e-45


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_far_out(dtype):
    x = Tensor(np.array([-INF, -1e30, -1e4, 1e4, 1e30], dtype), requires_grad=True)
    for function, values, slopes in [
        (sigmoid, [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]),
        (silu, [0, 0, 0, 1e4, 1e30], [0, 0, 0, 1, 1]),
    ]:
        x.grad = None
        y = function(x)
        y.backward()
        np.testing.assert_allclose(y.data, np.array(values, dtype))
        np.testing.assert_allclose(x.grad, slopes)
    x = Tensor(x.data[1:], requires_grad=True)
    y = gelu(x)
    y.backward()
    np.testing.assert_allclose(y.data, np.array([0, 0, 1e4, 1e30], dtype))
    np.testing.assert_allclose(x.grad, [0, 0, 1, 1])


def test_an_empty_batch_has_no_mean_loss():
    logits = Tensor(np.zeros((0, 3), np.float32), requires_grad=True)
    for targets in ([], (), np.zeros(0, int)):
        loss = cross_entropy(logits, targets)
        loss.backward()
        assert loss.dtype == np.float32
        assert np.isnan(loss.data)
    assert logits.grad.shape == (0, 3)
    assert cross_entropy_grad(logits, []).shape == (0, 3)


@pytest.mark.parametrize(
    ("targets", "fault"),
    [
        ([0, 3], IndexError),
        ([0, -1], IndexError),
        ([0.0, 1.0], ValueError),
        ([True, False], ValueError),
        ([[1, 0, 0], [0, 1, 0]], ValueError),
        ([0, 1, 2], ValueError),
        ([], ValueError),
        (0, ValueError),
        (["a", "b"], ValueError),
    ],
)
def test_targets_that_name_no_classes(targets, fault):
    for function in (cross_entropy, cross_entropy_grad):
        with pytest.raises(fault, match="targets"):
            function(np.zeros((2, 3)), targets)


def test_logits_must_be_rows():
    with pytest.raises(ValueError, match="logits"):
        cross_entropy(np.zeros(3), [0, 0, 0])


@pytest.mark.parametrize("targets", [range(2), (0, 1), np.array([0, 1], np.uint8), [np.int64(0), 1]])
def test_targets_of_any_integer_kind(targets):
    assert cross_entropy(np.zeros((2, 3)), targets).data == pytest.approx(np.log(3))


def test_the_loss_leaves_its_logits_alone():
    logits = np.arange(6.0).reshape(2, 3)
    logits.flags.writeable = False
    assert type(cross_entropy_grad(logits, [0, 1])) is np.ndarray
    assert logits.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_ids_are_any_integers_numpy_indexes_with():
    weight = np.arange(6.0).reshape(3, 2)
    assert embedding(weight, -1).data.tolist() == [4, 5]
    assert embedding(weight, [[0, 1], [2, -3]]).shape == (2, 2, 2)
    assert embedding(weight, (0, 1)).data.tolist() == [[0, 1], [2, 3]]
    assert embedding(weight, []).shape == (0, 2)
    for ids in ([3], [-4], [0.5], np.zeros(1), [True]):
        with pytest.raises(IndexError):
            embedding(weight, ids)


def test_a_mean_of_nothing_has_a_gradient_of_no_elements():
    assert gradient(lambda x: mean(x, axis=0), np.zeros((4, 0))) == [[], [], [], []]


def test_tables_of_another_precision_do_not_change_the_rotated():
    angles = np.arange(6.0).reshape(3, 2)
    for dtype in (np.float32, np.float64):
        x = Tensor(np.ones((2, 3, 4), dtype), requires_grad=True)
        for tables in (np.float32, np.float64):
            y = rope(x, np.cos(angles).astype(tables), np.sin(angles).astype(tables))
            y.backward()
            assert y.dtype == x.grad.dtype == dtype


def test_rope_turns_and_never_stretches():
    angles = np.random.default_rng(0).uniform(0, 6, (5, 4))
    x = np.random.default_rng(1).normal(size=(2, 5, 8))
    y = rope(x, np.cos(angles), np.sin(angles)).data
    np.testing.assert_allclose(np.linalg.norm(y, axis=-1), np.linalg.norm(x, axis=-1))
    np.testing.assert_allclose(rope(y, np.cos(angles), -np.sin(angles)).data, x)


def test_tables_of_another_length_are_refused():
    with pytest.raises(ValueError, match="shape"):
        rope(np.ones((1, 4)), np.ones((2, 2)), np.ones((2, 2)))


def test_repeats_are_a_whole_number():
    with pytest.raises(TypeError):
        repeat_kv(np.ones((1, 1, 1, 1)), 2.5)


def test_faults_of_shape_are_numpys_own():
    t = Tensor(np.ones((2, 3)))
    for fault, attempt in [
        (ValueError, lambda: t + np.ones(4)),
        (ValueError, lambda: t.reshape(5)),
        (ValueError, lambda: t @ np.ones((2, 3))),
        (ValueError, lambda: transpose(t, (0, 0))),
        (ValueError, lambda: concat([])),
        (np.exceptions.AxisError, lambda: t.sum(axis=2)),
        (np.exceptions.AxisError, lambda: softmax(t, axis=5)),
        (IndexError, lambda: t[2]),
        (IndexError, lambda: t[0, 0, 0]),
    ]:
        with pytest.raises(fault):
            attempt()


def test_concat_takes_rows_of_a_tensor_as_numpy_does():
    t = Tensor(np.arange(6.0).reshape(2, 3))
    assert concat(t).data.tolist() == [0, 1, 2, 3, 4, 5]
    assert concat([t, np.ones((1, 3))]).shape == (3, 3)
