"""One traversal back from a root: its order, known beforehand, and the visits pulled so far.

Which contribution arrives when depends on the graph alone, so any moment of a traversal can be described before
a gradient is computed. Pulling computes one visit, and keeps what it sent.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from glassllm.autograd import graph
from glassllm.autograd.ops import Array


@dataclass(frozen=True, slots=True)
class Edge:
    """One contribution of a visit: from which input slot of the consumer, to which row."""

    slot: int
    target: int


class Plan:
    """The order of the visits from one root, in row ids, and where each row's contributions come from."""

    def __init__(self, root: graph.Place, rows: Mapping[graph.Place, int]):
        self.reached = graph.reach(root)
        self.root = rows[root]
        self.order: list[int] = []
        self.edges: list[list[Edge]] = []  # per visit, in order of delivery
        self.arrivals: dict[int, list[tuple[int, int]]] = {}  # row -> (visit, k): its k-th edge, from 1
        waiting = dict(self.reached.edges)
        for node in self.reached.nodes:
            self._visit(rows[node], [Edge(i, rows[p]) for i, p in enumerate(node.inputs) if p is not None])
            for place in node.inputs:
                if place is None:
                    continue
                waiting[place] -= 1
                if not waiting[place] and not isinstance(place, graph.Node):
                    self._visit(rows[place], [])
        if not self.order:  # the root is a leaf
            self._visit(self.root, [])
        self.place_of = {row: place for place, row in enumerate(self.order)}

    def _visit(self, row: int, edges: list[Edge]) -> None:
        for k, edge in enumerate(edges, 1):
            self.arrivals.setdefault(edge.target, []).append((len(self.order), k))
        self.order.append(row)
        self.edges.append(edges)

    def __len__(self) -> int:
        return len(self.order)

    def edge_count(self, row: int) -> int:
        """The edges into a row; the root counts its seed as one."""
        return len(self.arrivals.get(row, ())) + (row == self.root)

    def delivered(self, row: int, place: int, edges: int) -> int:
        """How many of them have delivered once visit `place` has sent `edges` contributions."""
        return bisect_right(self.arrivals.get(row, ()), (place, edges)) + (row == self.root)


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """What a visit had and sent: its complete gradient, and one contribution per input of its op."""

    row: int
    grad: Array | None
    contributions: tuple[Array | None, ...]


class Traversal:
    """A plan under way. `fresh`: its leaves' sums start from nothing instead of from what earlier ones left."""

    def __init__(self, plan: Plan, rows: Mapping[graph.Place, int], seed: Array, fresh: bool = False):
        self.plan = plan
        self.seed = seed
        self.fresh = fresh
        self.records: list[VisitRecord] = []
        self.rows: list[int] = []
        self._row_of = rows
        self._steps: Iterator[graph.Visit] = graph.backward_steps(plan.reached.root, seed, plan.reached)
        self._failure: Exception | None = None

    @property
    def is_finished(self) -> bool:
        return len(self.records) == len(self.plan)

    def pull(self) -> VisitRecord:
        """Compute the next visit. What a rule raises is raised again by every later pull."""
        if self._failure is not None:
            raise self._failure
        try:
            visit = next(self._steps)
        except Exception as failure:
            self._failure = failure
            raise
        record = VisitRecord(self._row_of[visit.place], visit.grad, visit.contributions)
        expected = self.plan.order[len(self.records)]
        assert record.row == expected, f"expected a visit of row {expected}, got row {record.row}"
        self.records.append(record)
        self.rows.append(record.row)
        return record

    def contributions(self, row: int) -> list[tuple[int, int, Array | None]]:
        """(visit, slot, array) of every contribution into `row` by the visits pulled, in order of arrival."""
        arrived = []
        for place, k in self.plan.arrivals.get(row, ()):
            if place >= len(self.records):
                break
            slot = self.plan.edges[place][k - 1].slot
            arrived.append((place, slot, self.records[place].contributions[slot]))
        return arrived

    def gradient(self, row: int, delivered: int) -> Array | None:
        """The sum of the first `delivered` contributions into `row`, bit for bit as the traversal sums them."""
        place = self.plan.place_of.get(row)
        if place is None or not delivered:
            return None
        if delivered == self.plan.edge_count(row) and place < len(self.records):
            return self.records[place].grad
        if row == self.plan.root:
            return self.seed
        total: Array | None = None
        for _, _, array in self.contributions(row)[:delivered]:
            if array is not None:
                total = array if total is None else np.asarray(total + array)
        return total
