"""How numbers are written, in the debugger's words and on its screen alike: none without its true sign.

Minus is U+2212, as wide as a plus. Exponents stand behind `e`.
"""

import math
from collections.abc import Sequence

import numpy as np

MINUS = "−"
TIMES = "×"
PLACES = 4


def signed(x: float, places: int = PLACES) -> str:
    """`+0.6141`; `+5.24e−4` where fixed places would hide it; exact zero is `0`."""
    if not math.isfinite(x):
        return special(x)
    if x == 0:
        return "0"
    if abs(x) >= 1e4 or abs(x) < 10.0 ** -max(places - 1, 1):
        return exponential(x, max(places - 2, 2), sign="+")
    return with_minus(f"{x:+.{places}f}")


def unsigned(x: float, places: int = PLACES) -> str:
    """The same without a plus: `2.3184`, a loss; `NaN` and `+Inf` stay."""
    return signed(x, places).removeprefix("+") if math.isfinite(x) else special(x)


def special(x: float) -> str:
    """`NaN`, `+Inf` or `−Inf`."""
    if math.isnan(x):
        return "NaN"
    return "+Inf" if x > 0 else f"{MINUS}Inf"


def exponential(x: float, places: int, sign: str = "-") -> str:
    """`2.4e−7`: the exponent without padding, trailing zeros of the mantissa kept off."""
    mantissa, exponent = f"{x:{sign}.{places}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return with_minus(f"{mantissa}e{int(exponent)}")


def with_minus(text: str) -> str:
    """A number's text with the true minus for every hyphen."""
    return text.replace("-", MINUS)


def shape_text(sizes: Sequence[int]) -> str:
    """`4×12×12`, `5` for a vector, `()` for a scalar."""
    return TIMES.join(map(str, sizes)) or "()"


def coordinates(cell: Sequence[int]) -> str:
    """`[8,7]`"""
    return f"[{','.join(map(str, cell))}]"


def counted(n: int, noun: str) -> str:
    """`1 node`, `2 nodes`"""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


# Explanations


class Element(np.float64):
    """An element of an array as a number to reckon with; what is reckoned from it is a plain float64."""

    stored: np.generic
    """The same in the array's own dtype, of which a pen may write the bits."""


def element(stored: np.generic) -> Element:
    found = Element(stored)
    found.stored = stored
    return found


class Pen:
    """Writes the numbers of an explanation in the usual form; pens of other forms override both methods."""

    def signed(self, x: float, places: int = PLACES) -> str:
        return signed(x, places)

    def fixed(self, x: float, places: int) -> str:
        """A positive number, without its plus and never with an exponent."""
        return f"{x:.{places}f}"


USUAL_PEN = Pen()
