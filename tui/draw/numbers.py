"""How numbers are written: one form per purpose, and no number without its true sign.

Minus is U+2212, as wide as a plus. Exponents stand behind `e`, or as one factor shared by a whole row.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassllm.debug import numerals
from glassllm.debug.numerals import MINUS, PLACES, TIMES, USUAL_PEN, Element, Pen, exponential
from tui.draw.formats import Format

Array = NDArray[Any]
THIN = "\u2009"
NOTHING = "–"
SUPERSCRIPT = str.maketrans("−-0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

cell, unsigned, special, with_minus = (numerals.signed, numerals.unsigned, numerals.special, numerals.with_minus)
shape, coordinates = numerals.shape_text, numerals.coordinates
"""What the debugger's own words need too."""


def formatted(value: Any, how: Format) -> str:
    """One value of an array in the form asked for: integers whole, truth values as words, bits big end first."""
    if how.kind == "hex":
        bits = np.asarray(value)
        return f"0x{bits.astype(bits.dtype.newbyteorder('>')).tobytes().hex()}"
    if isinstance(value, np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, np.integer):
        return with_minus(str(int(value)))
    x = float(value)
    if how.kind == "digits" or not math.isfinite(x):
        return cell(x, how.digits)
    return with_minus("e".join(_mantissa_exponent(x, how.digits)))


def _mantissa_exponent(x: float, digits: int) -> tuple[str, str]:
    """`+6.1410`, `-1`."""
    mantissa, exponent = f"{x:+.{digits}e}".split("e")
    return mantissa, str(int(exponent))


@dataclass(frozen=True, slots=True)
class FormatPen(Pen):
    """Writes every number of an explanation in the form asked for; what was reckoned has the bits of a float64."""

    how: Format

    def signed(self, x: float, places: int = PLACES) -> str:
        return formatted(x.stored if isinstance(x, Element) else np.float64(x), self.how)

    def fixed(self, x: float, places: int) -> str:
        return self.signed(x).removeprefix("+")


def pen_of(how: Format) -> Pen:
    return USUAL_PEN if how.is_usual else FormatPen(how)


def stat(x: float, digits: int = 3, in_column: bool = False) -> str:
    """A statistic: three significant digits, no leading zero, `.0833`; fewer where they are the exact value.

    In a column only whole numbers have fewer, so that `.250` stands below `.251`.
    """
    if not math.isfinite(x):
        return special(x)
    if x == 0:
        return "0"
    size = abs(x)
    if size < 1e-4 or size >= 9999.5:
        return exponential(x, 1)
    places = max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{x:.{places}f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    is_short = float(short) == x and not (in_column and "." in short)
    return with_minus(headless(short if is_short else text))


def stats(values: Iterable[float | None], digits: int = 3) -> list[str]:
    """A column of statistics, `–` for None."""
    return [NOTHING if x is None else stat(x, digits, in_column=True) for x in values]


def pointed(texts: Sequence[str]) -> list[str]:
    """Numbers padded on the right so that their points stand below each other; what has no digit is not padded."""
    tails = [len(text) - len(re.split(r"[.e]", text)[0]) if re.search(r"\d", text) else None for text in texts]
    most = max((tail for tail in tails if tail is not None), default=0)
    return [text if tail is None else text + " " * (most - tail) for text, tail in zip(texts, tails, strict=True)]


def headless(text: str) -> str:
    """`0.5` as `.5`, `-0.5` as `-.5`."""
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def row_numbers(values: Sequence[float] | Array, digits: int = 2) -> tuple[list[str], str]:
    """A row of values with `digits` digits and the factor they share (`×10⁻³`, or nothing).

    Non-negative rows with a largest value of .1 to 10 are written with decimals (`.02`, `1.0`); all others are
    integers times one power of ten, with signs where a negative is among them, else with a digit more.
    """
    values = np.asarray(values, dtype=np.float64)
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0.0))
    has_sign = bool((finite < 0).any())
    if largest == 0:
        return [_entry(x, lambda _: "0") for x in values], ""
    if not has_sign and 0.095 <= largest < 9.95:
        return [_entry(x, lambda x: _decimals(x, digits)) for x in values], ""
    digits += not has_sign
    exponent = math.floor(math.log10(largest)) - digits + 1
    if round(_over_power(largest, exponent)) >= 10**digits:
        exponent += 1
    if exponent <= 0 and bool((finite == np.round(finite)).all()):
        exponent = 0
    form = "+.0f" if has_sign else ".0f"

    def integer(x: float) -> str:
        text = with_minus(f"{_over_power(x, exponent):{form}}")
        return "0" if text.lstrip(f"+{MINUS}") == "0" else text

    return [_entry(x, integer) for x in values], factor(exponent)


def _over_power(x: float, exponent: int) -> float:
    """x / 10**exponent in two steps, since one power underflows where the data are subnormal."""
    half = exponent // 2
    return x / 10.0**half / 10.0 ** (exponent - half)


def _entry(x: float, form: Callable[[float], str]) -> str:
    return form(float(x)) if math.isfinite(x) else special(x)


def _decimals(x: float, digits: int) -> str:
    text = headless(f"{x:.{digits}f}")
    if float(text) == 0:
        return "0"
    return text if text.startswith(".") else f"{x:.{digits - 1}f}"


def factor(exponent: int) -> str:
    return f"{TIMES}10{str(exponent).translate(SUPERSCRIPT)}" if exponent else ""


def count(n: int) -> str:
    """Thousands apart: `2 160`."""
    return f"{n:,}".replace(",", THIN)


def percent(part: int, whole: int) -> str:
    """A count of a whole as percent; `>99%` keeps most from looking like all."""
    return ">99%" if 0.99 * whole < part < whole else share(part / whole if whole else 0.0)


def share(part: float) -> str:
    """A share as whole percent; `<1%` keeps a little from looking like nothing."""
    if not math.isfinite(part):
        return special(part)
    if 0 < abs(part) < 0.01:
        return "<1%"
    return with_minus(f"{100 * part:.0f}%")


def clock(seconds: float) -> str:
    """`0:07`, `3:20`, `1:02:09`"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def dtype(name: Any) -> str:
    """`f32` for float32."""
    kind = np.dtype(name)
    return f"{kind.kind}{8 * kind.itemsize}" if kind.kind in "fiuc" else kind.name
