"""Names of Tensors from variables."""

import numpy as np

from glassllm import Tensor
from glassllm.debug.naming import Names, names_in
from glassllm.debug.origins import user_frames
from glassllm.nn import Module


def leaf():
    return Tensor(np.ones(2), requires_grad=True)


class Linear(Module):
    def __init__(self):
        self.W, self.b = leaf(), leaf()


class Net(Module):
    def __init__(self):
        self.parts = [Linear(), Linear()]


class Plain:
    def __init__(self):
        self.w, self.n = leaf(), 3


class Slotted:
    __slots__ = ("w",)

    def __init__(self):
        self.w = leaf()


def found(**variables):
    names = Names()
    names.add(variables, "f")
    return list(names)


def test_variables_and_one_level_inside_them_have_names():
    assert found(w=leaf(), n=3, s="x") == ["w"]
    assert found(ws=[leaf(), 2, leaf()], pair=(leaf(),)) == ["ws.0", "ws.2", "pair.0"]
    assert found(p={"W1": leaf(), 3: leaf(), "n": 1}) == ["p.W1"]
    assert found(o=Plain()) == ["o.w"] and found(self=Plain()) == ["w"]
    assert found(deep=[[leaf()]]) == []


def test_modules_name_their_own_parameters():
    assert found(net=Net()) == ["parts.0.W", "parts.0.b", "parts.1.W", "parts.1.b"]
    assert found(a=Linear(), b=Linear()) == ["W", "b", "b.W", "b.b"]
    assert found(layers=[Linear()], self=Plain()) == ["layers.0.W", "layers.0.b", "w"]


def test_what_has_no_attributes_of_its_own_is_passed_over():
    assert found(o=Slotted(), module=np, kind=Plain, function=leaf, _hidden=leaf(), __dunder__=leaf()) == []


def test_the_first_name_of_a_tensor_stands_and_two_tensors_never_share_one():
    w = leaf()
    assert found(w=w, p=w, ws=[w]) == ["w"]
    names, other = Names(), leaf()
    names.add({"w": w}, "<module>")
    names.add({"w": other}, "train")
    assert names == {"w": w, "train.w": other}


def test_globals_come_before_what_functions_hold_and_outer_ones_before_inner():
    x, y = leaf(), leaf()

    def outer(a, b):
        return inner(b, a)

    def inner(c, d):
        return names_in(user_frames()[:2], {"z": y})

    assert outer(x, y) == {"z": y, "a": x}
