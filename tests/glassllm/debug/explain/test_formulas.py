"""Every op has a formula, and what the formula says of a cell is what the engine computed."""

import re

import numpy as np
import pytest

from glassllm.autograd import graph
from glassllm.autograd.ops import OPS, fused
from glassllm.autograd.tensor import Tensor, apply
from glassllm.debug.explain.case import Case
from glassllm.debug.explain.formulas import BY_HAND, FORMULAS, formula
from glassllm.debug.numerals import Element, Pen
from tests.glassllm.autograd.samples import SAMPLES, cases, label, of

FUSED = {name for name, made in OPS.items() if vars(fused).get(name) is made}  # say what arrives at the cell
INFERRED = ("softmax", "log_softmax", "rope")  # say what the input gets at the cell, from all of g
COORDINATES = re.compile(r"\[([\d,]*)\]")


def number(text):
    """The number that a text ends with."""
    word = text.rpartition(" ")[2].replace("−", "-").replace("Inf", "inf")
    return float(word)


def unit(text):
    """One unit in the last digit of the number that a text ends with; for an exact 0 the noise of float64."""
    if text.endswith(" 0"):
        return 1e-12
    mantissa, _, exponent = text.rpartition(" ")[2].partition("e")
    return 10.0 ** (int(exponent.replace("−", "-") or 0) - len(mantissa.partition(".")[2]))


def is_said(text, expected):
    """Whether the text ends with the expected number, to one unit in the last digit written."""
    found = number(text)
    return np.isclose(found, expected, rtol=0, atol=unit(text) if np.isfinite(found) else 0, equal_nan=True)


def some_cells(shape):
    """The first, the last and a middle cell; none of an empty array."""
    cells = list(np.ndindex(shape))
    return {cells[0], cells[len(cells) // 2], cells[-1]} if cells else set()


def sent(op, sample, g):
    """What the engine sends to each input when the gradient `g` has arrived."""
    made = apply(op, *(Tensor(x, requires_grad=True) for x in sample.arrays), **sample.attrs)
    return graph.contributions(made.node, g)


def alone(g, cell):
    """The gradient of one cell, 0 elsewhere."""
    only = np.zeros_like(g)
    only[cell] = g[cell]
    return only


def expected_gradient(part, op, sample, g, cell):
    """The number that one part of a gradients text must end with."""
    slot = {"a": 0, "b": 1}.get(part.partition(" gets")[0][-1], 0)
    if op.name in FUSED:
        return g[cell]
    if op.name in INFERRED:
        return sent(op, sample, g)[0][cell]
    if op.name == "repeat_kv":
        batch, head, *rest = cell
        return sent(op, sample, g)[0][(batch, head // sample.attrs["repeats"], *rest)]
    mine = sent(op, sample, alone(g, cell))
    if op.name == "concat":
        return mine[int(re.search(r"input (\d+)", part)[1]) - 1].sum()
    if place := COORDINATES.search(part):
        slot = 1 if part.startswith("∂L/∂b") else 0
        return mine[slot][tuple(map(int, place[1].split(",")))]
    if each := re.search(r"to each of (\d+)", part):
        reached = mine[0][mine[0] != 0]
        assert len(reached) == int(each[1])
        return reached[0]
    return mine[slot].sum()


def test_every_op_has_an_entry_and_no_entry_is_without_op():
    assert FORMULAS.keys() == OPS.keys()


def test_every_entry_says_something_in_both_directions():
    for entry in (*FORMULAS.values(), BY_HAND):
        assert entry.words and entry.forward and entry.backward


def test_an_op_that_people_made_has_a_general_entry():
    assert formula("cube") is BY_HAND
    case = Case(np.array([8.0]), (np.array([2.0]),), {}, (0,), np.array([0.5]))
    assert BY_HAND.numbers(case) == "= +8.0000"
    assert BY_HAND.gradients(case) == "g = +0.5000"


CASES = list(cases())


@pytest.mark.parametrize(("op", "sample"), CASES, ids=[label(case) for case in CASES])
def test_the_numbers_are_those_of_the_engine(op, sample):
    y = op(*sample.arrays, **sample.attrs)
    g = np.random.default_rng(3).normal(size=y.shape)
    for cell in some_cells(y.shape):
        case = Case(y, sample.arrays, sample.attrs, cell, g)
        numbers, gradients = FORMULAS[op.name].numbers(case), FORMULAS[op.name].gradients(case)
        assert is_said(numbers, y[cell]), numbers
        if "nothing" in gradients:
            assert not any(contribution.size for contribution in sent(op, sample, g))
            continue
        for part in gradients.split("   "):
            assert is_said(part, expected_gradient(part, op, sample, g, cell)), (part, cell)


def test_a_wrong_number_would_be_noticed():
    assert is_said("= +1.0000 + 1.0000 = +2.0001", 2.00014)
    assert not is_said("= +1.0000 + 1.0000 = +2.0001", 2.0003)
    assert not is_said("= 0", 1e-9) and not is_said("= NaN", 1.0) and not is_said("= −2.4e−7", 2.4e-7)


STRANGE = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, -5e-324, 1e-7, 60.0, -60.0, -3.0]
UNARY = ("neg", "exp", "log", "sqrt", "abs", "relu", "tanh", "gelu", "sigmoid", "silu")
ALONE = [(name, {}) for name in UNARY]
ALONE += [("power", {"exponent": p}) for p in (0, 0.5, 2, -1)]
ALONE += [("clip", {"low": -2.0, "high": None}), ("clip", {"low": -1, "high": 1.0}), ("softmax", {}), ("tsum", {}),
          ("log_softmax", {}), ("max", {}), ("mean", {}), ("reshape", {"shape": -1})]  # fmt: skip


@pytest.mark.parametrize(("name", "attrs"), ALONE)
@pytest.mark.parametrize("x", STRANGE)
def test_strange_numbers_are_said_as_the_engine_has_them(name, attrs, x):
    op, sample = OPS[name], of(np.array([x]), **attrs)
    with np.errstate(all="ignore"):
        y = op(*sample.arrays, **attrs)
        back = sent(op, sample, np.ones(y.shape))[0]
    case = Case(y, sample.arrays, attrs, (0,) * y.ndim, np.ones(y.shape))
    assert is_said(FORMULAS[name].numbers(case), y.ravel()[0])
    assert is_said(FORMULAS[name].gradients(case), back[0])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize(("a", "b"), [(a, b) for a in STRANGE[:7] for b in STRANGE[:7]])
def test_strange_pairs_too(name, a, b):
    op, sample = OPS[name], of(np.array(a), np.array(b))
    with np.errstate(all="ignore"):
        y = op(*sample.arrays)
        back = sent(op, sample, np.array(1.0))
    case = Case(y, sample.arrays, {}, (), np.array(1.0))
    assert is_said(FORMULAS[name].numbers(case), y)
    parts = FORMULAS[name].gradients(case).split("   ")
    for part, expected in zip(parts, back, strict=False):
        assert is_said(part, expected)


def written(name, *inputs, cell=(), g=None, **attrs):
    """Both texts of one cell; `g` is a number for the cell or a whole gradient."""
    arrays = tuple(np.asarray(x, np.float64) for x in inputs)
    with np.errstate(all="ignore"):
        y = OPS[name](*arrays, **attrs)
    case = Case(y, arrays, attrs, cell, np.broadcast_to(np.float64(1 if g is None else g), y.shape))
    return FORMULAS[name].numbers(case), FORMULAS[name].gradients(case)


MASKED = [[1.0, 2.0, -np.inf]]
TEXTS = [
    (written("add", 0.5, -0.1), "= +0.5000 − 0.1000 = +0.4000", "unchanged, to a and to b = +1.0000"),
    (written("sub", 0.5, -0.1), "= +0.5000 − (−0.1000) = +0.6000", "a gets g = +1.0000   b gets −g = −1.0000"),
    (written("mul", -2, 3, g=-0.5), "= −2.0000 × +3.0000 = −6.0000",
     "a gets −0.5000 × +3.0000 = −1.5000   b gets −0.5000 × −2.0000 = +1.0000"),
    (written("div", 1, 0), "= +1.0000 / 0 = +Inf", "a gets +1.0000 / 0 = +Inf   b gets −Inf × y = −Inf"),
    (written("neg", -0.5, g=0.25), "= −(−0.5000) = +0.5000", "= +0.2500 × −1.0000 = −0.2500"),
    (written("power", 3, exponent=2), "= +3.0000 to the power 2 = +9.0000", "= +1.0000 × +6.0000 = +6.0000"),
    (written("power", [4, 4], exponent=np.array([0, -0.5]), cell=(1,)),
     "= +4.0000 to the power −0.5 = +0.5000", "= +1.0000 × −0.0625 = −0.0625"),
    (written("abs", -2), "= |−2.0000| = +2.0000", "= +1.0000 × −1.0000 = −1.0000"),
    (written("clip", 2, low=None, high=1), "= +2.0000 held between none and +1.0000 = +1.0000",
     "= +1.0000 × 0 = 0"),
    (written("where", [1, 2], 5, condition=np.array([True, False]), cell=(1,)),
     "= b, as the condition is False = +5.0000", "a gets 0   b gets g = +1.0000"),
    (written("concat", [1, 2], [], [3], axis=0, cell=(2,)),
     "moved, not computed = +3.0000", "unchanged, to input 3 = +1.0000"),
    (written("repeat_kv", np.ones((1, 1, 1, 1)), repeats=2, cell=(0, 1, 0, 0), g=[[[[2.0]], [[-0.5]]]]),
     "moved, not computed = +1.0000", "= +2.0000 − 0.5000 = +1.5000"),
    (written("repeat_kv", np.ones((1, 1, 1, 1)), repeats=5, cell=(0, 0, 0, 0)),
     "moved, not computed = +1.0000", "= Σ over the 5 copies = +5.0000"),
    (written("embedding", [[1, 2], [3, 4]], ids=np.array([0, -1]), cell=(1, 0)),
     "= E[1,0] = +3.0000", "∂L/∂E[1,0] += +1.0000"),
    (written("tsum", [1, 2, 3]), "= sum of 3 values = +6.0000", "unchanged, to each of 3 = +1.0000"),
    (written("mean", [1, 2, 6], g=3), "= mean of 3 values = +3.0000", "to each of 3 = +3.0000 / 3 = +1.0000"),
    (written("max", [2, 2, 1]), "= largest of 3 values = +2.0000",
     "to each of 2 largest = +1.0000 / 2 = +0.5000"),
    (written("max", [2, np.nan, 1]), "= largest of 3 values = NaN", "to each of 1 NaN = +1.0000 / 1 = +1.0000"),
    (written("matmul", [[1, -3]], [[2], [0.5]], cell=(0, 0)),
     "= +1.0000 × +2.0000 at k 0 − 1.5000 from the 1 other = +0.5000",
     "∂L/∂a[0,0] += +1.0000 × +2.0000 = +2.0000   ∂L/∂b[0,0] += +1.0000 × +1.0000 = +1.0000"),
    (written("matmul", [1, np.nan, np.inf], [1, 1, 1]),
     "= NaN × +1.0000 at k 1 + Inf from the 2 others = NaN",
     "∂L/∂a[1] += +1.0000 × +1.0000 = +1.0000   ∂L/∂b[1] += +1.0000 × NaN = NaN"),
    (written("matmul", np.ones((0,)), np.ones((0,))),
     "= a sum of no terms = 0", "a sum of no terms sends nothing"),
    (written("rope", [[1, 2]], cos=np.array([[0.6]]), sin=np.array([[0.8]]), cell=(0, 0)),
     "= +1.0000 × +0.6000 + 2.0000 × −0.8000 = −1.0000",
     "= +1.0000 × +0.6000 + 1.0000 × +0.8000 = +1.4000"),
    (written("softmax", MASKED, cell=(0, 1), g=[[0.0, 1.0, 7.0]]),
     "= exp(+2.000) / 10.107 = +0.7311", "= +0.7311 × (+1.0000 − 0.7311) = +0.1966"),
    (written("softmax", MASKED, cell=(0, 2)), "= exp(−Inf) / 10.107 = 0", "= 0 × (+1.0000 − 1.0000) = 0"),
    (written("softmax", [-1000, -1001], cell=(1,)),
     "= exp(−1001.000 − (−1000.000)) / 1.368 = +0.2689", "= +0.2689 × (+1.0000 − 1.0000) = 0"),
    (written("softmax", [-np.inf, -np.inf], cell=(1,)),
     "= a row whose largest is −Inf = NaN", "= NaN × (+1.0000 − NaN) = NaN"),
    (written("log_softmax", [0, 0], cell=(0,)),
     "= 0 − 0.6931 = −0.6931", "= +1.0000 − 0.5000 × +2.0000 = 0"),
    (written("cross_entropy", [[0, 0]], targets=[1]), "= mean of −log p over 1 row = ln 2.00 = +0.6931",
     "at the target [0,1] = (+0.5000 − 1) × +1.0000 / 1 = −0.5000"),
    (written("cross_entropy", np.zeros((0, 3)), targets=np.zeros(0, int)),
     "= mean of −log p over 0 rows = NaN", "no rows: sends nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "numbers", "gradients"), TEXTS, ids=[text[1] for text in TEXTS])
def test_how_it_reads(texts, numbers, gradients):
    assert texts == (numbers, gradients)


def test_the_table_of_samples_covers_every_op():
    assert SAMPLES.keys() == OPS.keys()


class Counting(Pen):
    """Writes `#` for what an array holds and `~` for what was reckoned."""

    def signed(self, x, places=4):
        return "#" if isinstance(x, Element) and x.stored.dtype == np.float32 else "~"

    fixed = signed


@pytest.mark.parametrize(("op", "sample"), CASES, ids=[label(case) for case in CASES])
def test_every_number_is_written_by_the_pen(op, sample):
    y = op(*sample.arrays, **sample.attrs)
    g = np.random.default_rng(3).normal(size=y.shape)
    for cell in some_cells(y.shape):
        case = Case(y, sample.arrays, sample.attrs, cell, g, Counting())
        for text in (FORMULAS[op.name].numbers(case), FORMULAS[op.name].gradients(case)):
            plain = COORDINATES.sub("", text)
            assert not re.search(r"\d\.\d|e−\d", plain.partition("to the power")[0]), text


def test_the_pen_is_handed_stored_values_and_knows_what_was_reckoned():
    a, b = (np.arange(6, dtype=np.float32).reshape(shape) for shape in ((2, 3), (3, 2)))
    case = Case(a @ b, (a, b), {}, (1, 1), np.ones((2, 2), np.float32), Counting())
    assert FORMULAS["matmul"].numbers(case) == "= # × # at k 2 + ~ from the 2 others = #"
    assert FORMULAS["matmul"].gradients(case) == "∂L/∂a[1,2] += # × # = ~   ∂L/∂b[2,1] += # × # = ~"
