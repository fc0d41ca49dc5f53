"""Events as one row: heavy where done, light ahead, `▶` here, and blocks numbered where they begin."""

from collections.abc import Sequence
from itertools import groupby

from .text import Span


def per_cell(total: int, room: int) -> int:
    """As few events a cell as fit into so many cells."""
    return max(-(-total // max(room, 1)), 1)


def last_of_each(total: int, each: int) -> list[int]:
    """Of each cell the last of its `each` events."""
    return [min(start + each, total) - 1 for start in range(0, total, each)]


def event_row(layers: Sequence[int | None], here: int | None, done: int, color: str) -> list[Span]:
    """`layers`: of each cell the block it lies in; `here`: the cell of the marker; the first `done` are heavy."""
    heavy, light = Span("━", color), Span("─", "line")
    cells = [Span("▶", "bright", bold=True) if i == here else heavy if i < done else light
             for i in range(len(layers))]  # fmt: skip
    number(cells, layers)
    return joined(cells)


def number(cells: list[Span], layers: Sequence[int | None]) -> None:
    """Number the blocks where they begin; of numbers that would overlap the first."""
    before, free = None, 0
    for cell, layer in enumerate(layers):
        if layer is not None and layer != before and cell >= free:
            label(cells, cell, f" {layer} ")
            free = cell + len(f" {layer} ")
        before = layer


def label(cells: list[Span], start: int, text: str) -> None:
    """Write over the cells from `start`; the marker stays visible."""
    for i, sign in enumerate(text, start):
        if i < len(cells) and cells[i].text != "▶":
            color = cells[i].fg if cells[i].text == "━" else "faint"
            cells[i] = Span(sign, color if sign.strip() else "text")


def joined(spans: Sequence[Span]) -> list[Span]:
    """Neighbours in one style as one span."""
    runs = (list(run) for _, run in groupby(spans, key=lambda span: span[1:]))
    return [run[0]._replace(text="".join(span.text for span in run)) for run in runs]
