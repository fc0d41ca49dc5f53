"""Where edges run: between neighbouring ranks through the gap between them, farther in a column of their own.

A gap is a channel: what leaves one producer is one net, a net takes one track (row) of it, and two nets share no
pin, so lines only ever cross squarely. Nets that lead to exactly the same consumers are drawn as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from rich.cells import cell_len

from .cells import Canvas, Cell, Point
from .items import Graph
from .layered import Places, Size, is_skip, places

FARTHEST = 40
"""Cells beside a producer within which a column for its long edges is looked for; else they go to the right."""


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
    router = _Router(graph, sizes, placed)
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


@dataclass(eq=False)
class _Net:
    """What leaves one producer (or comes down in its column) through one gap, and where it goes."""

    gap: int
    tops: set[int]
    targets: list[int] = field(default_factory=list)
    columns: set[int] = field(default_factory=set)  # that it goes on in, past the next rank
    comes_from_afar: bool = False  # in a column that leads to others too
    bundle: "_Bundle | None" = None


@dataclass(eq=False)
class _Bundle:
    """Nets drawn as one; `ports` is the column at which it enters each consumer from above."""

    nets: list[_Net]
    targets: tuple[int, ...]
    ports: dict[int, int] = field(default_factory=dict)
    track: int = 0

    @property
    def tops(self) -> set[int]:
        return set().union(*(net.tops for net in self.nets))

    @property
    def span(self) -> tuple[int, int]:
        pins = self.tops | set(self.ports.values()) | set().union(*(net.columns for net in self.nets))
        return min(pins), max(pins)


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

    net: _Net
    target: int


Stop = tuple[int | _Port, int | _Net]  # column, and rank or track


class _Router:
    def __init__(self, graph: Graph, sizes: Sequence[Size], placed: Places):
        self.graph, self.sizes = graph, sizes
        self.rank, self.x, self.ranks = placed.rank, placed.x, placed.ranks
        self.edge_of_chips = max((self.right(i) for i in range(len(sizes))), default=0)
        self.first_rail = self.edge_of_chips + placed.gap
        self.nets: dict[tuple[int, int], _Net] = {}  # by gap and producer
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

    def _net(self, gap: int, source: int, top: int) -> _Net:
        net = self.nets.setdefault((gap, source), _Net(gap, set()))
        net.tops.add(top)
        return net

    def _short(self, e: int) -> list[Stop]:
        edge = self.graph.edges[e]
        rank, x = self.rank[edge.source], self.x[edge.source]
        net = self._net(rank, edge.source, x)
        return [(x, rank), (x, net), *self._entered(net, edge.target)]

    def _entered(self, net: _Net, target: int) -> list[Stop]:
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
        by_gap: list[list[_Net]] = [[] for _ in self.ranks]
        for (gap, _), net in self.nets.items():
            by_gap[gap].append(net)
        row = 0
        for nets in by_gap:
            self.tops.append(row)
            bundles = _bundled(nets)
            self._ports(bundles)
            row += 1 + max(_allot(bundles), 1)

    def _ports(self, bundles: list[_Bundle]) -> None:
        """Each bundle enters a consumer in the middle, or beside it where others enter or start in that column."""
        arriving: dict[int, list[_Bundle]] = {}
        for bundle in bundles:
            for target in bundle.targets:
                arriving.setdefault(target, []).append(bundle)
        starting = {top: bundle for bundle in bundles for top in bundle.tops}
        for target, those in arriving.items():
            those.sort(key=lambda bundle: sum(bundle.tops) / len(bundle.tops))
            half = (self.sizes[target].plain - 1) // 2
            step = 2 if 2 * (len(those) - 1) <= 2 * half else 1
            used: set[int] = set()
            for k, bundle in enumerate(those):
                wanted = self.x[target] + (2 * k - (len(those) - 1)) * step // 2
                near = sorted(range(-half, half + 1), key=lambda off: (abs(self.x[target] + off - wanted), off))
                free = (
                    self.x[target] + off
                    for off in near
                    if self.x[target] + off not in used and starting.get(self.x[target] + off, bundle) is bundle
                )
                bundle.ports[target] = next(free, wanted)
                used.add(bundle.ports[target])

    def _resolved(self, path: list[Stop]) -> list[Point]:
        points = []
        for x, y in path:
            column = x if isinstance(x, int) else _bundle_of(x.net).ports[x.target]
            row = self.tops[y] if isinstance(y, int) else self.tops[y.gap] + 1 + _bundle_of(y).track
            points.append((column, row))
        return points


def _bundle_of(net: _Net) -> _Bundle:
    assert net.bundle is not None
    return net.bundle


def _bundled(nets: list[_Net]) -> list[_Bundle]:
    """Nets that lead to the same consumers and nowhere else are one bundle, each other net is its own."""
    bundles: dict[object, _Bundle] = {}
    for net in nets:
        targets = tuple(sorted(set(net.targets)))
        only_here = not net.columns and not net.comes_from_afar
        net.bundle = bundles.setdefault(targets if only_here else net, _Bundle([], targets))
        net.bundle.nets.append(net)
    return list(bundles.values())


def _allot(bundles: list[_Bundle]) -> int:
    """Give each bundle the highest track that is free along its span; how many tracks there are."""
    ends: list[int] = []
    for bundle in sorted(bundles, key=lambda bundle: bundle.span):
        first, last = bundle.span
        if first == last:
            continue
        track = next((t for t, end in enumerate(ends) if end < first), len(ends))
        ends[track : track + 1] = [last]
        bundle.track = track
    return len(ends)
