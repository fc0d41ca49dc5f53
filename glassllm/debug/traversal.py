"""One traversal back from a root: its order, known beforehand, and the visits pulled so far.

Which contribution arrives when depends on the graph alone, so any moment of a traversal can be described before
a gradient is computed. Pulling computes one visit, and keeps what it sent.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from glassllm.autograd import graph
from glassllm.autograd.ops import Array

from .by_number import ByNumber
from .plan import Plan

SUMMED = 64
"""Contributions to one row after which their sum is kept: no sum of the first k is ever a long one."""


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """What a visit had and sent: its complete gradient, and one contribution per input of its op."""

    row: int
    grad: Array | None
    contributions: tuple[Array | None, ...]

    @property
    def size(self) -> int:
        """Elements in all."""
        return sum(array.size for array in (self.grad, *self.contributions) if array is not None)


class Records(ByNumber[VisitRecord]):
    """The visits pulled. They are held in an array, since the garbage collector looks through every list."""

    def __init__(self, order: Sequence[int]):
        self.rows = array("i")
        self._order = order
        self._held = np.empty(len(order), object)  # a visit's gradient and what it sent

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, visit: int) -> VisitRecord:
        grad, *sent = self._held[visit]
        return VisitRecord(self.rows[visit], grad, tuple(sent))

    def gradient(self, visit: int) -> Array | None:
        """What the visit had."""
        found: Array | None = self._held[visit][0]
        return found

    def contribution(self, visit: int, slot: int) -> Array | None:
        """What it sent to one input of its op."""
        found: Array | None = self._held[visit][1 + slot]
        return found

    def append(self, grad: Array | None, contributions: tuple[Array | None, ...]) -> VisitRecord:
        visit = len(self)
        self._held[visit] = (grad, *contributions)
        self.rows.append(self._order[visit])
        return self[visit]


class Traversal:
    """A plan under way. `fresh`: its leaves' sums start from nothing instead of from what earlier ones left."""

    def __init__(self, plan: Plan, seed: Array, fresh: bool = False):
        self.plan = plan
        self.seed = seed
        self.fresh = fresh
        self.records = Records(plan.order)
        self._sums: dict[int, list[Array | None]] = {}  # of a row's first SUMMED contributions, 2 · SUMMED, …
        reached = plan.reach()
        self._steps: Iterator[graph.Visit] = graph.backward_steps(reached.root, seed, reached)
        self.failure: Exception | None = None  # what a rule raised

    @property
    def is_finished(self) -> bool:
        return len(self.records) == len(self.plan)

    @property
    def is_over(self) -> bool:
        """Finished, or stopped for good by a rule that failed."""
        return self.is_finished or self.failure is not None

    def is_visited(self, row: int) -> bool:
        visit = self.plan.visit_of(row)
        return visit is not None and visit < len(self.records)

    def pull(self) -> VisitRecord:
        """Compute the next visit. What a rule raises is raised again by every later pull."""
        if self.failure is not None:
            raise self.failure
        try:
            visit = next(self._steps)
        except Exception as failure:
            self.failure = failure
            raise
        number = len(self.records)
        expected = self.plan.place(number)
        assert visit.place is expected, f"expected a visit of {expected}, got {visit.place}"
        record = self.records.append(visit.grad, visit.contributions)
        self._keep_sums(number)
        return record

    def _keep_sums(self, visit: int) -> None:
        """Keep the sums of rows that have got SUMMED more contributions in this visit."""
        for k, target in enumerate(self.plan.targets(visit), 1):
            if self.plan.edge_count(target) >= SUMMED:
                delivered = self.plan.delivered(target, visit, k)
                if delivered % SUMMED == 0:
                    self._sums.setdefault(target, []).append(self._sum(target, delivered))

    def contribution(self, edge: int) -> Array | None:
        """What came by an edge whose visit has been pulled."""
        visit, slot = self.plan.sender(edge)
        return self.records.contribution(visit, slot)

    def gradient(self, row: int, delivered: int) -> Array | None:
        """The sum of the first `delivered` contributions into `row`, bit for bit as the traversal sums them."""
        if not delivered:
            return None
        visit = self.plan.visit_of(row)
        if visit is not None and visit < len(self.records) and delivered == self.plan.edge_count(row):
            return self.records.gradient(visit)
        return self.seed if row == self.plan.root else self._sum(row, delivered)

    def _sum(self, row: int, delivered: int) -> Array | None:
        kept = self._sums.get(row, [])[: delivered // SUMMED]
        total = kept[-1] if kept else None
        for edge in self.plan.arriving(row)[len(kept) * SUMMED : delivered]:
            visit, slot = self.plan.sender(edge)
            if visit >= len(self.records):
                break
            array = self.records.contribution(visit, slot)
            if array is not None:
                total = array if total is None else np.asarray(total + array)
        return total
