"""Rails: one line an item in execution order, beside it lanes on which values wait for their consumers.

A value keeps its lane until its last consumer, which takes the lane over if it is the leftmost of those that end
there. Lanes are given out once, in one pass; lines are drawn for the visible window only.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from rich.cells import cell_len

from .cells import Canvas, Cell
from .items import Graph
from .phrases import called

STRIDE = 64
"""Lines between two notes of which values are waiting."""
LONGEST_NAME = 18


@dataclass(frozen=True)
class Rails:
    """`lane[i]` of each item; `last[i]` is the last consumer of item i, or i itself.

    `waiting[k]` are the items whose values pass line k · STRIDE.
    """

    graph: Graph
    lane: tuple[int, ...]
    last: tuple[int, ...]
    waiting: tuple[tuple[int, ...], ...]
    lanes: int

    @cached_property
    def name_width(self) -> int:
        """Cells that the names take: of the longest, up to a limit."""
        tape = self.graph.by_row.tape
        return min(max((cell_len(called(item, tape)) for item in self.graph.items), default=0), LONGEST_NAME)

    def passing(self, line: int) -> list[int]:
        """Items above a line whose values are still waited for there or below."""
        start = line // STRIDE
        found = [i for i in self.waiting[start] if self.last[i] >= line] if self.waiting else []
        return found + [i for i in range(start * STRIDE, line) if self.last[i] >= line]

    def cells(self, start: int, stop: int, step: int = 3) -> tuple[tuple[Cell, ...], ...]:
        """The cells of these lines, lanes `step` columns apart."""
        canvas = Canvas()
        for item in [*self.passing(start), *range(start, stop)]:
            self._draw(canvas, item, start, stop, step)
        return canvas.rows(stop - start + 2)[1:-1]

    def _draw(self, canvas: Canvas, item: int, start: int, stop: int, step: int) -> None:
        """The lines from an item to its consumers, as far as they touch the window.

        Of those below it the nearest and the farthest stand for all: what a state reaches, it reaches in order.
        """
        x, edges = step * self.lane[item], self.graph.out_of[item]
        top = max(item, start - 1) - start + 1
        first, below = (bisect_left(edges, line, key=self._target) for line in (start, stop))
        for e in dict.fromkeys([*edges[first:below], *edges[below : below + 1], *edges[below:][-1:]]):
            bottom = min(self._target(e), stop) - start + 1
            to = step * self.lane[self._target(e)] if bottom <= stop - start else x
            canvas.line(e, [(x, top), (x, bottom), (to, bottom)])

    def _target(self, e: int) -> int:
        return self.graph.edges[e].target


def rails(graph: Graph) -> Rails:
    """Lanes for a graph of any size, in one pass."""
    count = len(graph.items)
    last = [graph.edges[graph.out_of[i][-1]].target if graph.out_of[i] else i for i in range(count)]
    lane = [0] * count
    free: list[int] = []  # lanes below `lanes` that nobody holds
    lanes = 0
    waiting: list[tuple[int, ...]] = []
    live: set[int] = set()
    rested = -1  # a lane that ended above without a consumer: taken now, it would look joined
    for i in range(count):
        if i % STRIDE == 0:
            waiting.append(tuple(sorted(live)))
        ending = sorted({graph.edges[e].source for e in graph.into[i]} & live, key=lane.__getitem__)
        ending = [j for j in ending if last[j] == i]
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
        for j in ending[1:]:
            heappush(free, lane[j])
        if last[i] > i:
            live.add(i)
        else:
            rested = lane[i]
    return Rails(graph, tuple(lane), tuple(last), tuple(waiting), lanes)
