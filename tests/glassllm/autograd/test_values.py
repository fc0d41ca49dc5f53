"""Small programs and the numbers that must come out of them, to be checked by hand."""

import math

import numpy as np
import pytest

from glassllm.autograd import (
    Tensor,
    cross_entropy,
    cross_entropy_grad,
    embedding,
    log_softmax,
    masked_fill,
    no_grad,
    repeat_kv,
    rope,
    sigmoid,
    silu,
    softmax,
    softmax_np,
)


def leaf(data):
    return Tensor(np.array(data, float), requires_grad=True)


def test_gradients_of_a_square_plus_itself_accumulate_over_calls():
    x = leaf([3])
    y = x * x + x
    y.backward()
    assert x.grad.tolist() == [7]
    y.backward()
    assert x.grad.tolist() == [14]
    x.grad = None
    y.backward([2.0])
    assert x.grad.tolist() == [14]


def test_a_bias_gathers_the_gradients_of_all_rows():
    x, bias = leaf(np.ones((2, 3))), leaf([1, 2, 3])
    (x + bias).sum().backward()
    assert bias.grad.tolist() == [2, 2, 2]
    assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_ties_share_the_gradient_of_the_largest():
    x = leaf([2, 2, 1])
    x.max().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0]


def test_nothing_flows_back_into_no_grad():
    x = leaf([3])
    with no_grad():
        y = 2 * x
    y.backward()
    assert y.requires_grad is False
    assert x.grad is None
    assert (2 * x).requires_grad is True


def test_a_repeated_id_gathers_its_gradients():
    weight = leaf(np.zeros((4, 2)))
    embedding(weight, [1, 2, 1]).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [2, 2], [1, 1], [0, 0]]


def test_a_causal_softmax_gives_nothing_to_the_future():
    future = np.triu(np.ones((3, 3), bool), k=1)
    weights = softmax(masked_fill(leaf(np.zeros((3, 3))), future, -np.inf)).data
    assert (weights[future] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-15)


def test_softmax_of_large_numbers():
    assert softmax_np([[1000.0, 1000.0]]).tolist() == [[0.5, 0.5]]
    np.testing.assert_allclose(log_softmax([[1000.0, 1000.0]]).data, [[-math.log(2)] * 2], rtol=1e-15)


def test_sigmoid_and_silu():
    assert sigmoid([-10000.0, 0.0, 10000.0]).data.tolist() == [0, 0.5, 1]
    x = leaf(0)
    silu(x).backward()
    assert x.grad == 0.5


def test_cross_entropy_of_even_odds():
    logits = leaf([[0, 0]])
    loss = cross_entropy(logits, [1])
    loss.backward()
    assert float(loss.data) == pytest.approx(math.log(2), rel=1e-15)
    assert logits.grad.tolist() == [[0.5, -0.5]]


def test_cross_entropy_of_two_rows():
    logits = leaf([[2, 1, 0], [0, 1, 2]])
    loss = cross_entropy(logits, [0, 2])
    loss.backward()
    row = [-0.167380, 0.122364, 0.045015]
    assert float(loss.data) == pytest.approx(0.407606, abs=5e-7)
    np.testing.assert_allclose(logits.grad, [row, row[::-1]], atol=5e-7)
    np.testing.assert_allclose(logits.grad.sum(axis=-1), 0, atol=1e-16)
    np.testing.assert_array_equal(cross_entropy_grad(logits, [0, 2]), logits.grad)


def test_uniform_logits_cost_the_logarithm_of_the_vocabulary():
    assert float(cross_entropy(np.zeros((5, 1024)), [0, 1, 2, 3, 1023]).data) == pytest.approx(6.931472, abs=5e-7)


def test_rope_by_a_quarter_turn():
    x = leaf([[1, 2, 3, 4]])
    turned = rope(x, np.zeros((1, 2)), np.ones((1, 2)))
    assert turned.data.tolist() == [[-2, 1, -4, 3]]
    turned.backward([[1.0, 2.0, 3.0, 4.0]])
    assert x.grad.tolist() == [[2, -1, 4, -3]]


def test_heads_are_repeated_next_to_themselves():
    heads = leaf(np.reshape([1, 2], (1, 2, 1, 1)))
    repeated = repeat_kv(heads, 2)
    assert repeated.data.ravel().tolist() == [1, 1, 2, 2]
    repeated.sum().backward()
    assert heads.grad.ravel().tolist() == [2, 2]
