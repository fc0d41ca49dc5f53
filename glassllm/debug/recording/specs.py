"""What a recording says besides numbers: rows, traversals, and how much memory they need."""

import math
from dataclasses import dataclass
from typing import Any

from glassllm.autograd.graph import gradient_dtype
from glassllm.autograd.ops import Op
from glassllm.debug.snapshot import Event, Kind, Origin, Position

from .encoding import Json, Member, Ref

VISIT_BYTES = 500  # what planning one visit takes besides its arrays
RESULT = -1  # the slot of a node's own result among the arrays it used
MOVING = ("where", "reshape", "transpose", "getitem", "concat")  # ops whose results may carry a mask


@dataclass(frozen=True, slots=True)
class RowSpec:
    """One row. `op` None: a custom op, without a rule here. `is_place`: a leaf that may take a gradient.

    Of a tracked node, `uncarried` are the input slots without a gradient though their row has one, and `used`
    the arrays by slot (RESULT: its own) that differ from their rows'.
    """

    kind: Kind
    name: str
    scope: str
    array: Ref
    inputs: tuple[int, ...] = ()
    op: Op | None = None
    attrs: Json = None
    saved: tuple[Ref, ...] = ()
    tracked: bool = False
    parameter: bool = False
    is_place: bool = False
    uncarried: frozenset[int] = frozenset()
    used: tuple[tuple[int, Ref], ...] = ()
    made_at: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class TraversalSpec:
    """One traversal: how many of its visits were pulled, and what custom nodes sent in them, by row."""

    root: int
    seed: Ref
    fresh: bool
    visits: int
    sent: tuple[tuple[int, tuple[Ref | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that a recording says besides numbers. `created`: tracked nodes, oldest first."""

    facts: dict[str, Any]
    members: list[Member]
    rows: list[RowSpec]
    events: list[Event]
    leaves: list[int]
    created: list[int]
    traversals: list[TraversalSpec]
    position: Position
    selection: int
    fresh: bool
    vocabulary: tuple[Ref, Ref] | None
    chosen: tuple[int, Ref | None] | None  # where traversals start unless told, and their seed (None: ones)

    def inputs_of(self, row: RowSpec) -> list[Ref]:
        """The arrays that a node's op took."""
        used = dict(row.used)
        return [used.get(slot, self.rows[source].array) for slot, source in enumerate(row.inputs)]

    def result_of(self, row: RowSpec) -> Ref:
        return dict(row.used).get(RESULT, row.array)

    def is_carried(self, row: RowSpec, slot: int) -> bool:
        """Whether a tracked node sends a gradient to this input."""
        source = self.rows[row.inputs[slot]]
        return (source.tracked or source.is_place) and slot not in row.uncarried

    def carried(self, row: int) -> list[int]:
        """The rows that a tracked node's visit sends to, in order."""
        spec = self.rows[row]
        return [source for slot, source in enumerate(spec.inputs) if self.is_carried(spec, slot)]

    def needed_bytes(self) -> int:
        """What opening takes in memory: the arrays, the masks, and what the visits send."""
        members = sum(member.nbytes for member in self.members)
        masks = sum(math.prod(row.array.shape) for row in self.rows if row.op and row.op.name in MOVING)
        sent = sorted((self._sent_bytes(row) for row in self.rows if row.tracked), reverse=True)
        visits = sum(sum(sent[: t.visits]) + VISIT_BYTES * len(self.rows) for t in self.traversals)
        return members + masks + visits

    def _sent_bytes(self, row: RowSpec) -> int:
        arrays = self.inputs_of(row)
        carried = [ref for slot, ref in enumerate(arrays) if self.is_carried(row, slot)]
        return sum(
            math.prod(ref.shape) * gradient_dtype(self.members[ref.member].dtype).itemsize for ref in carried
        )
