"""What is visible of a recording: one item per chip, and the edges between chips.

A recording is cut into sections, each a run of forward places: a block, a scope, or a moment outside both. A
section is folded into one item unless it is open; inside an open one every event is an item, and an open event
shows its nodes. Weights are folded into what uses them. All runs follow execution order, so edges go forward.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from glassllm.debug.snapshot import Row, TapeView

ItemKind = Literal["group", "event", "node", "note", "leaf"]
Use = tuple[int, int]  # (consumer row, input slot)

SHARED_USES = range(2, 9)
"""A script's leaf with this many uses is an item of its own; with others it is named where it is used."""


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


@dataclass(frozen=True, slots=True)
class Section:
    """A run of forward places. `stem` and `number` are `blocks` and 1 of `blocks.1`, number −1 without one."""

    key: str
    stem: str
    number: int
    start: int
    stop: int
    foldable: bool


class Outline:
    """A recording cut into sections, once; a graph of it costs what is open in it.

    It describes the tape as it was: one that has grown needs a new outline.
    """

    def __init__(self, tape: TapeView):
        self.tape = tape
        self.rows = tape.rows
        self.forward = tuple(tape.forward)
        self.has_events = bool(tape.events)
        self.place_of = [-1] * len(self.rows)
        for place, row in enumerate(self.forward):
            self.place_of[row] = place
        self.sections = self._cut()
        self._starts = [section.start for section in self.sections]
        self._crossing: dict[str, tuple[tuple[int, Use], ...]] = {}
        self._graphs: dict[frozenset[str], Graph] = {}

    def _cut(self) -> tuple[Section, ...]:
        """The runs of one group each; a place outside all groups is a section with the rest of its event."""
        sections: list[Section] = []
        seen: set[str] = set()
        runs: list[tuple[str, str, int]] = []  # group, scope where it stands alone, first place
        for place, row in enumerate(self.forward):
            run = self._run_of(self.rows[row])
            if not runs or runs[-1][:2] != run or run == ("", ""):
                runs.append((*run, place))
        stops = [start for _, _, start in runs[1:]] + [len(self.forward)]
        for (group, scope, start), stop in zip(runs, stops, strict=True):
            name = group or scope or f"#{self.forward[start]}"
            key = name if name not in seen else f"{name}@{start}"
            seen.add(name)
            stem, number = _numbered(name) if group else (name, -1)
            sections.append(Section(key, stem, number, start, stop, bool(group)))
        return tuple(sections)

    def _run_of(self, row: Row) -> tuple[str, str]:
        """The group of a row, and what it stands in where there is none."""
        if row.kind == "note":
            return "", row.scope or row.name
        group = group_of(row.scope, self.has_events)
        return group, "" if group else row.scope

    def section_of(self, row: int) -> Section | None:
        """The section that a row is in; a leaf is in that of its first use."""
        if not 0 <= row < len(self.place_of):
            return None
        if (place := self.place_of[row]) < 0:
            uses = self.tape.consumers(row)
            return self.section_of(uses[0][0]) if uses else None
        return self.sections[bisect_right(self._starts, place) - 1]

    def graph(self, open_keys: frozenset[str] = frozenset()) -> Graph:
        """The items and edges visible with these sections and events open; the same object for the same keys."""
        if open_keys not in self._graphs:
            if len(self._graphs) > 32:
                self._graphs.clear()
            self._graphs[open_keys] = _Assembly(self, open_keys).graph()
        return self._graphs[open_keys]

    def crossing(self, section: Section) -> tuple[tuple[int, Use], ...]:
        """(producer, use) for each input that comes from outside a section."""
        if section.key not in self._crossing:
            found = [
                (source, (row, slot))
                for row in self.forward[section.start : section.stop]
                for slot, source in enumerate(self.rows[row].inputs)
                if self.place_of[source] < section.start
            ]
            self._crossing[section.key] = tuple(found)
        return self._crossing[section.key]

    @cached_property
    def shared_leaves(self) -> list[tuple[int, int]]:
        """(place of its first use, leaf) of the leaves that are items of their own, by place."""
        found = [
            (self.place_of[self.tape.consumers(row)[0][0]], row)
            for row in self.tape.leaves
            if not self.rows[row].parameter and len(self.tape.consumers(row)) in SHARED_USES
        ]
        return sorted(found)


def group_of(scope: str, has_events: bool) -> str:
    """`blocks.1` for `blocks.1.attn.q`. Without a number none, but the whole scope where there are no events."""
    segments = scope.split(".")
    for i, segment in enumerate(segments):
        if i and segment.isdigit():
            return ".".join(segments[: i + 1])
    return "" if has_events else scope


def _numbered(group: str) -> tuple[str, int]:
    stem, _, number = group.rpartition(".")
    return (stem, int(number)) if stem and number.isdigit() else (group, -1)


class _Assembly:
    """One graph while it is put together."""

    def __init__(self, outline: Outline, open_keys: frozenset[str]):
        self.outline, self.open = outline, open_keys
        self.rows = outline.rows
        self.items: list[Item] = []
        self.folded: dict[int, list[Section]] = {}  # item -> the sections it folds
        self.index = RowIndex(outline.tape, outline.place_of, [], [], {})
        self.shared = iter(outline.shared_leaves)
        self.next_shared = next(self.shared, None)

    def graph(self) -> Graph:
        for folded in self._runs():
            first = folded[0]
            if self._is_folded(first):
                self._add(self._group(folded), first.start)
                self.folded[len(self.items) - 1] = folded
            else:
                self._open(first)
        edges: dict[tuple[int, int], list[Use]] = {}
        for target in range(len(self.items)):
            for source, use in self._inputs(target):
                if source != target:
                    edges.setdefault((source, target), []).append(use)
        made = tuple(Edge(source, target, tuple(uses)) for (source, target), uses in edges.items())
        return Graph(tuple(self.items), made, self.index)

    def _is_folded(self, section: Section) -> bool:
        return section.foldable and section.key not in self.open

    def _runs(self) -> Iterator[list[Section]]:
        """The sections one by one, folded neighbours with following numbers together."""
        run: list[Section] = []
        for section in self.outline.sections:
            follows = run and section.stem == run[-1].stem and 0 <= run[-1].number == section.number - 1
            if follows and self._is_folded(section) and self._is_folded(run[-1]):
                run.append(section)
            else:
                if run:
                    yield run
                run = [section]
        if run:
            yield run

    def _add(self, item: Item, start: int) -> None:
        """Append an item that begins at a place, before it the shared leaves that are first used in it."""
        while self.next_shared is not None and self.next_shared[0] < start + max(len(item.rows), 1):
            leaf = self.next_shared[1]
            uses = self.outline.tape.consumers(leaf)
            if any(not start <= self.outline.place_of[row] < start + len(item.rows) for row, _ in uses):
                self.index.leaves[leaf] = len(self.items)
                self.items.append(Item(f"#{leaf}", "leaf", self.rows[leaf].name, (leaf,), leaf))
            self.next_shared = next(self.shared, None)
        self.index.starts.append(start)
        self.index.owners.append(len(self.items))
        self.items.append(item)

    def _group(self, folded: list[Section]) -> Item:
        first, last = folded[0], folded[-1]
        rows = self.outline.forward[first.start : last.stop]
        name = f"{first.stem}.{first.number}–{last.number}" if first is not last else _shown(first.key)
        return Item(first.key, "group", name, rows, self._boundary(rows), self._count(rows))

    def _boundary(self, rows: Sequence[int]) -> int:
        """The last row that is an event, else the last."""
        return next((row for row in reversed(rows) if self.rows[row].event >= 0), rows[-1])

    def _count(self, rows: Sequence[int]) -> int:
        if not self.outline.has_events:
            return len(rows)
        return sum(self.rows[row].event >= 0 for row in rows)

    def _open(self, section: Section) -> None:
        """An item per event of the section, per node where a node stands in nothing narrower than the section."""
        group = section.key if section.foldable else ""
        prefix = _shown(section.key) if group else ""
        start = section.start
        for stop in range(start + 1, section.stop + 1):
            scope = self.rows[self.outline.forward[start]].scope
            if stop < section.stop and scope != prefix and self._same_run(start, stop):
                continue
            self._chip(start, stop, scope, prefix, group)
            start = stop

    def _same_run(self, start: int, place: int) -> bool:
        first, row = (self.rows[self.outline.forward[at]] for at in (start, place))
        return first.scope == row.scope and "note" not in (first.kind, row.kind)

    def _chip(self, start: int, stop: int, scope: str, prefix: str, group: str) -> None:
        rows = self.outline.forward[start:stop]
        first = self.rows[rows[0]]
        key = scope if scope not in ("", prefix) else f"#{rows[0]}"
        if first.kind == "note":
            self._add(Item(f"#{rows[0]}", "note", first.name, rows, rows[0], group=group), start)
        elif key == scope and key not in self.open:
            name = scope.removeprefix(f"{prefix}.") if prefix else scope
            item = Item(key, "event", name, rows, self._boundary(rows), weights=self._weights(rows), group=group)
            self._add(item, start)
        else:
            for place, row in enumerate(rows, start):
                name, weights = self.rows[row].name, self._weights((row,))
                self._add(Item(f"#{row}", "node", name, (row,), row, weights=weights, group=group), place)

    def _weights(self, rows: Sequence[int]) -> tuple[int, ...]:
        leaves = (source for row in rows for source in self.rows[row].inputs if self.outline.place_of[source] < 0)
        return tuple(dict.fromkeys(leaf for leaf in leaves if leaf not in self.index.leaves))

    def _inputs(self, target: int) -> Iterator[tuple[int, Use]]:
        """(source item, use) of every input of an item that another item makes."""
        folded = self.folded.get(target)
        pairs = (
            [pair for section in folded for pair in self.outline.crossing(section)]
            if folded
            else self._uses(self.items[target].rows)
        )
        for source, use in pairs:
            place = self.outline.place_of[source]
            made_by = self.index.leaves.get(source) if place < 0 else self.index.at(place)
            if made_by is not None:
                yield made_by, use

    def _uses(self, rows: Sequence[int]) -> list[tuple[int, Use]]:
        return [(source, (row, slot)) for row in rows for slot, source in enumerate(self.rows[row].inputs)]


def _shown(key: str) -> str:
    """A key without the place that tells a second run of one scope from the first."""
    return key.partition("@")[0]
