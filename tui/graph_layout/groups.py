"""What is visible of a recording: one item per chip, and the edges between chips.

A recording is cut into sections, each a run of forward places: a block, a scope, or a moment outside both. A
section is folded into one item unless it is open; inside an open one every event is an item, and an open event
shows its nodes. Weights are folded into what uses them. All runs follow execution order, so edges go forward.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby

from glassllm.debug.snapshot import Row, TapeView

from .items import Edge, Graph, Item, RowIndex, Use

SHARED_USES = range(2, 9)
"""A script's leaf with this many uses is an item of its own; with others it is named where it is used."""


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
        events = (self.rows[row].event >= 0 for row in self.forward)
        self._events_before = list(accumulate(events, initial=0))  # each place
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
            if not runs or runs[-1][:2] != run:
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

    def count(self, start: int, stop: int) -> int:
        """Events at these places, or nodes in a recording without events."""
        return self._events_before[stop] - self._events_before[start] if self.has_events else stop - start

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
                self._add_leaves(first.start, folded[-1].stop)
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
        self.index.starts.append(start)
        self.index.owners.append(len(self.items))
        self.items.append(item)

    def _add_leaves(self, start: int, stop: int) -> None:
        """Items for the shared leaves that are first used at these places, unless they are used nowhere else."""
        while self.next_shared is not None and self.next_shared[0] < stop:
            leaf = self.next_shared[1]
            uses = self.outline.tape.consumers(leaf)
            if any(not start <= self.outline.place_of[row] < stop for row, _ in uses):
                self.index.leaves[leaf] = len(self.items)
                self.items.append(Item(f"#{leaf}", "leaf", self.rows[leaf].name, (leaf,), leaf))
            self.next_shared = next(self.shared, None)

    def _group(self, folded: list[Section]) -> Item:
        first, last = folded[0], folded[-1]
        rows = self.outline.forward[first.start : last.stop]
        name = f"{first.stem}.{first.number}–{last.number}" if first is not last else _shown(first.key)
        return Item(
            first.key, "group", name, rows, self._boundary(rows), self.outline.count(first.start, last.stop)
        )

    def _boundary(self, rows: Sequence[int]) -> int:
        """The last row that is an event, else the last."""
        return next((row for row in reversed(rows) if self.rows[row].event >= 0), rows[-1])

    def _open(self, section: Section) -> None:
        """An item per event of the section, and per node that stands in nothing narrower than the section."""
        group = section.key if section.foldable else ""
        prefix = _shown(section.key) if group else ""
        places = range(section.start, section.stop)
        for scope, run in groupby(places, key=lambda place: self._row_at(place).scope):
            chip = list(run)
            if self._row_at(chip[0]).kind == "note":
                for place in chip:
                    row = self._row_at(place)
                    self._add(Item(f"#{row.id}", "note", row.name, (row.id,), row.id, group=group), place)
            elif scope in ("", prefix) or scope in self.open:
                self._nodes(chip, group)
            else:
                self._event(chip, scope, prefix, group)

    def _row_at(self, place: int) -> Row:
        return self.rows[self.outline.forward[place]]

    def _event(self, places: list[int], scope: str, prefix: str, group: str) -> None:
        rows = self.outline.forward[places[0] : places[-1] + 1]
        self._add_leaves(places[0], places[-1] + 1)
        name = scope.removeprefix(f"{prefix}.") if prefix else scope
        item = Item(scope, "event", name, rows, self._boundary(rows), weights=self._weights(rows), group=group)
        self._add(item, places[0])

    def _nodes(self, places: list[int], group: str) -> None:
        for place in places:
            row = self._row_at(place)
            self._add_leaves(place, place + 1)
            weights = self._weights((row.id,))
            self._add(Item(f"#{row.id}", "node", row.name, (row.id,), row.id, weights=weights, group=group), place)

    def _weights(self, rows: Sequence[int]) -> tuple[int, ...]:
        place_of, leaves = self.outline.place_of, self.index.leaves
        found = [source for row in rows for source in self.rows[row].inputs if place_of[source] < 0]
        return tuple(dict.fromkeys(leaf for leaf in found if leaf not in leaves)) if found else ()

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
