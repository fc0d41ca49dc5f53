"""A graph as it is drawn: items, each a chip that stands for rows of the tape, and the edges between them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from glassllm.debug.snapshot import TapeView

ItemKind = Literal["group", "event", "node", "note", "leaf"]
Use = tuple[int, int]  # (consumer row, input slot)


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


@dataclass(frozen=True)
class Graph:
    """Items in execution order and the edges between them, each from a lower index to a higher one."""

    items: tuple[Item, ...]
    edges: tuple[Edge, ...]
    by_row: "RowIndex"

    def item_of(self, row: int) -> int | None:
        """The item that stands for a row; for a folded weight the first that uses it; None for no part of it."""
        return self.by_row.item_of(row)

    @cached_property
    def into(self) -> tuple[tuple[int, ...], ...]:
        """Edges into each item."""
        return _by_item([edge.target for edge in self.edges], len(self.items))

    @cached_property
    def out_of(self) -> tuple[tuple[int, ...], ...]:
        """Edges out of each item, nearest target first."""
        ends = sorted(range(len(self.edges)), key=lambda e: self.edges[e].target)
        found: list[list[int]] = [[] for _ in self.items]
        for e in ends:
            found[self.edges[e].source].append(e)
        return tuple(map(tuple, found))

    def first_row(self, item: int) -> int:
        """The first event that an item stands for, or its first row."""
        rows, tape = self.items[item].rows, self.by_row.tape
        return next((row for row in rows if tape.rows[row].event >= 0), rows[0])


def _by_item(ends: list[int], count: int) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in range(count)]
    for edge, item in enumerate(ends):
        found[item].append(edge)
    return tuple(map(tuple, found))


@dataclass(frozen=True)
class RowIndex:
    """Which item a row belongs to, found by its forward place."""

    tape: TapeView
    place_of: Sequence[int]
    starts: list[int]
    owners: list[int]
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
