"""How the Generate screen's panes say things: amounts of information, and no more than there is room for."""

import math
from collections.abc import Sequence

from tui.draw import numbers
from tui.draw.text import Span


def nats(x: float, places: int = 2) -> str:
    """An amount of information, `2.61`, `.37`."""
    return numbers.headless(f"{x + 0.0:.{places}f}") if math.isfinite(x) else numbers.special(x)


def fact(label: str, value: str, gap: str = "   ") -> list[Span]:
    return [Span(f"{gap}{label} ", "muted"), Span(value)]


def fitting(groups: Sequence[Sequence[Span]], room: int) -> list[Span]:
    """The first of these groups, as many as fit; of a first one that does not, all the same that."""
    words: list[Span] = []
    for group in groups:
        if words and sum(len(span.text) for span in (*words, *group)) > room:
            break
        words += group
    return words
