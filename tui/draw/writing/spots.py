"""Spots: what lies where on the board, for whoever points at it."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from tui.draw.palette import Palette
from tui.draw.pane import Pane

What = Literal["token", "candidate", "head"]


class Spot(NamedTuple):
    """So many cells of one row that stand for a token of the text, a candidate or a head, by its number.

    A token is counted from the start of the text, a candidate is a token of the vocabulary, a head is counted
    through all layers.
    """

    x: int
    y: int
    width: int
    what: What
    number: int


class Sketch(Pane):
    """A pane that knows what lies on it."""

    def __init__(self, width: int, height: int, palette: Palette):
        super().__init__(width, height, palette)
        self.spots: list[Spot] = []

    def spot(self, x: int, y: int, width: int, what: What, number: int) -> None:
        if 0 <= y < self.height:
            self.spots.append(Spot(x, y, width, what, number))


Sketched = tuple[int, int, Sketch]
"""A pane with the column and the row it lies at."""


def spot_at(panes: Iterable[Sketched], x: int, y: int) -> Spot | None:
    """What lies at a place of the board; None where nothing does."""
    for left, top, pane in panes:
        for spot in pane.spots:
            if y - top == spot.y and spot.x <= x - left < spot.x + spot.width:
                return spot
    return None
