"""Lines of a picture, cell by cell: which edges leave a cell towards each side, and the glyph that says so."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Edges = tuple[int, ...]
Point = tuple[int, int]  # column, row

GLYPHS = " ╴╸╷╮┑╻┒┓╶─╾╭┬┭┎┰┱╺╼━┍┮┯┏┲┳╵╯┙│┤┥╽┧┪╰┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋"
"""By the weights 0, 1, 2 (none, light, heavy) of north, east, south and west as digits of base 3."""


AHEAD, DONE, PART, LIT = range(4)
"""States of an edge: nothing has passed yet; a value has; some of its contributions have; what is to be seen."""


class Cell(NamedTuple):
    """The edges drawn from the middle of a cell to each of its sides."""

    x: int
    north: Edges
    east: Edges
    south: Edges
    west: Edges

    @property
    def is_crossing(self) -> bool:
        """Whether lines that have nothing to do with each other cross here; the upright one is drawn unbroken."""
        upright, flat = (*self.north, *self.south), (*self.east, *self.west)
        return bool(upright and flat) and set(upright).isdisjoint(flat)

    def glyph(self, state: Sequence[int]) -> tuple[str, int]:
        """The sign for edges in these states, heavy where they are LIT, and the state that gives it its colour."""
        sides = (self.north, (), self.south, ()) if self.is_crossing else self[1:]
        states = [max(map(state.__getitem__, side), default=-1) for side in sides]
        code = 0
        for each in states:
            code = 3 * code + (0 if each < 0 else 2 if each == LIT else 1)
        return GLYPHS[code], max(states)


NORTH, EAST, SOUTH, WEST = range(4)


class Canvas:
    """Where lines are laid; it only collects, and is read once as rows of cells."""

    def __init__(self) -> None:
        self._sides: dict[Point, tuple[list[int], list[int], list[int], list[int]]] = {}

    def line(self, edge: int, points: Sequence[Point]) -> None:
        """Lay an edge along a path of upright and flat pieces."""
        for (x, y), (to_x, to_y) in pairwise(points):
            assert x == to_x or y == to_y, f"a piece must be upright or flat, got {(x, y)} to {(to_x, to_y)}"
            while (x, y) != (to_x, to_y):
                dx, dy = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
                side = EAST if dx > 0 else WEST if dx < 0 else SOUTH if dy > 0 else NORTH
                self._mark(edge, x, y, side)
                x, y = x + dx, y + dy
                self._mark(edge, x, y, (side + 2) % 4)

    def _mark(self, edge: int, x: int, y: int, side: int) -> None:
        edges = self._sides.setdefault((x, y), ([], [], [], []))[side]
        if not edges or edges[-1] != edge:  # an edge is laid in one go
            edges.append(edge)

    def rows(self, height: int, left: int = 0) -> tuple[tuple[Cell, ...], ...]:
        """The cells of each row by column, counted from `left`."""
        found: list[list[Cell]] = [[] for _ in range(height)]
        for (x, y), sides in self._sides.items():
            found[y].append(Cell(x - left, *map(tuple, sides)))
        return tuple(tuple(sorted(row)) for row in found)
