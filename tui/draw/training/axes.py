"""What both plots of a run share: steps below, numbers at the left, and the curves over them."""

import numpy as np

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.numbers import Array
from tui.draw.pane import Pane
from tui.draw.plot import Plot
from tui.draw.text import Span

LEFT = 7  # columns for the numbers of the vertical axis
NOTHING = np.zeros((4, 0))


def table(view: Trained, name: str) -> Array:
    """(4, N): step, mean, lowest, highest."""
    return view.curves.get(name, NOTHING)


def draw_axes(pane: Pane, plot: Plot, marks: list[float], texts: list[str], steps: int, room: int) -> None:
    """Numbers at the left, a fine line at each, steps below."""
    used = set()
    for mark, text in zip(marks, texts, strict=True):
        row = plot.row_of(mark)
        if row is not None and row not in used:
            used.add(row)
            plot.line(mark)
            pane.words_right(LEFT - 1, 2 + row, [Span(text, "muted")])
    wide = plot.width
    for share in (0, 0.25, 0.5, 0.75, 1) if wide >= 50 else (0, 0.5, 1):
        text = numbers.count(round(steps * share))
        x = LEFT + round(share * (wide - 1))
        start = max(LEFT, min(x - len(text) // 2, LEFT + wide - len(text)))
        pane.words(start, 2 + room, [Span(text, "muted")])
