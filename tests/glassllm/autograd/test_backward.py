"""What backward writes, where, and that nothing else is written."""

import numpy as np
import pytest

from glassllm.autograd import Tensor, op
from glassllm.autograd.graph import seed_for


def leaf(data=1.0):
    return Tensor(np.array(data, float), requires_grad=True)


def test_leaves_accumulate_and_intermediates_start_anew():
    x = leaf([3])
    y = x * x
    z = y + x
    z.backward()
    z.backward()
    assert x.grad.tolist() == [14]
    assert y.grad.tolist() == z.grad.tolist() == [1]
    y.backward([5.0])
    assert y.grad.tolist() == [5]
    assert z.grad.tolist() == [1]


def test_the_contributions_of_one_call_are_summed_before_they_are_added():
    x = leaf(1e16)
    x.grad = np.array(1e16)
    (x * 1 + x * 1 + x * 1 + x * 1).backward()
    assert float(x.grad) == 1e16 + 4


def test_intermediates_are_cleared_when_a_traversal_starts():
    @op
    def fragile(x):
        return x * 1

    @fragile.rule
    def _(g, y, x):
        if broken:
            raise ArithmeticError
        return g

    x, broken = leaf([1.0]), False
    y = fragile(x)
    z = y * 2
    z.backward()
    assert y.grad is not None
    broken = True
    with pytest.raises(ArithmeticError):
        z.backward([3.0])
    assert y.grad is None
    assert z.grad.tolist() == [3]
    assert x.grad.tolist() == [2]


def test_what_nothing_reaches_ends_without_a_gradient():
    @op
    def stop(x):
        return x * 1

    @stop.rule
    def _(g, y, x):
        return None

    a, b = leaf([1.0]), leaf([1.0])
    hidden = a * 2
    (stop(hidden) + b).backward()
    assert hidden.grad is None
    assert a.grad is None
    assert b.grad.tolist() == [1]


def test_a_leafs_gradient_owns_its_memory_and_an_intermediates_is_read_only():
    x, y = leaf(np.ones((2, 3))), leaf(np.ones((2, 3)))
    z = x + y
    total = z.sum()
    total.backward()
    for t in (x, y):
        assert t.grad.flags.owndata
        assert t.grad.flags.writeable
        assert t.grad.shape == t.shape
    assert not np.shares_memory(x.grad, y.grad)
    for t in (z, total):
        with pytest.raises(ValueError, match="read-only"):
            t.grad[...] = 0
    x.grad *= 2
    assert y.grad.tolist() == [[1] * 3] * 2


def test_the_seed_is_copied():
    x = leaf([1.0, 2.0])
    seed = np.array([1.0, 1.0])
    for root in (x, x * 1):
        x.grad = None
        root.backward(seed)
        assert not np.shares_memory(x.grad, seed)
        x.grad[:] = 7
        assert seed.tolist() == [1, 1]


def test_a_seed_written_to_later_changes_no_gradient():
    y = leaf([1.0]) * 2
    seed = np.ones(1)
    y.backward(seed)
    seed[:] = 7
    assert y.grad.tolist() == [1]


def test_a_root_that_is_a_leaf_takes_the_seed():
    x = leaf([1.0, 2.0])
    x.backward()
    x.backward([1.0, 5.0])
    assert x.grad.tolist() == [2, 6]
    assert x.grad.flags.owndata


def test_a_root_that_requires_no_grad_does_nothing():
    x = Tensor([1.0])
    x.backward()
    (x * 2).backward()
    assert x.grad is None


@pytest.mark.parametrize("shape", [(), (2,), (3, 1), (1, 3)])
def test_a_seed_of_another_shape_is_refused_by_both_names(shape):
    y = leaf(np.ones(3)) * 1
    with pytest.raises(ValueError) as refusal:
        y.backward(np.ones(shape))
    assert str(shape) in str(refusal.value)
    assert "(3,)" in str(refusal.value)


def test_a_seed_takes_the_outputs_dtype():
    x = Tensor(np.ones(2, np.float32), requires_grad=True)
    y = x * 2
    y.backward([1, 2])
    assert x.grad.dtype == y.grad.dtype == np.float32
    assert seed_for(np.array([1, 2])).dtype == np.float64


def test_a_tensor_used_twice_in_one_op():
    x = leaf([3.0])
    (x * x).backward()
    assert x.grad.tolist() == [6]
    m = leaf([[1.0, 2.0], [3.0, 4.0]])
    (m @ m.transpose()).backward()
    np.testing.assert_array_equal(m.grad, 2 * np.ones((2, 2)) @ m.data)


def test_a_weight_used_at_both_ends():
    weight = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    (weight[[0, 2]] @ weight.transpose()).backward()
    expected = np.tile(weight.data[[0, 2]].sum(axis=0), (3, 1))
    expected[[0, 2]] += weight.data.sum(axis=0)
    np.testing.assert_array_equal(weight.grad, expected)


def test_many_graphs_may_share_one_part():
    x = leaf([2.0])
    shared = x * x
    first, second = shared * 3, shared * 5
    second.backward()
    first.backward()
    assert x.grad.tolist() == [20 + 12]
    assert shared.grad.tolist() == [3]
