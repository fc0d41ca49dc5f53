"""Rails: one line an item in execution order, beside it lanes on which values wait for their consumers.

A value keeps its lane until its last consumer, which takes the lane over if it is the leftmost of those that end
there. Lanes are given out once, in one pass; lines are drawn for the visible window only.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from rich.cells import cell_len

from .cells import Canvas, Cell
from .items import Graph
from .phrases import called

Cells = tuple[tuple[Cell, ...], ...]

STRIDE = 64
"""Lines between two notes of which values are waiting."""
NOTED = 256
"""Lanes of which that is noted: as many as a window can ever show."""
MOST_ENDS = 32
"""Lines from hidden lanes that are looked at where they end, first and last ones, of however many end there."""
LONGEST_NAME = 18


@dataclass(frozen=True)
class Rails:
    """`lane[i]` of each item; `last[i]` is the last consumer of item i, or i itself.

    `waiting[k]` are the items whose values pass line k · STRIDE on one of the first lanes.
    """

    graph: Graph
    lane: Sequence[int]
    last: Sequence[int]
    waiting: tuple[tuple[int, ...], ...]
    lanes: int

    @cached_property
    def name_width(self) -> int:
        """Cells that the names take: of the longest, up to a limit."""
        tape = self.graph.by_row.tape
        return min(
            max((cell_len(called(item, tape)) for item in self.graph.items.telling()), default=0), LONGEST_NAME
        )

    def passing(self, line: int) -> list[int]:
        """Items above a line whose values are still waited for there or below, on one of the first lanes."""
        start = line // STRIDE
        found = [i for i in self.waiting[start] if self.last[i] >= line] if self.waiting else []
        near = range(start * STRIDE, line)
        return found + [i for i in near if self.last[i] >= line and self.lane[i] < NOTED]

    def cells(self, start: int, stop: int, step: int = 3, columns: int | None = None) -> Cells:
        """The cells of these lines, lanes `step` columns apart, in the first `columns`."""
        columns = step * min(self.lanes, NOTED) if columns is None else columns
        canvas = Canvas()
        for item in [*self.passing(start), *range(start, stop)]:
            if step * self.lane[item] < columns:
                self._draw(canvas, item, start, stop, step, columns)
        for line in range(start, stop):
            x, into = step * self.lane[line], self.graph.into[line]
            for e in {*into[:MOST_ENDS], *into[-MOST_ENDS:]} if x < columns else ():
                if step * self.lane[self.graph.edges.sources[e]] >= columns:
                    canvas.line(e, [(columns, line - start + 1), (x, line - start + 1)])
        return canvas.rows(stop - start + 2)[1:-1]

    def _draw(self, canvas: Canvas, item: int, start: int, stop: int, step: int, columns: int) -> None:
        """The lines from an item to its consumers, as far as they touch the window.

        Of those below it the nearest and the farthest stand for all: what a state reaches, it reaches in order.
        """
        x, edges, targets = step * self.lane[item], self.graph.out_of[item], self.graph.edges.targets
        top = max(item, start - 1) - start + 1
        first, below = (bisect_left(edges, line, key=targets.__getitem__) for line in (start, stop))
        for e in dict.fromkeys([*edges[first : below + 1], *edges[max(below, len(edges) - 1) :]]):
            bottom = min(targets[e], stop) - start + 1
            to = min(step * self.lane[targets[e]], columns) if bottom <= stop - start else x
            canvas.line(e, [(x, top), (x, bottom), (to, bottom)])


def rails(graph: Graph) -> Rails:
    """Lanes for a graph of any size, in one pass."""
    count, sources, targets = len(graph.items), graph.edges.sources, graph.edges.targets
    last = array("i", (targets[edges[-1]] if edges else i for i, edges in enumerate(graph.out_of)))
    lane = array("i", [0]) * count
    free: list[int] = []  # lanes below `lanes` that nobody holds
    lanes = 0
    waiting: list[tuple[int, ...]] = []
    live: set[int] = set()
    noted: set[int] = set()  # those of them on the first lanes
    rested = -1  # a lane that ended above without a consumer: taken now, it would look joined
    for i in range(count):
        if i % STRIDE == 0:
            waiting.append(tuple(sorted(noted)))
        ending = [j for j in {sources[e] for e in graph.into[i]} if j in live and last[j] == i]
        ending.sort(key=lane.__getitem__)
        if ending:
            lane[i] = lane[ending[0]]
        elif free:
            lane[i] = heappop(free)
        else:
            lane[i], lanes = lanes, lanes + 1
        if rested >= 0:
            heappush(free, rested)
            rested = -1
        live.difference_update(ending)
        noted.difference_update(ending)
        for j in ending[1:]:
            heappush(free, lane[j])
        if last[i] > i:
            live.add(i)
            if lane[i] < NOTED:
                noted.add(i)
        else:
            rested = lane[i]
    return Rails(graph, lane, last, tuple(waiting), lanes)
