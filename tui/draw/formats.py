"""How single numbers are written where a person asked for another form than the usual one."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["digits", "scientific", "hex"]
KINDS = get_args(Kind)
MOST_DIGITS = 17  # enough for any float64
USAGE = "digits N, scientific N (1 to 17), or hex"


@dataclass(frozen=True, slots=True)
class Format:
    """`digits` decimals after the point, `digits` in scientific notation, or the bits of the value in hex."""

    kind: Kind = "digits"
    digits: int = 4

    def __str__(self) -> str:
        return self.kind if self.kind == "hex" else f"{self.kind} {self.digits}"

    @property
    def is_usual(self) -> bool:
        return self == USUAL

    def columns(self, size: int) -> int:
        """Room for a value of `size` bytes and a space: for four digits before the point, or an exponent."""
        exponent = 2 + (size > 4)  # digits
        scientific = self.digits + exponent + 6
        widths = {"digits": max(self.digits + 7, exponent + 8), "scientific": scientific, "hex": 2 * size + 3}
        return widths[self.kind]


USUAL = Format()


def parse(text: str) -> Format:
    """`digits 6`, `scientific`, `hex`; ValueError with one line on what is possible."""
    kind, *rest = text.split() or [""]
    name = next((each for each in KINDS if kind and each.startswith(kind)), None)
    if name is None or len(rest) > (name != "hex"):
        raise ValueError(f"{text.strip()[:40]!r} is no number format; give {USAGE}")
    digits = rest[0] if rest else "4"
    if not (re.fullmatch("[0-9]{1,2}", digits) and 1 <= int(digits) <= MOST_DIGITS):
        raise ValueError(f"{digits[:40]!r} is no number of digits; give {USAGE}")
    return Format(name, int(digits))
