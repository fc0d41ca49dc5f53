"""The order of a traversal's visits, known before a gradient is computed: it depends on the graph alone.

Visits and edges are numbered in the order in which they come, and kept as plain numbers: the plan of a hundred
thousand visits is small, and any moment of it is found without a walk.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from glassllm.autograd.graph import Node, Place, Reach
from glassllm.autograd.ops import Array

from .rows import Rows
from .slices import LOOK, Slice, Sliced

Numbers: TypeAlias = "array[int]"


class Plan:
    """The visits from one root, in row ids, and where each row's contributions come from."""

    def __init__(self, root: int, places: Sequence[Place]):
        self.root = root
        self.order: Sequence[int] = ()
        self._places = places
        self._first_edge: Numbers  # of each visit, then the number of edges
        self._slots = array("i")  # of each edge: the consumer's input
        self._targets = array("i")  # of each edge: the row it leads to
        self._visit_of: Numbers  # of each row; −1: not reached
        self._arriving: Numbers  # edges by target, those of one target in order
        self._first_arrival: Numbers  # of each row, then the number of edges

    @classmethod
    def making(cls, root: int, rows: Rows, newest_first: Sequence[int], places: Sequence[Place]) -> "Sliced[Plan]":
        """Make the plan in slices. `newest_first` are the graph's nodes, `places` are those of all rows in it."""
        plan = cls(root, places)
        reached = bytearray(len(rows))
        reached[root] = True
        nodes, ends, pace = [], [], Slice(LOOK)
        for done, row in enumerate(newest_first):
            if reached[row]:
                plan._add_edges(rows.inputs(row), places[row], reached)
                nodes.append(row)
                ends.append(len(plan._targets))
            if pace.is_full():
                yield done, len(newest_first)
        plan._put_in_order(np.array(nodes, np.int64), np.array(ends, np.int64), len(rows))
        return plan

    def _add_edges(self, sources: Sequence[int], node: Node, reached: bytearray) -> None:
        for slot, place in enumerate(node.inputs):
            if place is not None:
                self._slots.append(slot)
                self._targets.append(sources[slot])
                reached[sources[slot]] = True

    def _put_in_order(self, nodes: Array, ends: Array, rows: int) -> None:
        """Put each leaf behind the node that sends its last contribution, and sort the edges by target."""
        targets = np.array(self._targets, np.int64)
        edges = len(targets)
        last = np.full(rows, -1)
        last[targets] = np.arange(edges)  # of several edges to one row the last stays
        last[nodes] = -1
        leaves = np.flatnonzero(last >= 0) if len(nodes) else np.array([self.root])
        after = np.searchsorted(ends, last[leaves], side="right")
        moments = np.concatenate([np.arange(len(nodes)) * (edges + 2), after * (edges + 2) + last[leaves] + 2])
        order = np.concatenate([nodes, leaves])[np.argsort(moments)]
        sent = np.zeros(rows, np.int64)
        sent[nodes] = np.diff(ends, prepend=0)
        visit_of = np.full(rows, -1)
        visit_of[order] = np.arange(len(order))
        self.order = _numbers(order)
        self._first_edge = _numbers(np.concatenate([[0], np.cumsum(sent[order])]))
        self._visit_of = _numbers(visit_of)
        self._arriving = _numbers(np.argsort(targets, kind="stable"))
        self._first_arrival = _numbers(np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=rows))]))

    def __len__(self) -> int:
        return len(self.order)

    def reach(self) -> Reach:
        """The same as the graph's own account of what its traversal gets to."""
        places = [self._places[row] for row in self.order]
        counts = np.diff(self._first_arrival)[self.order].tolist()
        nodes = [place for place in places if isinstance(place, Node)]
        return Reach(self._places[self.root], nodes, dict(zip(places, counts, strict=True)))

    # Visits

    def visit_of(self, row: int) -> int | None:
        """The visit of a row; None where it is not reached."""
        visit = self._visit_of[row] if row < len(self._visit_of) else -1
        return None if visit < 0 else visit

    def place(self, visit: int) -> Place:
        """What is visited, in the graph."""
        return self._places[self.order[visit]]

    def sends(self, visit: int) -> int:
        """How many contributions a visit sends."""
        return self._first_edge[visit + 1] - self._first_edge[visit]

    def targets(self, visit: int) -> Sequence[int]:
        """The rows that a visit sends to, in order of delivery."""
        return self._targets[self._first_edge[visit] : self._first_edge[visit + 1]]

    def has_sent(self, visit: int, slot: int, edges: int) -> bool:
        """Whether a visit's contribution from this input slot is among the first `edges` it sends."""
        first = self._first_edge[visit]
        edge = bisect_left(self._slots, slot, first, first + min(edges, self.sends(visit)))
        return edge < first + min(edges, self.sends(visit)) and self._slots[edge] == slot

    # Edges

    def edge_count(self, row: int) -> int:
        """The edges into a row; the root counts its seed as one."""
        return self._first_arrival[row + 1] - self._first_arrival[row] + (row == self.root)

    def arriving(self, row: int) -> Sequence[int]:
        """The edges into a row, in order of arrival; the seed is none."""
        return self._arriving[self._first_arrival[row] : self._first_arrival[row + 1]]

    def sender(self, edge: int) -> tuple[int, int]:
        """The visit that an edge comes from, and the slot of its op."""
        return bisect_right(self._first_edge, edge, hi=len(self.order)) - 1, self._slots[edge]

    def delivered(self, row: int, visit: int, edges: int) -> int:
        """How many contributions a row has once a visit has sent `edges` of its own; the seed counts."""
        first, end = self._first_arrival[row], self._first_arrival[row + 1]
        passed = self._first_edge[visit] + edges
        return bisect_left(self._arriving, passed, first, end) - first + (row == self.root)


def _numbers(values: Array) -> Numbers:
    return array("i", values.astype(np.int32).tobytes())
