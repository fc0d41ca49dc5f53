"""A graph as it is drawn: items, each a chip that stands for rows of the tape, and the edges between them.

Both are kept as plain numbers and put together when they are looked at: a graph of a hundred thousand nodes is
small, and so is what a window of it costs.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np

from glassllm.debug.by_number import ByNumber
from glassllm.debug.snapshot import TapeView

from .columns import Columns

ItemKind = Literal["group", "event", "node", "note", "leaf"]
Use = tuple[int, int]  # (consumer row, input slot)

MOST_INPUTS = 512
"""Inputs among which the leaves are that an item names, of however many."""
MOST_USES = 64
"""Uses by which the state of an edge is told, of however many it stands for."""


@dataclass(frozen=True, slots=True)
class Item:
    """One chip. It stands for the forward rows `rows` and shows the state of `boundary`, its last event.

    `count` is how many events (or nodes, where there are none) a group folds, 0 for all else. `weights` are the
    leaves folded into it. `group` is the key of the open section it stands in, empty outside.
    """

    key: str
    kind: ItemKind
    name: str
    rows: Sequence[int]
    boundary: int
    count: int = 0
    weights: tuple[int, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """From item to item, by index; `uses` are the inputs it stands for."""

    source: int
    target: int
    uses: tuple[Use, ...]


class Items(ByNumber[Item]):
    """Items in execution order; single nodes, which may be many, are known by their row alone."""

    def __init__(self, columns: Columns):
        self.leaves: dict[int, int] = {}  # row -> item, of leaves that are items
        self._columns = columns
        self._codes = array("i")  # the row of a node, else −1 − its place among the others
        self._others: list[Item] = []
        self._last_of: dict[str, int] = {}  # the last node of each name
        self._groups: list[str] = []  # of runs of items
        self._starts = array("i")

    def __len__(self) -> int:
        return len(self._codes)

    def at(self, i: int) -> Item:
        code = self._codes[i]
        return self._others[-1 - code] if code < 0 else self._node(code, self.group(i))

    def _node(self, row: int, group: str) -> Item:
        name = self._columns.names[row]
        return Item(f"#{row}", "node", name, (row,), row, weights=self.weights((row,)), group=group)

    def rows(self, i: int) -> Sequence[int]:
        """The rows that an item stands for."""
        code = self._codes[i]
        return self._others[-1 - code].rows if code < 0 else (code,)

    def weights(self, rows: Iterable[int]) -> tuple[int, ...]:
        """The leaves that these rows use, but for those that are items; of very many the first."""
        place_of, leaves = self._columns.place_of, self.leaves
        sources = islice((source for row in rows for source in self._columns.inputs(row)), MOST_INPUTS)
        found = (source for source in sources if place_of[source] < 0 and source not in leaves)
        return tuple(dict.fromkeys(found))

    def group(self, i: int) -> str:
        """The key of the open section that an item stands in."""
        return self._groups[bisect_right(self._starts, i) - 1]

    def span(self, i: int) -> tuple[int, int]:
        """The first and the last item of the run of one group that an item is in."""
        at = bisect_right(self._starts, i) - 1
        return self._starts[at], (self._starts[at + 1] if at + 1 < len(self._starts) else len(self)) - 1

    def telling(self) -> Iterator[Item]:
        """Items among which the one with the longest name is: of the nodes of one name the last, by its number."""
        yield from self._others
        yield from map(self.__getitem__, self._last_of.values())

    def add(self, item: Item) -> None:
        self._codes.append(-1 - len(self._others))
        self._others.append(item)
        self._enter(item.group)

    def add_node(self, row: int, group: str) -> None:
        self._last_of[self._columns.names[row]] = len(self)
        self._codes.append(row)
        self._enter(group)

    def _enter(self, group: str) -> None:
        if not self._groups or self._groups[-1] != group:
            self._groups.append(group)
            self._starts.append(len(self) - 1)


class Edges(ByNumber[Edge]):
    """Edges by target."""

    def __init__(self) -> None:
        self.sources = array("i")
        self.targets = array("i")
        self._rows = array("i")  # of the uses of all edges
        self._slots = array("i")
        self._first = array("i", [0])

    def __len__(self) -> int:
        return len(self.sources)

    def at(self, e: int) -> Edge:
        first, end = self._first[e], self._first[e + 1]
        uses = tuple(zip(self._rows[first:end], self._slots[first:end], strict=True))
        return Edge(self.sources[e], self.targets[e], uses)

    def some_uses(self, e: int) -> list[Use]:
        """The uses of an edge; of very many, some from the first to the last."""
        first, end = self._first[e], self._first[e + 1]
        stride = max((end - first) // MOST_USES, 1)
        places = [*range(first, end - 1, stride), end - 1]
        return [(self._rows[i], self._slots[i]) for i in places]

    def add(self, source: int, target: int, uses: Iterable[Use]) -> None:
        self.sources.append(source)
        self.targets.append(target)
        for row, slot in uses:
            self._rows.append(row)
            self._slots.append(slot)
        self._first.append(len(self._rows))


class Lists(ByNumber[Sequence[int]]):
    """A list of edges for each item, all in one."""

    def __init__(self, order: np.ndarray, owners: "array[int]", items: int):
        counts = np.bincount(np.array(owners, np.int64), minlength=items)
        self._edges = array("i", order.astype(np.int32).tobytes())
        self._first = array("i", np.concatenate([[0], np.cumsum(counts)]).astype(np.int32).tobytes())

    def __len__(self) -> int:
        return len(self._first) - 1

    def at(self, i: int) -> Sequence[int]:
        return self._edges[self._first[i] : self._first[i + 1]]


@dataclass(frozen=True)
class Graph:
    """Items in execution order and the edges between them, each from a lower index to a higher one."""

    items: Items
    edges: Edges
    by_row: "RowIndex"

    def item_of(self, row: int) -> int | None:
        """The item that stands for a row; for a folded weight the first that uses it; None for no part of it."""
        return self.by_row.item_of(row)

    @cached_property
    def into(self) -> Lists:
        """Edges into each item."""
        return Lists(np.argsort(self.edges.targets, kind="stable"), self.edges.targets, len(self.items))

    @cached_property
    def out_of(self) -> Lists:
        """Edges out of each item, nearest target first."""
        order = np.lexsort((self.edges.targets, self.edges.sources))
        return Lists(order, self.edges.sources, len(self.items))

    def first_row(self, item: int) -> int:
        """The first event that an item stands for, or its first row."""
        rows, tape = self.items.rows(item), self.by_row.tape
        return next((row for row in rows if tape.rows[row].event >= 0), rows[0])


@dataclass(frozen=True)
class RowIndex:
    """Which item a row belongs to, found by its forward place."""

    tape: TapeView
    place_of: Sequence[int]
    starts: "array[int]"
    owners: "array[int]"
    leaves: dict[int, int]

    def item_of(self, row: int) -> int | None:
        if row in self.leaves:
            return self.leaves[row]
        if not 0 <= row < len(self.place_of):
            return None
        place = self.place_of[row]
        if place >= 0:
            return self.at(place)
        uses = self.tape.consumers(row)
        return self.item_of(uses[0][0]) if uses else None

    def at(self, place: int) -> int | None:
        found = bisect_right(self.starts, place) - 1
        return self.owners[found] if found >= 0 else None
