"""What is visible of a recording: one item per chip, and the edges between chips.

A recording is cut into sections, each a run of forward places: a block, a scope, or a moment outside both. A
section is folded into one item unless it is open; inside an open one every event is an item, and an open event
shows its nodes. Weights are folded into what uses them. All runs follow execution order, so edges go forward.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, groupby

from glassllm.debug.snapshot import TapeView

from .columns import Columns
from .items import Edges, Graph, Item, Items, RowIndex, Use

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
        self.columns = Columns(tape)
        self.forward, self.place_of = self.columns.forward, self.columns.place_of
        self.has_events = bool(tape.events)
        events = (self.columns.is_event[row] for row in self.forward)
        self._events_before = array("i", accumulate(events, initial=0))  # each place
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
            run = self._run_of(row)
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

    def _run_of(self, row: int) -> tuple[str, str]:
        """The group of a row, and what it stands in where there is none."""
        scope = self.columns.scopes[row]
        if self.columns.is_note[row]:
            return "", scope or self.rows[row].name
        group = group_of(scope, self.has_events)
        return group, "" if group else scope

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

    def size(self, open_keys: frozenset[str] = frozenset()) -> int:
        """About how many items that graph has, at most; known without making it."""
        return sum(1 if s.foldable and s.key not in open_keys else s.stop - s.start for s in self.sections)

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
            shared = {leaf for _, leaf in self.shared_leaves}
            found = [
                (source, (row, slot))
                for row in self.forward[section.start : section.stop]
                for slot, source in enumerate(self.columns.inputs(row))
                if self.place_of[source] < section.start and (self.place_of[source] >= 0 or source in shared)
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


@lru_cache(4096)
def group_of(scope: str, has_events: bool) -> str:
    """`blocks.1` for `blocks.1.attn.q`. Without a number none, but the whole scope where there are no events."""
    segments = scope.split(".")
    for i, segment in enumerate(segments):
        if i and segment.isdecimal():
            return ".".join(segments[: i + 1])
    return "" if has_events else scope


def _numbered(group: str) -> tuple[str, int]:
    stem, _, number = group.rpartition(".")
    return (stem, int(number)) if stem and number.isdecimal() else (group, -1)


class _Assembly:
    """One graph while it is put together."""

    def __init__(self, outline: Outline, open_keys: frozenset[str]):
        self.outline, self.open = outline, open_keys
        self.columns = outline.columns
        self.items = Items(self.columns)
        self.folded: dict[int, list[Section]] = {}  # item -> the sections it folds
        self.starts, self.owners = array("i"), array("i")  # items that stand at forward places, by the first
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
        index = RowIndex(self.outline.tape, self.outline.place_of, self.starts, self.owners, self.items.leaves)
        edges = Edges()
        for target in range(len(self.items)):
            uses: dict[int, list[Use]] = {}
            for row, use in self._inputs(target):
                place = self.outline.place_of[row]
                source = self.items.leaves.get(row) if place < 0 else index.at(place)
                if source is not None and source != target:
                    uses.setdefault(source, []).append(use)
            for source, those in uses.items():
                edges.add(source, target, those)
        return Graph(self.items, edges, index)

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
        self._place(start)
        self.items.add(item)

    def _place(self, start: int) -> None:
        """The next item stands at the forward places from here on."""
        self.starts.append(start)
        self.owners.append(len(self.items))

    def _add_leaves(self, start: int, stop: int) -> None:
        """Items for the shared leaves that are first used at these places, unless they are used nowhere else."""
        while self.next_shared is not None and self.next_shared[0] < stop:
            leaf = self.next_shared[1]
            uses = self.outline.tape.consumers(leaf)
            if any(not start <= self.outline.place_of[row] < stop for row, _ in uses):
                self.items.leaves[leaf] = len(self.items)
                self.items.add(Item(f"#{leaf}", "leaf", self.columns.rows[leaf].name, (leaf,), leaf))
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
        return next((row for row in reversed(rows) if self.columns.is_event[row]), rows[-1])

    def _open(self, section: Section) -> None:
        """An item per event of the section, and per node that stands in nothing narrower than the section."""
        group = section.key if section.foldable else ""
        prefix = _shown(section.key) if group else ""
        places = range(section.start, section.stop)
        for scope, run in groupby(places, key=self._scope_at):
            chip = list(run)
            if self.columns.is_note[self.outline.forward[chip[0]]]:
                for place in chip:
                    row = self.columns.rows[self.outline.forward[place]]
                    self._add(Item(f"#{row.id}", "note", row.name, (row.id,), row.id, group=group), place)
            elif scope in ("", prefix) or scope in self.open:
                self._nodes(chip, group)
            else:
                self._event(chip, scope, prefix, group)

    def _scope_at(self, place: int) -> str:
        return self.columns.scopes[self.outline.forward[place]]

    def _event(self, places: list[int], scope: str, prefix: str, group: str) -> None:
        rows = self.outline.forward[places[0] : places[-1] + 1]
        self._add_leaves(places[0], places[-1] + 1)
        name = scope.removeprefix(f"{prefix}.") if prefix else scope
        weights = self.items.weights(rows)
        item = Item(scope, "event", name, rows, self._boundary(rows), weights=weights, group=group)
        self._add(item, places[0])

    def _nodes(self, places: list[int], group: str) -> None:
        for place in places:
            self._add_leaves(place, place + 1)
            self._place(place)
            self.items.add_node(self.outline.forward[place], group)

    def _inputs(self, target: int) -> Iterable[tuple[int, Use]]:
        """(row, use) of every input of an item."""
        if (folded := self.folded.get(target)) is not None:
            return [pair for section in folded for pair in self.outline.crossing(section)]
        rows = self.items.rows(target)
        return [(source, (row, slot)) for row in rows for slot, source in enumerate(self.columns.inputs(row))]


def _shown(key: str) -> str:
    """A key without the place that tells a second run of one scope from the first."""
    return key.partition("@")[0]
