"""Tokens along an axis of a map: their names, and where these stand under narrow columns."""

from collections.abc import Sequence

from glassllm.generation import Written
from tui.draw.leaf_list import spaced
from tui.draw.pane import Pane
from tui.draw.text import Span, clean, cut

STAGGER = 3  # rows over which names are spread, so that each has that many columns of the map
CELL = 2  # cells of a column


def names(view: Written, count: int) -> tuple[str, ...]:
    """The newest tokens of the text, as they are named at an axis."""
    return tuple(clean(spaced(token)).removeprefix("·") or "·" for token in view.tokens[-count:])


def name_columns(pane: Pane, shown: Sequence[str], left: int, top: int, last: str = "faint") -> None:
    """Each name under its column, those that fit; `last`: the tone of the last one."""
    for i, name in enumerate(shown):
        text, x = cut(name, STAGGER * CELL - 1), left + i * CELL
        if x + len(text) < pane.width:
            pane.words(x, top + i % STAGGER, [Span(text, last if i == len(shown) - 1 else "faint")])
