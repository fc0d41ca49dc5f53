"""What a Tensor is, offers and refuses."""

import inspect
import operator
from collections import Counter
from types import FunctionType

import numpy as np
import pytest

from glassllm.autograd import Tensor, add, concat, exp, masked_fill, no_grad, power, where
from glassllm.autograd import tensor as engine
from glassllm.autograd.ops import elementwise


def leaf(data, dtype=np.float64):
    return Tensor(np.array(data, dtype), requires_grad=True)


def test_data_is_the_array_given():
    for data in (np.ones((2, 3), np.float32), np.arange(3), np.array(2.0), np.ones(4)[::2]):
        t = Tensor(data)
        assert t.data is data
        assert (t.shape, t.ndim, t.dtype, t.size) == (data.shape, data.ndim, data.dtype, data.size)
    assert Tensor([[1, 2]]).data.tolist() == [[1, 2]]
    assert Tensor(3).dtype == np.int64


def test_a_new_tensor_has_no_gradient():
    for t in (Tensor(1.0), leaf(1.0)):
        assert t.grad is None
        assert t.node is None
    assert Tensor(1.0).requires_grad is False
    assert leaf(1.0).requires_grad is True


def test_equality_and_hash_are_identity():
    a, b = Tensor([1.0]), Tensor([1.0])
    assert a == a
    assert a != b
    assert len({a, b, a}) == 2


def test_repr_is_short():
    assert repr(Tensor(np.zeros((2, 3), np.float32))) == "Tensor(2×3 float32)"
    assert repr(leaf(2.5)) == "Tensor(() float64 2.5, requires grad)"
    assert repr(leaf([1, 2]) * 2) == "Tensor(2 float64, by mul)"
    assert len(repr(leaf(np.zeros((100, 100))).sum())) < 60


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
OTHERS = [2, 2.5, True, np.float32(2), np.float64(2), np.int64(2), np.array(2.0), np.array([2.0, 4]), [2.0, 4]]


@pytest.mark.parametrize("calculate", OPERATORS)
@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_operators_take_anything_on_either_side(calculate, other):
    t = leaf([1, 5])
    for result, expected in [
        (calculate(t, other), calculate(t.data, np.asarray(other))),
        (calculate(other, t), calculate(np.asarray(other), t.data)),
    ]:
        assert type(result) is Tensor
        assert result.node.op.name == {"truediv": "div"}.get(calculate.__name__, calculate.__name__)
        np.testing.assert_array_equal(result.data, expected)


def test_the_other_operators():
    t = leaf([[1, 2], [3, 4]])
    assert (-t).data.tolist() == [[-1, -2], [-3, -4]]
    assert (t**2).data.tolist() == [[1, 4], [9, 16]]
    assert (t @ t).data.tolist() == [[7, 10], [15, 22]]
    assert (t @ [1, 1]).data.tolist() == [3, 7]
    assert t[1, 0].data == 3


def test_in_place_operators_bind_a_new_tensor():
    t = before = leaf([1.0])
    t += 1
    assert t is not before
    assert before.data.tolist() == [1]
    array = np.ones(1)
    with pytest.raises(TypeError):
        array += before


@pytest.mark.parametrize("number", [2, 0.5, True, np.float64(0.5), np.float32(0.5), np.int64(2), np.bool_(True)])
def test_numbers_take_the_dtype_of_the_tensor(number):
    for dtype in (np.float32, np.float64):
        t = leaf([1, 2], dtype)
        results = [t + number, number - t, t * number, number / t, t**number]
        results += [where([True, False], t, number), masked_fill(t, [True, False], number), power(t, number)]
        for y in results:
            t.grad = None
            y.backward()
            assert y.dtype == t.grad.dtype == dtype


def test_numbers_beside_no_tensor_promote_as_in_numpy():
    assert add(np.ones(2, np.float32), 2.0).dtype == np.float32
    assert exp(np.float32(1)).dtype == np.float32
    assert add(np.ones(2, np.int32), 2).dtype == np.int32
    assert (Tensor(np.ones(2, np.int32)) * 2).dtype == np.int32
    assert (Tensor([1, 2]) * 0.5).dtype == np.float64


def test_arrays_promote_and_each_gradient_keeps_its_inputs_dtype():
    single, double = leaf([1, 2], np.float32), leaf([3, 4], np.float64)
    y = single * double
    y.backward(np.ones(2, np.float32))
    assert y.dtype == np.float64
    assert single.grad.dtype == np.float32
    assert double.grad.dtype == np.float64
    assert (single * np.array(2.0)).dtype == np.float64
    assert concat([single, double]).dtype == np.float64


def test_an_integer_leaf_gets_a_float_gradient():
    x = leaf([3, 4], np.int64)
    (x * x + x / 2 + x.max() + x[[0, 0, 1]].sum()).backward()
    assert x.grad.dtype == np.float64
    assert x.grad.tolist() == [6 + 0.5 + 4, 8 + 0.5 + 2 + 2]


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (-1, -3), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_name_axes_as_numpy_does(axis, keepdims):
    data = np.random.default_rng(0).normal(size=(2, 3, 4))
    t = Tensor(data)
    np.testing.assert_allclose(t.sum(axis, keepdims).data, data.sum(axis, keepdims=keepdims))
    np.testing.assert_allclose(t.mean(axis, keepdims).data, data.mean(axis, keepdims=keepdims))
    np.testing.assert_allclose(t.max(axis=axis, keepdims=keepdims).data, data.max(axis, keepdims=keepdims))


def test_shapes_are_given_one_by_one_or_together():
    data = np.arange(6.0).reshape(2, 3)
    t = Tensor(data)
    for given in [(3, 2), ((3, 2),), ([3, -1],), (np.array([3, 2]),)]:
        assert t.reshape(*given).data.tolist() == data.reshape(3, 2).tolist()
    assert t.reshape(-1).shape == (6,)
    assert Tensor([2.0]).reshape(()).shape == ()
    for given in [(), (None,), (1, 0), ((1, 0),), ([-1, 0],)]:
        assert t.transpose(*given).data.tolist() == data.T.tolist()
    assert Tensor(2.0).transpose().shape == Tensor(2.0).transpose(()).shape == ()


def test_iteration_gives_rows():
    t = leaf([[1, 2], [3, 4], [5, 6]])
    rows = list(t)
    assert len(t) == len(rows) == 3
    rows[1].backward()
    assert t.grad.tolist() == [[0, 0], [1, 1], [0, 0]]
    first, *_ = leaf([1, 2])
    assert first.shape == ()
    for attempt in (iter, len):
        with pytest.raises(TypeError):
            attempt(Tensor(1.0))


T = leaf([[1, 2], [3, 4]])
REFUSED = {
    "array @ t": lambda: np.ones((2, 2)) @ T,
    "list @ t": lambda: [1, 1] @ T,
    "np.asarray(t)": lambda: np.asarray(T),
    "np.array([t])": lambda: np.array([T]),
    "Tensor(t)": lambda: Tensor(T),
    "Tensor([t])": lambda: Tensor([T]),
    "t > 0": lambda: T > 0,
    "t <= 0": lambda: T <= 0,
    "array < t": lambda: np.ones(2) < T,
    "array >= t": lambda: np.ones(2) >= T,
    "t[0] = 1": lambda: operator.setitem(T, 0, 1),
    "float(t)": lambda: float(T),
    "int(t)": lambda: int(T),
    "bool(t)": lambda: bool(T),
    "np.sum(t)": lambda: np.sum(T),
    "np.concatenate([t])": lambda: np.concatenate([T]),
    "2 ** t": lambda: 2**T,
    "array ** t": lambda: np.ones(2) ** T,
    "t ** t": lambda: T**T,
    "t[t]": lambda: T[T],
    "t[0, [t]]": lambda: T[0, [T]],
    "t[t:]": lambda: T[T:],
    "array[t]": lambda: np.ones(2)[T],
    "t.backward(t)": lambda: T.backward(T),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_data(name):
    with pytest.raises(TypeError, match=r"\.data"):
        REFUSED[name]()


def test_numpys_ufuncs_are_refused():
    for attempt in (lambda: np.exp(T), lambda: np.add(T, 1), lambda: np.add(np.ones(2), T), lambda: np.sqrt(T)):
        with pytest.raises(TypeError):
            attempt()


def test_what_is_not_offered_is_not_there():
    for name in ("detach", "item", "T", "numpy"):
        assert not hasattr(T, name)


def test_results_are_new_tensors_with_a_node_only_if_an_input_requires_grad():
    t, constant = leaf([1, 2]), Tensor([1.0, 2.0])
    assert (constant + constant).node is None
    assert (constant + constant).requires_grad is False
    y = constant + t
    assert y.requires_grad is True
    assert y.node.inputs == (None, t)
    assert t.reshape(2) is not t
    assert t.sum(axis=()) is not t


def test_the_graph_keeps_the_arrays_it_used():
    x = leaf([2.0])
    y = x * x
    x.data = np.array([100.0])
    y.backward()
    assert x.grad.tolist() == [4]


def test_a_result_told_to_require_no_grad_ends_the_graph():
    x = leaf([2.0])
    y = x * x
    y.requires_grad = False
    y.backward()
    z = y * x
    z.backward()
    assert x.grad.tolist() == [4]


# Operations built by hand ---------------------------------------------------------------------------------------


def test_a_hand_built_operation_sends_its_gradients_to_its_parents():
    a, b = leaf([1, 2]), leaf([3, 4])
    y = Tensor(a.data * b.data, parents=(a, b), backward=lambda grad: (grad * b.data, grad * a.data))
    assert y.requires_grad is True
    assert y.node.op.name == "custom"
    (y * 2).backward()
    assert a.grad.tolist() == [6, 8]
    assert b.grad.tolist() == [2, 4]


@pytest.mark.parametrize("sent", [np.ones(2), (np.ones(2),), [np.ones(2)], 1.0, np.ones((3, 2)) / 3])
def test_a_single_parent_takes_its_gradient_bare_or_wrapped(sent):
    x = leaf([1, 2])
    Tensor([0.0, 0.0], parents=[x], backward=lambda grad: sent).backward()
    np.testing.assert_allclose(x.grad, [1, 1])


def test_none_sends_nothing():
    a, b = leaf([1.0]), leaf([2.0])
    Tensor([0.0], parents=(a, b), backward=lambda grad: (None, grad)).backward()
    assert a.grad is None
    assert b.grad.tolist() == [1]


def test_constant_parents_get_nothing():
    a, b = Tensor([1.0]), leaf([2.0])
    Tensor([0.0], parents=(a, b), backward=lambda grad: (grad, grad)).backward()
    assert a.grad is None
    assert b.grad.tolist() == [1]
    for asked in (False, True):
        assert Tensor([0.0], (a,), lambda grad: grad, requires_grad=asked).requires_grad is False


@pytest.mark.parametrize(
    ("backward", "words"),
    [
        (lambda grad: (grad, grad), "custom gave 2 gradients for 1 inputs"),
        (lambda grad: (), "custom gave 0 gradients for 1 inputs"),
        (lambda grad: np.ones(5), r"custom gave a gradient of shape \(5,\) for an input of shape \(2,\)"),
        (None, "custom has no backward rule"),
    ],
)
def test_a_wrong_rule_is_named(backward, words):
    with pytest.raises(ValueError, match=words):
        Tensor([0.0, 0.0], parents=(leaf([1, 2]),), backward=backward).backward()


# The hook -------------------------------------------------------------------------------------------------------


class Log:
    def __init__(self):
        self.seen = []

    def applied(self, op, inputs, attrs, saved, result):
        self.seen.append((op.name, inputs, attrs, saved, result))

    def traversed(self, root, seed):
        pass


def test_the_hook_hears_of_each_op_once(hooked):
    x, constant = leaf([1, 2]), Tensor([1.0, 1.0])
    with hooked(Log()) as log:
        y = (x * constant).sum(axis=0)
        Tensor(0.0, parents=(y,))
        with no_grad():
            constant + 1
        y.backward()
    x + 1
    assert [name for name, *_ in log.seen] == ["mul", "tsum", "custom", "add"]
    assert log.seen[0][1] == (x, constant)
    assert log.seen[1][2] == {"axis": 0, "keepdims": False}
    assert log.seen[1][4] is y
    assert engine.hook is None


class Reads(dict):
    """A module's names, and how often each was looked up."""

    def __init__(self, names):
        super().__init__(names)
        self.of = Counter()

    def __getitem__(self, name):
        self.of[name] += 1
        return super().__getitem__(name)


def test_without_a_hook_an_op_looks_for_one_once():
    names = Reads(vars(engine))
    for name, value in vars(engine).items():
        if inspect.isfunction(value) and value.__module__ == engine.__name__:
            names[name] = FunctionType(value.__code__, names, name, value.__defaults__)
    for x in (leaf([1, 2]), Tensor([1.0, 2.0])):
        names.of.clear()
        assert names["apply"](elementwise.add, x, x).data.tolist() == [2, 4]
        assert names.of["hook"] == 1
