"""How numbers are written: the signs, and that what is written is what there is."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from glassllm.debug.numerals import (
    coordinates,
    counted,
    exponential,
    shape_text,
    signed,
    special,
    unsigned,
    with_minus,
)


@given(st.floats(-1e307, 1e307))  # beyond, the rounded text is no float64 any more
@example(-0.0)
@example(9999.99999)
@example(1e-3)
@example(0.00099999)
@example(5e-324)
def test_a_number_is_read_back_with_its_sign_and_three_digits(x):
    text = signed(x)
    read = float(text.replace("−", "-"))
    assert read == pytest.approx(x, rel=0.5e-2) or abs(x) < 0.5e-320, "a subnormal has fewer digits itself"
    assert text == "0" if x == 0 else text[0] == ("+" if x > 0 else "−")
    assert "-" not in text


def test_fewer_places():
    assert (signed(3.1, 3), signed(0.02, 3), signed(0.004, 3)) == ("+3.100", "+0.020", "+4e−3")


@pytest.mark.parametrize(("x", "text"), [(math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "−Inf")])
def test_what_is_no_number_has_a_name(x, text):
    assert signed(x) == unsigned(x) == special(x) == text


def test_a_loss_has_no_plus():
    assert [unsigned(x) for x in (2.31841, -0.16081, 0.0, 3e-5)] == ["2.3184", "−0.1608", "0", "3e−5"]


def test_exponents_have_no_padding():
    assert (exponential(2.4e-7, 1), exponential(-3e38, 1), exponential(1e5, 2, "+")) == ("2.4e−7", "−3e38", "+1e5")
    assert with_minus("-1e-5") == "−1e−5"


def test_shapes_and_coordinates():
    assert [shape_text(sizes) for sizes in ((4, 12, 12), (5,), ())] == ["4×12×12", "5", "()"]
    assert (coordinates((8, 7)), coordinates(())) == ("[8,7]", "[]")


def test_one_is_no_plural():
    assert [counted(n, "node") for n in (0, 1, 2)] == ["0 nodes", "1 node", "2 nodes"]
