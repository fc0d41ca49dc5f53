"""The picture in ranks: chips placed, edges routed between them, and the cells all that makes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len

from .cells import Canvas, Cell, Point
from .items import Graph
from .layered import Size, places
from .routes import Router


@dataclass(frozen=True)
class Layout:
    """A picture of a graph: chips by the middle of each, and the cells of every row. Columns count from 0.

    `axis` is the column of the middle of the page. `roomy[i]`: chip i has room for `k/n`.
    """

    graph: Graph
    labels: tuple[str, ...]
    sizes: tuple[Size, ...]
    chips: tuple[Point, ...]
    rows: tuple[tuple[Cell, ...], ...]
    width: int
    axis: int
    roomy: tuple[bool, ...]

    @property
    def height(self) -> int:
        return len(self.rows)

    @cached_property
    def ranks(self) -> list[int]:
        """The rows that have chips, from the top down."""
        return sorted(self.lines)

    @cached_property
    def lines(self) -> dict[int, tuple[int, ...]]:
        """The items on each row that has chips, from left to right."""
        found: dict[int, list[int]] = {}
        for i, (_, y) in enumerate(self.chips):
            found.setdefault(y, []).append(i)
        return {y: tuple(sorted(items, key=self.chips.__getitem__)) for y, items in found.items()}


def layered(graph: Graph, labels: Sequence[str], room: int) -> Layout:
    """The layout of a graph with these labels, fitted into `room` columns where it can be."""
    labels = [_with_ports(label, len(graph.into[i])) for i, label in enumerate(labels)]
    sizes = tuple(Size.of(cell_len(label)) for label in labels)
    placed = places(graph, sizes, room)
    router = Router(graph, sizes, placed)
    paths = router.paths()
    bends = [x for path in paths for x, _ in path]
    left = min([*map(router.left, range(len(sizes))), *bends], default=0)
    right = max([*map(router.right, range(len(sizes))), *bends], default=0)
    canvas = Canvas()
    for edge, path in enumerate(paths):
        canvas.line(edge, path)
    chips = tuple((placed.x[i] - left, router.tops[placed.rank[i]]) for i in range(len(sizes)))
    rows = canvas.rows(router.tops[-1] + 1 if router.tops else 0, left)
    return Layout(graph, tuple(labels), sizes, chips, rows, right - left + 1, -left, router.roomy())


def _with_ports(label: str, inputs: int) -> str:
    """The label, widened by blanks if its chip has not enough columns for its inputs and two lines of others."""
    return label.center(inputs + 1) if inputs > 1 and inputs + 1 > cell_len(label) else label
