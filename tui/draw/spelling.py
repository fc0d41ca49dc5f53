"""All that is written, in ASCII: for terminals and fonts that have nothing else.

`spelled` writes words, which may grow longer (`wᵢⱼ` as `w[i,j]`), and so comes before anything is measured.
`in_signs` leaves every cell where it is: for lines, blocks and glyphs that are laid out already.
"""

import re
from functools import lru_cache

from rich.cells import cell_len

SIGNS: dict[str, str] = {
    **dict(zip("■□●◐○–◆◇◈▶◀▷▸▾▴◂▲▼✓✗", "#.@%o-BbW><)+-^<^v+!", strict=True)),
    **{chr(code): "+" for code in range(0x2500, 0x2580)},  # every line that turns or crosses, and below the others
    **dict.fromkeys("─╴╶▔┄┈╌", "-"),
    **dict.fromkeys("━╸╺╼╾", "="),
    **dict.fromkeys("│┃╵╷╹╻╽╿▌", "|"),
    **dict(zip("▁▂▃▄▅▆▇█░▒▓", "_.::==##:=*", strict=True)),
    **dict(zip("×÷·−…⊙√∞∂Σ±‖⟨⟩‹›←→↑↓′\u2009", "x/.-$*VIdS~|<><><>^v' ", strict=True)),
    **dict.fromkeys("▏▎▍", ":"),
    **dict.fromkeys("▋▊▉", "="),
    **dict(zip("γεθπσβηλΔ½", "gethpsnld1", strict=True)),
    "🔎": "/ ",
}
"""One sign for one cell."""
WORDS: dict[str, str] = SIGNS | {
    "✓": "ok", "✗": "FAIL", "→": "->", "←": "<-", "±": "+-", "½": "1/2 ", "Σ": "sum", "√": "sqrt", "∞": "inf",
    "γ": "gamma", "ε": "eps", "θ": "theta", "π": "pi", "σ": "sigma", "β": "beta",
    "η": "eta", "λ": "lambda", "␡": r"\x7f",
    **{chr(0x2400 + code): chr(code).encode("unicode_escape").decode() for code in range(0x20)},
}  # fmt: skip
"""What our own words and formulas are made of; all else is a stranger's, and is escaped."""
RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵀᵖˣⁿᵃᵗ", "-0123456789Tpxnat", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₘₙ", "0123456789ijkmn", strict=True))
SCRIPTS = re.compile(f"(Σ?)([{''.join(LOWERED)}]+)|([{''.join(RAISED)}]+)")

SAID = re.compile(r"(\w*ing|^\d+)…(?!\S)|(?<=\s)…")
"""An ellipsis that says that something goes on or was left out; others say that the text was cut in that cell."""


@lru_cache(4096)
def spelled(text: str, is_fault: bool = False) -> str:
    """Words in ASCII: our signs by their names, `x²` as `x^2`, other characters as escapes.

    `is_fault`: a × is no product but what marks a NaN, and is written `N`.
    """
    if is_fault:
        text = text.replace("×", "N")
    text = SAID.sub(r"\1...", text)
    return "".join(WORDS.get(sign) or _escaped(sign) for sign in SCRIPTS.sub(_script, text))


def _script(found: re.Match[str]) -> str:
    """`ᵢⱼ` as `[i,j]`, under a sum `sum_k`; `⁻³` as `^-3`, `ᵖ⁻¹` as `^(p-1)`."""
    total, low, high = found.groups()
    if low:
        letters = [LOWERED[sign] for sign in low]
        return f"sum_{''.join(letters)}" if total else f"[{','.join(letters)}]"
    text = "".join(RAISED[sign] for sign in high)
    return f"^({text})" if text[0].isalpha() and len(text) > 1 else f"^{text}"


def _escaped(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode()


def in_signs(text: str) -> str:
    """The text with as many cells, each an ASCII sign; `?` for what has none. An ellipsis takes two blanks."""
    return text if text.isascii() else "".join(_sign(sign) for sign in text.replace("…  ", "..."))


@lru_cache(4096)
def _sign(sign: str) -> str:
    return sign if sign.isascii() else SIGNS.get(sign, "?" * cell_len(sign))
