"""Where chips stand: a rank per item from the top down, an order within each rank, and a column.

After Sugiyama, Tagawa and Toda (1981): longest-path ranks, barycentre sweeps kept only where they undo crossings,
then columns as close to the producers as the spacing lets them be. Columns count from 0, the middle of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .items import Graph

SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Size:
    """Cells a chip takes: without a gradient's sign, with it, and with `k/n` behind it."""

    plain: int
    signed: int
    counted: int

    @classmethod
    def of(cls, label_width: int) -> "Size":
        return cls(label_width + 2, label_width + 4, label_width + 8)


@dataclass(frozen=True, slots=True)
class Places:
    """`rank[i]` and `x[i]` of each item; `ranks` lists the items of each rank from left to right.

    `gap` is how far the paths at the right keep from the chips.
    """

    rank: tuple[int, ...]
    x: tuple[int, ...]
    ranks: tuple[tuple[int, ...], ...]
    gap: int


def places(graph: Graph, sizes: Sequence[Size], room: int) -> Places:
    """Columns for the items, as wide as is comfortable where that fits into `room` cells, else closer together."""
    rank = ranks_of(graph)
    tops = [[] for _ in range(max(rank, default=-1) + 1)]  # type: list[list[int]]
    for i, at in enumerate(rank):
        tops[at].append(i)
    near = _near(graph, rank)
    order = _ordered(tops, near)
    crowded = [i for items in order if len(items) > 1 for i in items]
    widest = max((sizes[i].signed for i in crowded), default=0)
    made = []
    for apart, gap in ((_even(widest + 4), 4), (_even(widest + 2), 2), (0, 2)):
        columns = _Columns(order, near, sizes, apart).columns()
        made = [round(columns[i]) for i in range(len(rank))]
        if not made or _width(made, sizes) + gap + 1 <= room:
            break
    return Places(tuple(rank), tuple(made), tuple(map(tuple, order)), gap)


def _even(width: int) -> int:
    return width + width % 2


def _width(x: Sequence[int], sizes: Sequence[Size]) -> int:
    left = min(at - size.signed // 2 for at, size in zip(x, sizes, strict=True))
    right = max(at - size.counted // 2 + size.counted for at, size in zip(x, sizes, strict=True))
    return right - left


def ranks_of(graph: Graph) -> list[int]:
    """One below the lowest producer. What has none stands above its first consumer; a note, below its node."""
    rank = [0] * len(graph.items)
    for i, item in enumerate(graph.items):
        above = [rank[graph.edges[e].source] for e in graph.into[i]]
        if above:
            rank[i] = 1 + max(above)
        elif item.kind == "note" and i:
            rank[i] = 1 + rank[i - 1]
    for i in reversed(range(len(graph.items))):
        if not graph.into[i] and graph.out_of[i]:
            rank[i] = max(rank[i], min(rank[graph.edges[e].target] for e in graph.out_of[i]) - 1)
    return rank


@dataclass(frozen=True, slots=True)
class Near:
    """Producers and consumers of each item, those left out that a path at the side leads to.

    `passing[r]` is whether a producer's only line runs down past rank r.
    """

    above: list[list[int]]
    below: list[list[int]]
    passing: list[bool]


def is_skip(graph: Graph, rank: Sequence[int], edge: int) -> bool:
    """Whether an edge goes round what its producer feeds directly."""
    source = graph.edges[edge].source
    if rank[graph.edges[edge].target] == rank[source] + 1:
        return False
    return any(rank[graph.edges[e].target] == rank[source] + 1 for e in graph.out_of[source])


def _near(graph: Graph, rank: Sequence[int]) -> Near:
    above: list[list[int]] = [[] for _ in graph.items]
    below: list[list[int]] = [[] for _ in graph.items]
    passing = [False] * (max(rank, default=-1) + 1)
    for e, edge in enumerate(graph.edges):
        if is_skip(graph, rank, e):
            continue
        above[edge.target].append(edge.source)
        below[edge.source].append(edge.target)
        for r in range(rank[edge.source] + 1, rank[edge.target]):
            passing[r] = True
    return Near(above, below, passing)


def _ordered(tops: list[list[int]], near: Near) -> list[list[int]]:
    """The ranks' orders with the fewest crossings met; execution order where nothing is better."""
    best, fewest = tops, _crossings(tops, near)
    order = [list(items) for items in tops]
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        links = near.above if down else near.below
        for r in range(len(order)) if down else reversed(range(len(order))):
            where = {item: i / max(len(items) - 1, 1) for items in order for i, item in enumerate(items)}
            middle = {i: sum(where[j] for j in links[i]) / len(links[i]) for i in order[r] if links[i]}
            order[r].sort(key=lambda i: (middle.get(i, where[i]), where[i]))
        if (count := _crossings(order, near)) < fewest:
            best, fewest = [list(items) for items in order], count
    return best


def _crossings(order: list[list[int]], near: Near) -> int:
    """How many pairs of lines between neighbouring ranks cross."""
    count = 0
    for upper, lower in pairwise(order):
        at = {item: i for i, item in enumerate(lower)}
        seen: list[int] = []
        for item in upper:
            ends = sorted(at[t] for t in near.below[item] if t in at)
            count += sum(earlier > end for end in ends for earlier in seen)
            seen += ends
    return count


class _Columns:
    """The columns of one spacing: `apart` cells between the middles in a rank, more where chips need it."""

    def __init__(self, order: list[list[int]], near: Near, sizes: Sequence[Size], apart: int):
        self.order, self.near, self.sizes, self.apart = order, near, sizes, apart
        self.x: dict[int, float] = {}

    def columns(self) -> dict[int, float]:
        for r, items in enumerate(self.order):
            self._set(items, [self._wanted(r, items, i) for i in items])
        for items in reversed(self.order):
            if any(not self.near.above[i] for i in items):
                self._set(items, [self._over_consumers(i) for i in items])
        return self.x

    def _wanted(self, r: int, items: list[int], i: int) -> float:
        """Under the producers; in the middle if the item is alone."""
        if len(items) == 1 and not self.near.passing[r]:
            return 0.0
        return _mean([self.x[j] for j in self.near.above[i]])

    def _over_consumers(self, i: int) -> float:
        """Where it is, or, if nothing is above it, over its consumers."""
        if self.near.above[i] or not self.near.below[i]:
            return self.x[i]
        return _mean([self.x[j] for j in self.near.below[i]])

    def _set(self, items: list[int], wanted: list[float]) -> None:
        apart = [self._apart(a, b) for a, b in pairwise(items)]
        self.x |= dict(zip(items, spread(wanted, apart), strict=True))

    def _apart(self, a: int, b: int) -> float:
        least = (self.sizes[a].signed + self.sizes[b].signed) // 2 + 3
        return max(self.apart, least)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def spread(wanted: Sequence[float], apart: Sequence[float]) -> list[float]:
    """The columns nearest to those wanted, in least squares, that keep their order and distances.

    Isotonic regression by pooling neighbours that collide; a pool moves as one, to whole cells.
    """
    shifts = [0.0]
    for distance in apart:
        shifts.append(shifts[-1] + distance)
    pools: list[tuple[float, int]] = []  # mean, members
    for want, shift in zip(wanted, shifts, strict=False):
        pools.append((want - shift, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    level = [float(round(mean)) for mean, members in pools for _ in range(members)]
    return [at + shift for at, shift in zip(level, shifts, strict=False)]
