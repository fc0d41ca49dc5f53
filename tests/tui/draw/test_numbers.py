"""The table of number forms, and what holds for every number."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui.draw import formats, numbers

finite = st.floats(-1e307, 1e307)  # beyond, the rounded text is no float64 any more


def value_of(text: str) -> float:
    return float(text.replace("−", "-").replace("\u2009", ""))


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.6141, "+0.6141"),
        (-0.0107, "−0.0107"),
        (3.1, "+3.1000"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.000524, "+5.24e−4"),
        (-12345.0, "−1.23e4"),
        (math.nan, "NaN"),
        (math.inf, "+Inf"),
        (-math.inf, "−Inf"),
    ],
)
def test_cell(x, text):
    assert numbers.cell(x) == text


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.08333333, ".0833"),
        (-0.1352, "−.135"),
        (1.8391, "1.84"),
        (0.000524, ".000524"),
        (2.4e-7, "2.4e−7"),
        (1.0, "1"),
        (0.5, ".5"),
        (0.0, "0"),
        (-0.0, "0"),
        (38.72, "38.7"),
        (1234.4, "1234"),
        (12345.0, "1.2e4"),
        (0.9999, "1.000"),
        (-3e38, "−3e38"),
        (math.nan, "NaN"),
    ],
)
def test_stat(x, text):
    assert numbers.stat(x) == text


def test_a_column_of_statistics_has_as_many_digits_everywhere():
    assert numbers.stats([0.25, 0.2504, 1.0, 0.0, None, math.nan, 3.5, -2e-7]) == [
        ".250", ".250", "1", "0", "–", "NaN", "3.50", "−2e−7",
    ]  # fmt: skip
    assert [numbers.stat(x) for x in (0.25, 0.2504)] == [".25", ".250"]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (200, "3:20"), (3729, "1:02:09")]
)
def test_a_clock(seconds, said):
    assert numbers.clock(seconds) == said


@given(finite)
def test_a_stat_is_close_short_and_keeps_its_sign(x):
    text = numbers.stat(x)
    assert len(text) <= 9
    assert value_of(text) == pytest.approx(x, rel=0.06 if "e" in text else 0.006, abs=0)
    assert (text[0] == "−") == (x < 0)


@given(finite)
def test_a_cell_keeps_sign_and_value(x):
    text = numbers.cell(x)
    assert value_of(text) == pytest.approx(x, rel=0.06)
    assert x == 0 or text[0] == ("−" if x < 0 else "+")


@pytest.mark.parametrize(
    ("row", "texts", "factor"),
    [
        ([0.02, 0.05, 0.614, 0.001], [".02", ".05", ".61", "0"], ""),
        ([1.0, 0.5], ["1.0", ".50"], ""),
        ([0.996, 0.2], ["1.0", ".20"], ""),
        ([-0.027, 0.093, 0.0001], ["−27", "+93", "0"], "×10⁻³"),
        ([0.0, 0.0], ["0", "0"], ""),
        ([3.0, 41.0, 512.0], ["3", "41", "512"], ""),
        ([-3.0, 12.0], ["−3", "+12"], ""),
        ([-5320.0, 12.0], ["−53", "0"], "×10²"),
        ([0.0996, -0.01], ["+10", "−1"], "×10⁻²"),
        ([math.nan, math.inf, -math.inf, 0.5], ["NaN", "+Inf", "−Inf", ".50"], ""),
        ([math.nan], ["NaN"], ""),
        ([], [], ""),
    ],
)
def test_row_numbers(row, texts, factor):
    assert numbers.row_numbers(row) == (texts, factor)


@given(st.lists(st.floats(), max_size=8))
@example([-5e-324])
@example([1e-323, 5e-324])
def test_row_numbers_fit_their_cells_and_are_never_minus_zero(row):
    texts, _ = numbers.row_numbers(row)
    assert len(texts) == len(row)
    assert all(len(text) <= (4 if "I" in text else 3) for text in texts)
    assert "−0" not in texts and "+0" not in texts


@given(st.lists(finite, min_size=1, max_size=8))
def test_row_numbers_times_their_factor_are_the_row(row):
    texts, factor = numbers.row_numbers(row)
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    exponent = int(factor[3:].translate(digits)) if factor else 0
    for text, x in zip(texts, row, strict=True):
        shown = np.longdouble(value_of(text)) * np.longdouble(10) ** exponent
        assert abs(float(shown) - x) <= max(abs(y) for y in row) * 0.053


@pytest.mark.parametrize(
    ("sizes", "text"),
    [((4, 12, 12), "4×12×12"), ((), "()"), ((64,), "64"), ((12, 1024), "12×1024"), ((0, 3), "0×3")],
)
def test_shape(sizes, text):
    assert numbers.shape(sizes) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 10, "0%"), (1, 1000, "<1%"), (46, 100, "46%"), (999, 1000, ">99%"), (7, 7, "100%"), (0, 0, "0%")],
)
def test_percent(part, whole, text):
    assert numbers.percent(part, whole) == text


def test_the_rest():
    assert numbers.count(2160) == "2\u2009160"
    assert numbers.count(999) == "999"
    assert numbers.coordinates((8, 7)) == "[8,7]"
    assert numbers.factor(-3) == "×10⁻³"
    assert [numbers.dtype(t) for t in ("float32", "int64", "bool")] == ["f32", "i64", "bool"]


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        (np.float32(0.6141), "digits 4", "+0.6141"),
        (np.float32(-1.5), "digits 2", "−1.50"),
        (np.float64(0.25), "digits 1", "+0.2"),
        (np.float32(1e-9), "digits 6", "+1e−9"),
        (np.float32(1234567), "digits 6", "+1.2346e6"),
        (np.float64(1.23456789e-12), "digits 9", "+1.2345679e−12"),
        (np.float32(0), "digits 9", "0"),
        (np.float32(0.6141), "scientific 2", "+6.14e−1"),
        (np.float64(-12345), "scientific", "−1.2345e4"),
        (np.float32(np.nan), "scientific", "NaN"),
        (np.float32(-np.inf), "digits 3", "−Inf"),
        (np.float32(1), "hex", "0x3f800000"),
        (np.float32(np.nan), "hex", "0x7fc00000"),
        (np.float64(-2), "hex", "0xc000000000000000"),
        (np.float16(1), "hex", "0x3c00"),
        (np.int64(-7), "digits 4", "−7"),
        (np.bool_(True), "scientific", "true"),
        (np.array(2.0, ">f4")[()], "hex", "0x40000000"),
    ],
)
def test_one_value_in_the_form_asked_for(value, how, text):
    assert numbers.formatted(value, formats.parse(how)) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [("digits", ("digits", 4)), ("dig 6", ("digits", 6)), ("s 17", ("scientific", 17)), ("hex", ("hex", 4))],
)
def test_a_format_may_be_shortened(text, found):
    how = formats.parse(text)
    assert (how.kind, how.digits) == found
    assert formats.parse(str(how)) == how


@pytest.mark.parametrize(
    "text",
    ["", " ", "octal", "digits 0", "digits 18", "digits -1", "digits 4 5", "hex 8", "digits ٣", "digits 1e9"],
)
def test_what_is_no_format(text):
    with pytest.raises(ValueError, match=r"is no number .*; give digits N, scientific N \(1 to 17\), or hex$"):
        formats.parse(text)


@given(
    st.floats(allow_nan=False, allow_infinity=False, width=32).filter(lambda x: 1e-90 < abs(x) < 9999),
    st.sampled_from([formats.Format(kind, digits) for kind in ("digits", "scientific") for digits in (1, 4, 9)]),
)
def test_a_value_fits_its_columns(x, how):
    assert len(numbers.formatted(np.float32(x), how)) < how.columns(4)


def test_points_stand_below_each_other():
    texts = ["−.392", "12.5", "0", "2.4e−7", "7e−5", "NaN", "–"]
    assert numbers.pointed(texts) == ["−.392 ", "12.5   ", "0     ", "2.4e−7", "7e−5  ", "NaN", "–"]
    assert numbers.pointed(["–", "NaN"]) == ["–", "NaN"]
