"""Where edges run: between neighbouring ranks through the gap between them, farther in a column of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .cells import Point
from .items import Graph
from .layered import Places, Size, is_skip
from .nets import Net, allot, bundle_of, bundled, give_ports

FARTHEST = 40
"""Cells beside a producer within which a column for its long edges is looked for; else they go to the right."""


@dataclass(eq=False)
class _Bus:
    """The long edges of one producer, in one column. `at_right`: outside all chips."""

    source: int
    edges: list[int]
    first: int
    last: int
    at_right: bool
    column: int = 0


@dataclass(frozen=True, slots=True)
class _Port:
    """The place where a net enters a consumer, known once all ports of the gap are."""

    net: Net
    target: int


Stop = tuple[int | _Port, int | Net]  # column, and rank or track


class Router:
    """Finds the ways of all edges; with them the rows of the ranks, which are as far apart as the ways need."""

    def __init__(self, graph: Graph, sizes: Sequence[Size], placed: Places):
        self.graph, self.sizes = graph, sizes
        self.rank, self.x, self.ranks = placed.rank, placed.x, placed.ranks
        self.edge_of_chips = max((self.right(i) for i in range(len(sizes))), default=0)
        self.first_rail = self.edge_of_chips + placed.gap
        self.nets: dict[tuple[int, int], Net] = {}  # by gap and producer
        self.taken: list[list[tuple[int, int]]] = [[] for _ in self.ranks]  # first and last cell of flat pieces
        self.tops: list[int] = []  # the row of each rank

    def left(self, i: int) -> int:
        return self.x[i] - self.sizes[i].signed // 2

    def right(self, i: int) -> int:
        """The last cell with room for `k/n`."""
        return self.x[i] - self.sizes[i].counted // 2 + self.sizes[i].counted - 1

    def roomy(self) -> tuple[bool, ...]:
        """Which chips can be as wide as `k/n` makes them without touching their neighbours."""
        fits = [True] * len(self.sizes)
        for a, b in (pair for items in self.ranks for pair in pairwise(items)):
            fits[a] &= self.right(a) + 1 < self.left(b)
            fits[b] &= self.x[b] - self.sizes[b].counted // 2 - 1 > self.x[a] + self.sizes[a].signed // 2
        return tuple(fits)

    def paths(self) -> list[list[Point]]:
        """The path of each edge, from the middle of its producer's chip to that of its consumer's or above it."""
        stops: list[list[Stop]] = [[] for _ in self.graph.edges]
        long: dict[int, list[int]] = {}
        for source in range(len(self.graph.items)):
            for e in self.graph.out_of[source]:
                if self.rank[self.graph.edges[e].target] == self.rank[source] + 1:
                    stops[e] = self._short(e)
                else:
                    long.setdefault(source, []).append(e)
        buses = self._columns(long)
        ends = {e: self._arrival(bus, e) for bus in buses for e in bus.edges}
        for bus in buses:
            start = self._departure(bus)
            for e in bus.edges:
                stops[e] = [*start, *ends[e]]
        self._tracks()
        return [self._resolved(path) for path in stops]

    # Short edges, and nets

    def _net(self, gap: int, source: int, top: int) -> Net:
        net = self.nets.setdefault((gap, source), Net(gap, set()))
        net.tops.add(top)
        return net

    def _short(self, e: int) -> list[Stop]:
        edge = self.graph.edges[e]
        rank, x = self.rank[edge.source], self.x[edge.source]
        net = self._net(rank, edge.source, x)
        return [(x, rank), (x, net), *self._entered(net, edge.target)]

    def _entered(self, net: Net, target: int) -> list[Stop]:
        net.targets.append(target)
        port = _Port(net, target)
        return [(port, net), (port, net.gap + 1)]

    # Long edges

    def _columns(self, long: dict[int, list[int]]) -> list[_Bus]:
        """A column for the long edges of each producer, the shortest first so that they lie inside."""
        buses = []
        for source, edges in long.items():
            last = max(self.rank[self.graph.edges[e].target] for e in edges)
            at_right = any(is_skip(self.graph, self.rank, e) for e in edges)
            buses.append(_Bus(source, edges, self.rank[source], last, at_right))
        buses.sort(key=lambda bus: (bus.at_right, bus.last - bus.first, bus.first))
        laid: list[_Bus] = []
        for bus in buses:
            beside = [] if bus.at_right else self._beside(bus)
            bus.at_right = not any(self._try(bus, column, laid) for column in beside)
            column = self.first_rail
            while bus.at_right and not self._fits_at_right(bus, column, laid):
                column += 2
            bus.column = column if bus.at_right else bus.column
            laid.append(bus)
        return laid

    def _beside(self, bus: _Bus) -> list[int]:
        x = self.x[bus.source]
        near = [x + sign * step for step in range(FARTHEST) for sign in (1, -1)]
        return [column for column in near if column < self.edge_of_chips]

    def _try(self, bus: _Bus, column: int, laid: list[_Bus]) -> bool:
        """Take a column if no chip and no other long edge is in its way."""
        for other in laid:
            if other.first <= bus.last and bus.first <= other.last and abs(other.column - column) < 2:
                return False
        ending = {self.graph.edges[e].target for e in bus.edges if self._is_last(bus, e)}
        for r in range(bus.first, bus.last + 1):
            for i in self.ranks[r]:
                if r == bus.first:
                    blocked = i != bus.source and column == self.x[i]
                else:
                    blocked = i not in ending and self.left(i) - 1 <= column <= self.right(i) + 1
                if blocked:
                    return False
        bus.column = column
        return True

    @staticmethod
    def _fits_at_right(bus: _Bus, column: int, laid: list[_Bus]) -> bool:
        """Whether a column at the right is free; one path may begin at the rank where another ends."""
        return all(other.column != column or other.last <= bus.first or bus.last <= other.first for other in laid)

    def _is_last(self, bus: _Bus, e: int) -> bool:
        return self.rank[self.graph.edges[e].target] == bus.last

    def _arrival(self, bus: _Bus, e: int) -> list[Stop]:
        """Into the side of the consumer, where the way there is free; else from above."""
        target = self.graph.edges[e].target
        rank = self.rank[target]
        if self._takes_side(target, bus.column):
            return [(bus.column, rank), (self.x[target], rank)]
        net = self._net(rank - 1, bus.source, bus.column)
        net.comes_from_afar = len(self.graph.out_of[bus.source]) > 1
        if not self._is_last(bus, e):
            net.columns.add(bus.column)
        return [(bus.column, net), *self._entered(net, target)]

    def _departure(self, bus: _Bus) -> list[Stop]:
        """Straight down; at the right out of the chip's side, or through the gap below where that is taken."""
        x, rank = self.x[bus.source], bus.first
        if bus.at_right and self._takes_side(bus.source, bus.column):
            return [(x, rank), (bus.column, rank)]
        net = self._net(rank, bus.source, x)
        net.columns.add(bus.column)
        return [(x, rank), (x, net), (bus.column, net)]

    def _takes_side(self, chip: int, column: int) -> bool:
        """Claim the cells between a chip and a column, unless something stands or runs there."""
        if self.left(chip) - 1 <= column <= self.right(chip) + 1:
            return False
        rank = self.rank[chip]
        first, last = sorted((self.x[chip] + (1 if column > self.x[chip] else -1), column))
        others = (i for i in self.ranks[rank] if i != chip)
        if any(first <= self.x[i] <= last or self.left(i) <= column <= self.right(i) for i in others):
            return False
        if any(start <= last and first <= end for start, end in self.taken[rank]):
            return False
        self.taken[rank].append((first, last))
        return True

    # Tracks

    def _tracks(self) -> None:
        """Ports, tracks and with them the rows of the ranks."""
        by_gap: list[list[Net]] = [[] for _ in self.ranks]
        for (gap, _), net in self.nets.items():
            by_gap[gap].append(net)
        row = 0
        for nets in by_gap:
            self.tops.append(row)
            bundles = bundled(nets)
            give_ports(bundles, self.x, self.sizes)
            row += 1 + max(allot(bundles), 1)

    def _resolved(self, path: list[Stop]) -> list[Point]:
        points = []
        for x, y in path:
            column = x if isinstance(x, int) else bundle_of(x.net).ports[x.target]
            row = self.tops[y] if isinstance(y, int) else self.tops[y.gap] + 1 + bundle_of(y).track
            points.append((column, row))
        return points
