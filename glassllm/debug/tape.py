"""The recording of one run: rows, events, and the traversals made from it.

It only ever grows. It holds every array, and edges of its own, so a run that built no graph is recorded too;
such rows are not tracked and have no visits.
"""

from array import array
from collections.abc import Iterable, MutableMapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from glassllm.autograd.graph import Node, Place, seed_for
from glassllm.autograd.ops import Array

from .health import HealthTable, health_of, norm_of
from .kept import Kept
from .plan import Plan
from .rows import Rows
from .slices import Sliced, finished
from .snapshot import Event, GradientState, Health, Position, Row, Staleness
from .traversal import Traversal

SUMMED_AT_ONCE = 4096  # elements of a leaf's gradient whose norm is counted when somebody asks for it


class Tape:
    """A recording. A `TapeView`, and what a recorder and a session alone do with it: grow it."""

    is_recording = False  # True: opened from a file, without the model or program that made it
    traversal_type: type[Traversal] = Traversal

    def __init__(self) -> None:
        self.rows = Rows()
        self.events: list[Event] = []
        self.forward = array("i")
        self.leaves: list[int] = []
        self.traversals: list[Traversal] = []
        self.row_of: MutableMapping[Place, int] = {}  # the program's nodes and leaf Tensors
        self.place_of: list[Place] = []  # of each row; None for those without
        self.forward_place = array("i")  # of each row; −1 for leaves
        self.nodes = array("i")  # their rows, by number from 1
        self.kept = Kept()
        self.used: dict[int, tuple[Array, ...]] = {}  # what a row's op took, where its inputs' rows show another
        self.chosen_seed: Array | None = None  # of a traversal from the default root; None: ones
        self.chosen_root: int | None = None  # None: see default_root
        self._health = HealthTable()
        self._stale: dict[int, Staleness] = {}  # as far as was looked
        self._examined = -1  # the row examined last
        self._counted: tuple[int, Position | None, Health | None] = (-1, None, None)  # the gradient counted last
        self._plans: dict[int, Plan] = {}  # by root
        self._norms: dict[tuple[int, int, int], float] = {}
        self._seen: Self | None = None  # what was handed out last, see so_far

    # Growing

    def add(self, row: Row, place: Place | None = None, known_as: Place | None = None) -> int:
        """Append a row, which takes a forward place unless it is a leaf.

        `place` is its place in the graph that traversals walk, `known_as` the program's own where that differs.
        """
        assert row.id == len(self.rows), f"expected row {len(self.rows)}, got {row.id}"
        self.rows.append(row)
        self.forward_place.append(-1 if row.kind == "leaf" else len(self.forward))
        if row.kind != "leaf":
            self.forward.append(row.id)
        if row.kind == "node":
            self.nodes.append(row.id)
        self.place_of.append(place)
        if place is not None:
            self.row_of[place if known_as is None else known_as] = row.id
        if isinstance(place, Node):
            self._track(row.inputs, place.inputs)
        return row.id

    def _track(self, sources: Iterable[int], places: Iterable[Place]) -> None:
        """A leaf takes a gradient once a tracked node uses it: under no_grad none does."""
        for source, place in zip(sources, places, strict=True):
            if place is not None and not self.rows.is_tracked(source):
                self.change(source, tracked=True)

    def change(self, row: int, **fields: Any) -> None:
        """Say more of a row while its run is being recorded."""
        self.rows[row] = replace(self.rows[row], **fields)

    def open_on(self, root: int, seed: Array | None = None) -> None:
        """Let traversals start from this row unless told otherwise; before anybody asks where."""
        self.chosen_root, self.chosen_seed = root, seed

    def begin(self, root: int, seed: Array | None = None, fresh: bool = False) -> Traversal:
        """Append a traversal from a tracked row; without a seed, with the one chosen for this root, or ones."""
        if seed is None and root == self.chosen_root:
            seed = self.chosen_seed
        traversal = self.traversal_type(self.plan_from(root), seed_for(self.rows[root].array, seed), fresh)
        self.traversals.append(traversal)
        return traversal

    @cached_property
    def default_root(self) -> int | None:
        """Where a traversal starts unless told: what was chosen, else the loss, else the last tracked node."""
        if self.chosen_root is not None:
            return self.chosen_root
        losses = [e.row for e in self.events if e.step == "loss" and self.rows.is_tracked(e.row)]
        if losses:
            return losses[-1]
        return next((row for row in reversed(self.forward) if self.rows.is_tracked(row)), None)

    @property
    def default_plan(self) -> Plan | None:
        return None if self.default_root is None else self.plan_from(self.default_root)

    def plan_from(self, root: int) -> Plan:
        """The plan of traversals from this row, made at once unless it was made before."""
        return finished(self.planning(root))

    def planning(self, root: int) -> Sliced[Plan]:
        """The same in slices."""
        if root not in self._plans:
            self._plans[root] = yield from Plan.making(root, self.rows, self.newest_first, self.place_of)
        return self._plans[root]

    @cached_property
    def newest_first(self) -> Sequence[int]:
        """The rows of the graph's nodes, in the order in which every traversal meets them."""
        made = [(node.index, row) for row in self.forward if isinstance(node := self.place_of[row], Node)]
        return array("i", [row for _, row in sorted(made, reverse=True)])

    # Reading

    def so_far(self) -> Self:
        """All of this as it is seen now: traversals begun later are none of its own, so that it says of a position
        what it said before."""
        if self._seen is None or len(self._seen.traversals) != len(self.traversals):
            self._seen = copy(self)
            self._seen.traversals = list(self.traversals)
        return self._seen

    @property
    def node_count(self) -> int:
        return len(self.nodes)

    def is_constant(self, row: int) -> bool:
        """Whether a row was given and takes no gradient whatever the run."""
        rows = self.rows
        return self.place_of[row] is None and rows.kind(row) == "leaf" and not rows.is_parameter(row)

    def plan(self, traversal: int) -> Plan | None:
        """The plan of a traversal; of the first, while there is none, the one it would have by itself."""
        if traversal == 1 and not self.traversals:
            return self.default_plan
        return self.traversals[traversal - 1].plan if 1 <= traversal <= len(self.traversals) else None

    def consumers(self, row: int) -> Sequence[tuple[int, int]]:
        return self.rows.uses(row)

    def visits(self, traversal: int) -> Sequence[int]:
        return self.traversals[traversal - 1].records.rows if 1 <= traversal <= len(self.traversals) else ()

    def visit_count(self, traversal: int) -> int:
        plan = self.plan(traversal)
        return 0 if plan is None else len(plan)

    def root(self, traversal: int) -> int:
        plan = self.plan(traversal)
        return -1 if plan is None else plan.root

    def row_at(self, at: Position) -> int:
        """The row that is current at a position."""
        plan = self.plan(at.traversal)
        return self.forward[at.place] if plan is None else plan.order[at.place]

    def is_recorded(self, row: int, at: Position) -> bool:
        return at.traversal > 0 or self.forward_place[row] <= at.place

    def gradient_state(self, row: int, at: Position) -> GradientState:
        plan, takes = self.plan(at.traversal or 1), self.rows[row].tracked
        if plan is None or not takes:
            return GradientState(takes, 0, 0)
        return GradientState(True, self._delivered(row, at), plan.edge_count(row))

    def _delivered(self, row: int, at: Position) -> int:
        plan = self.plan(at.traversal)
        return 0 if plan is None else plan.delivered(row, at.place, at.edges)

    def is_carried(self, consumer: int, slot: int, at: Position) -> bool:
        plan = self.plan(at.traversal)
        visit = None if plan is None else plan.visit_of(consumer)
        if plan is None or visit is None or visit > at.place:
            return False
        return plan.has_sent(visit, slot, at.edges if visit == at.place else plan.sends(visit))

    def gradient(self, row: int, at: Position) -> Array | None:
        """The contributions delivered so far, summed; a leaf's sum goes on from what earlier traversals left."""
        if at.traversal == 0 or at.traversal > len(self.traversals):
            return None
        now = self.traversals[at.traversal - 1].gradient(row, self._delivered(row, at))
        left = self.left_by_earlier(row, at.traversal) if self.rows[row].kind == "leaf" else None
        return now if left is None else left if now is None else np.asarray(left + now)

    def left_by_earlier(self, leaf: int, traversal: int) -> Array | None:
        """What the traversals before this one left in a leaf; None where it starts from nothing."""
        total: Array | None = None
        for earlier, following in zip(self.traversals, self.traversals[1:traversal], strict=False):
            grad = earlier.gradient(leaf, earlier.plan.edge_count(leaf))
            if grad is not None and earlier.is_visited(leaf):
                total = grad if total is None else np.asarray(total + grad)
            if following.fresh:
                total = None
        return total

    def gradient_norm(self, row: int, at: Position) -> float | None:
        key = (row, at.traversal, self._delivered(row, at))
        if key not in self._norms and self.rows.arrays[row].size <= SUMMED_AT_ONCE:
            self._count_norm(row, at)
        return self._norms.get(key)

    def count_norms(self, at: Position) -> None:
        """Count the norms of the large leaves' gradients, which are not counted when somebody asks for them."""
        for row in self._large_leaves if at.traversal else ():
            if (row, at.traversal, self._delivered(row, at)) not in self._norms:
                self._count_norm(row, at)

    def _count_norm(self, row: int, at: Position) -> None:
        gradient = self.gradient(row, at)
        if gradient is not None:
            self._norms[row, at.traversal, self._delivered(row, at)] = norm_of(gradient)

    @cached_property
    def _large_leaves(self) -> list[int]:
        return [row for row in self.leaves if self.rows.arrays[row].size > SUMMED_AT_ONCE]

    def inputs(self, row: int) -> tuple[Array, ...]:
        """The arrays that the row's op took, as they were then."""
        return self.used.get(row) or tuple(map(self.rows.arrays.__getitem__, self.rows.inputs(row)))

    def staleness(self, row: int) -> Staleness:
        return self._stale.get(row, "")

    def health(self, row: int) -> Health | None:
        return self._health.get(row, self.rows.arrays[row])

    def is_counted(self, row: int) -> bool:
        """Whether its statistics are known."""
        return row in self._health

    def count_health(self, row: int) -> Health:
        """The row's statistics, counted now unless they were before."""
        known = self.health(row)
        if known is None:
            known = health_of(self.rows.arrays[row], self.rows.masked(row))
            self._health.put(row, len(self.rows), known)
        return known

    def gradient_health(self, row: int, at: Position, gradient: Array | None, most: int) -> Health | None:
        """The statistics of a row's gradient: counted last, or now if it has at most so many elements."""
        if gradient is None or (gradient.size > most and self._counted[:2] != (row, at)):
            return None
        return self.count_gradient(row, at, gradient)

    def count_gradient(self, row: int, at: Position, gradient: Array | None) -> Health | None:
        """The same, however large it is."""
        if self._counted[:2] != (row, at):
            self._counted = row, at, None if gradient is None else health_of(gradient)
        return self._counted[2]

    def examine(self, row: int) -> None:
        """Count the row's statistics, and find out whether a user has written into it; nothing twice in a row."""
        if row != self._examined:
            self._examined = row
            self.count_health(row)
            self._stale[row] = self.kept.staleness(row)
