"""The public functions as a set: what they take, what they refuse, and functions users add."""

import inspect

import numpy as np
import pytest

import glassllm.autograd as autograd
from glassllm.autograd import Tensor, functions, no_grad, op
from glassllm.autograd.ops import OPS, fused

CONTRACTED = """
    add sub mul div neg power matmul exp log sqrt tanh relu gelu abs clip tsum mean max reshape transpose concat
    where masked_fill embedding softmax log_softmax softmax_np sigmoid silu cross_entropy cross_entropy_grad rope
    repeat_kv op Tensor no_grad
"""
UNARY = [
    "neg",
    "exp",
    "log",
    "sqrt",
    "tanh",
    "relu",
    "gelu",
    "abs",
    "clip",
    "sigmoid",
    "silu",
    "tsum",
    "mean",
    "max",
]
T = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)


def test_every_name_is_there():
    assert sorted(autograd.__all__) == sorted(CONTRACTED.split())
    for name in autograd.__all__:
        assert getattr(autograd, name).__module__.startswith("glassllm.autograd")


def test_each_op_is_named_after_its_function():
    ours = {name for name, made in OPS.items() if vars(fused).get(name) is made}
    assert ours and set(OPS) - {"getitem"} - ours <= set(autograd.__all__)
    assert all(callable(getattr(functions, name)) for name in ours)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("power", "(a, exponent)"),
        ("tsum", "(a, axis=None, keepdims=False)"),
        ("mean", "(a, axis=None, keepdims=False)"),
        ("max", "(a, axis=None, keepdims=False)"),
        ("reshape", "(a, shape)"),
        ("transpose", "(a, axes=None)"),
        ("concat", "(tensors, axis=0)"),
        ("where", "(condition, a, b)"),
        ("masked_fill", "(a, mask, value)"),
        ("embedding", "(weight, ids)"),
        ("softmax", "(a, axis=-1)"),
        ("log_softmax", "(a, axis=-1)"),
        ("softmax_np", "(x, axis=-1)"),
        ("cross_entropy", "(logits, targets)"),
        ("cross_entropy_grad", "(logits, targets)"),
        ("rope", "(x, cos, sin)"),
        ("repeat_kv", "(x, repeats)"),
    ],
)
def test_signatures(name, parameters):
    signature = inspect.signature(getattr(autograd, name))
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(inspect.Signature(bare)) == parameters


@pytest.mark.parametrize("kind", [np.asarray, Tensor, lambda x: x], ids=["array", "tensor", "number"])
@pytest.mark.parametrize("name", UNARY)
def test_tensors_arrays_and_numbers_make_a_tensor(name, kind):
    y = getattr(autograd, name)(kind(0.5))
    assert type(y) is Tensor
    assert y.requires_grad is False
    assert y.shape == ()


def test_two_functions_give_plain_arrays():
    assert type(autograd.softmax_np(T)) is np.ndarray
    assert type(autograd.cross_entropy_grad(T, [0, 1])) is np.ndarray
    assert type(autograd.softmax_np([1, 2])) is np.ndarray


IDS = Tensor([0, 1])
HIDDEN = {
    "power": lambda: autograd.power(T, T),
    "clip low": lambda: autograd.clip(T, T),
    "clip high": lambda: autograd.clip(T, 0, T),
    "where": lambda: autograd.where(T, 1, 2),
    "where, in a list": lambda: autograd.where([T, True], 1, 2),
    "masked_fill": lambda: autograd.masked_fill(T, T, 0),
    "embedding": lambda: autograd.embedding(T, IDS),
    "embedding, in a list": lambda: autograd.embedding(T, [0, [IDS]]),
    "cross_entropy": lambda: autograd.cross_entropy(T, IDS),
    "cross_entropy, in a tuple": lambda: autograd.cross_entropy(T, (0, IDS)),
    "cross_entropy_grad": lambda: autograd.cross_entropy_grad(T, IDS),
    "rope cos": lambda: autograd.rope(T, T, 1),
    "rope sin": lambda: autograd.rope(T, np.ones((2, 1)), [T]),
    "repeat_kv": lambda: autograd.repeat_kv(T, IDS),
    "user's attribute": lambda: cube(T, scale=T),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_tensor_among_plain_data_names_data(name):
    with pytest.raises(TypeError, match=r"\.data"):
        HIDDEN[name]()


def test_masked_fill_is_where():
    mask = [[True, False], [False, True]]
    y = autograd.masked_fill(T, mask, -1)
    assert y.data.tolist() == [[-1, 2], [3, -1]]
    assert y.node.op is OPS["where"]


def test_a_tensor_may_be_the_value_filled_in():
    value = Tensor(5.0, requires_grad=True)
    autograd.masked_fill(np.zeros((2, 2)), [True, False], value).backward()
    assert value.grad == 2


# Users' own -----------------------------------------------------------------------------------------------------


@op
def cube(x, scale=1.0):
    """The cube, scaled."""
    return scale * x**3, x * x


@cube.rule
def _(g, y, square, x, scale=1.0):
    return 3 * scale * g * square


@op
def swapped_difference(a, b):
    return b - a


@swapped_difference.rule
def _(g, y, a, b):
    return -g, g


def test_a_users_op_is_a_function_like_ours():
    x = Tensor(np.array([1, 2], np.float32), requires_grad=True)
    y = cube(x, scale=2)
    y.backward()
    assert y.data.tolist() == [2, 16]
    assert y.dtype == x.grad.dtype == np.float32
    assert x.grad.tolist() == [6, 24]
    assert y.node.op is cube.op
    assert y.node.attrs == {"scale": 2}
    assert type(cube(2.0)) is Tensor
    assert cube([1, 2]).data.tolist() == [1, 8]
    with no_grad():
        assert cube(x).node is None


def test_a_users_attribute_is_named_when_a_tensor_hides_in_it():
    with pytest.raises(TypeError, match="scale must be plain data"):
        cube(T, scale=[T])


def test_a_users_op_carries_its_functions_name():
    assert cube.name == cube.op.name == cube.__name__ == "cube"
    assert cube.__doc__ == "The cube, scaled."
    assert "cube" not in OPS


def test_a_users_op_with_two_inputs_broadcasts():
    a, b = Tensor(np.ones((2, 3)), requires_grad=True), Tensor(np.ones(3), requires_grad=True)
    swapped_difference(a, b).backward()
    assert a.grad.tolist() == [[-1] * 3] * 2
    assert b.grad.tolist() == [2] * 3


def test_a_users_op_without_a_rule_computes_forward_only():
    @op
    def floor(x):
        return np.floor(x)

    y = floor(T * 0.5)
    assert y.data.tolist() == [[0, 1], [1, 2]]
    with pytest.raises(ValueError, match=r"floor has no backward rule.*@floor\.rule"):
        y.backward()


def test_a_users_op_may_send_nothing():
    @op
    def gate(x, control):
        return x * (control > 0)

    @gate.rule
    def _(g, y, x, control):
        return np.where(control > 0, g, 0), None

    control = Tensor([1.0, -1.0], requires_grad=True)
    x = Tensor([2.0, 3.0], requires_grad=True)
    gate(x, control).backward()
    assert x.grad.tolist() == [1, 0]
    assert control.grad is None


def test_a_rule_that_asks_is_told_which_inputs_take_a_gradient():
    told = []

    @op
    def weighed(a, b, c):
        return a * b * c

    @weighed.rule
    def _(g, y, a, b, c, *, wanted=(True, True, True)):
        told.append(wanted)
        return tuple(g * y / x if w else None for x, w in zip((a, b, c), wanted, strict=True))

    weighed(T, 2.0, T).sum().backward()
    weighed(T, T, T).sum().backward()
    weighed(2.0, 3.0, T).sum().backward()
    assert told == [(True, False, True), (True, True, True), (False, False, True)]


def test_an_attribute_may_be_called_wanted():
    @op
    def scaled(a, b, *, wanted):
        return a * b * wanted

    @scaled.rule
    def _(g, y, a, b, *, wanted):
        return g * b * wanted, None

    x = Tensor(np.ones(2), requires_grad=True)
    scaled(x, 2.0, wanted=5.0).backward()
    assert x.grad.tolist() == [10, 10]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ["mul", "div", "where", "matmul"])
def test_no_gradient_is_computed_for_a_constant(name, side):
    """What is not wanted is not there, and what is wanted is what it would be."""
    attrs = {"condition": np.eye(2, dtype=bool)} if name == "where" else {}
    arrays = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, -6.0], [7.0, 8.0]])
    made, g = OPS[name], np.array([[1.0, 10.0], [100.0, 1000.0]])
    y = made(*arrays, **attrs)
    wanted = side == 0, side == 1
    whole = made.backward(g, y, *arrays, **attrs)
    sent = made.backward(g, y, *arrays, **attrs, wanted=wanted)
    np.testing.assert_array_equal(sent[side], whole[side])
    assert (name == "div" and side) or sent[1 - side] is None


def test_the_gradient_of_a_turned_matrix_lies_as_it_does():
    x, weight = Tensor(np.ones((5, 3))), Tensor(np.ones((4, 3)), requires_grad=True)
    for matrix in (weight, Tensor(np.ones((3, 4)), requires_grad=True)):
        turned = matrix.transpose() if matrix is weight else matrix
        (x @ turned).backward()
        assert matrix.grad.flags.c_contiguous
