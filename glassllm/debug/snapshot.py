"""What the session says, as frozen values: a screen, a script or a test needs nothing else.

A snapshot shares the tape's immutable arrays. A row is one thing with a tensor: a node, a leaf, or a note (an
array the model named that no op made). Rows are numbered from 0 in the order they were recorded.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from glassllm.autograd.ops import Array, Op
from glassllm.trace import scope_of

Kind = Literal["node", "leaf", "note"]
Tone = Literal["text", "muted", "bright", "fwd", "bwd", "stop"]
Staleness = Literal["", "since", "between", "lost"]
"""A user wrote into a row's array: since the run used it; between two uses, of which the first is shown; or since,
and what the run used is lost: what is there now is shown."""
Said = tuple[tuple[str, Tone], ...]  # one status line: pieces of text, each with what its colour means


class CommandError(ValueError):
    """A command that cannot be done: one line saying why, and what to do instead."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where in time: traversal 0 is the forward run; 1, 2, … are the traversals back, as they were asked for.

    `place` counts forward nodes and notes, or a traversal's visits, from 0. `edges` is how many contributions of
    that visit are delivered; 0 in the forward run. Positions compare in the order of time.
    """

    traversal: int
    place: int
    edges: int = 0


class Origin(NamedTuple):
    """A line of a program, and the function it stands in (`<module>` outside of all)."""

    file: str
    line: int
    function: str

    @property
    def short(self) -> str:
        """`nn.py:133`"""
        return f"{os.path.basename(self.file)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Row:
    """One tensor of the recording.

    `name` is the op's name, the parameter's name, or the step id of a note. `inputs` are row ids, one per array
    the op took. `number` is the node's place in "node i of N", from 1; 0 for leaves and notes. `event` indexes
    the tape's events, −1 where the model named no moment here. `masked` marks the −inf put there on purpose.
    `made_at` is the line that applied the op and, where that is the library's, the user's line that led to it.
    """

    id: int
    kind: Kind
    name: str
    scope: str
    array: Array
    number: int = 0
    event: int = -1
    inputs: tuple[int, ...] = ()
    op: Op | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    saved: tuple[Any, ...] = ()
    masked: Array | None = None
    tracked: bool = False
    parameter: bool = False
    made_at: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """A named moment of the model's forward: `blocks.1.attn.softmax` is step `attn.softmax` of layer 1."""

    order: int
    step: str
    layer: int | None
    row: int

    @property
    def path(self) -> str:
        return scope_of(self.step, self.layer)


@dataclass(frozen=True, slots=True)
class GradientState:
    """How far a row's gradient is: `delivered` of `edges` contributions. `takes` False: it wants none."""

    takes: bool
    delivered: int
    edges: int

    @property
    def is_final(self) -> bool:
        return self.takes and 0 < self.edges == self.delivered

    @property
    def sign(self) -> str:
        """`●` final, `◐` k of n, `○` not reached, `–` wants none."""
        if not self.takes:
            return "–"
        return "●" if self.is_final else "◐" if self.delivered else "○"


@dataclass(frozen=True, slots=True)
class Health:
    """Counts and moments of one array; min, mean, max and std (population) are of its finite, unmasked values."""

    shape: tuple[int, ...]
    dtype: str
    min: float
    mean: float
    max: float
    std: float
    norm: float
    negative: int
    zero: int
    positive: int
    nan: int
    inf: int
    masked: int
    subnormal: int


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a shown array: what it counts, and a label per index (token texts) or none."""

    name: str
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Contribution:
    """One edge into the row shown: the consumer that sends, and what it sent (None: not delivered yet).

    `visit` is the sending visit's number from 1, where it has been pulled. `sent_none` marks a rule that
    returned no gradient.
    """

    consumer: int
    slot: int
    words: str
    array: Array | None
    visit: int | None
    sent_none: bool = False


@dataclass(frozen=True, slots=True)
class Focus:
    """The selected row at the present position, in the axes a person thinks in (a batch of one is dropped).

    `gradient` is the sum of the contributions delivered so far, None before the first. For a leaf it includes
    what earlier traversals left unless `zero-grad` came between.
    """

    row: Row
    title: str
    axes: tuple[Axis, ...]
    value: Array
    masked: Array | None
    state: GradientState
    gradient: Array | None
    contributions: Sequence[Contribution]
    inputs: tuple[Array, ...]
    recorded: bool
    is_current: bool


class Line(NamedTuple):
    """A line that a program printed, to stdout or stderr."""

    stream: Literal["out", "err"]
    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The exception that ended a program: its class, its words, and its traceback through the user's own lines."""

    kind: str
    text: str
    traceback: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What was run. `tokens` are the texts of the ids that ran, `vocabulary` one text per id (or empty).

    A program also has what it `printed`, its exit code, and the fault that ended it, if one did.
    """

    name: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    targets: tuple[int, ...]
    vocabulary: tuple[str, ...]
    dtype: str
    tracked: bool
    fused: bool
    loss: float | None
    events: int
    nodes: int
    parameters: int
    notes: tuple[str, ...] = ()
    printed: tuple[Line, ...] = ()
    exit_code: int = 0
    fault: Fault | None = None
    clip_factor: float | None = None  # what a step of training then multiplied its gradients with; None: no step


class TapeView(Protocol):
    """Reading the append-only tape, by number, from any thread; every call costs O(1) or O(log visits).

    It tells of the traversals there were when it was handed out; `rows` is one and the same for a whole recording.
    """

    @property
    def rows(self) -> Sequence[Row]: ...

    @property
    def events(self) -> Sequence[Event]: ...

    @property
    def forward(self) -> Sequence[int]:
        """Row ids of the forward places in order: nodes, each followed by its notes."""

    @property
    def leaves(self) -> Sequence[int]:
        """Row ids of the leaves that take a gradient, parameters in the model's order."""

    def consumers(self, row: int) -> Sequence[tuple[int, int]]:
        """(row id, input slot) of each use of this row, in forward order."""

    def visits(self, traversal: int) -> Sequence[int]:
        """Row ids of the visits pulled so far, in order."""

    def visit_count(self, traversal: int) -> int:
        """How many visits the whole traversal has."""

    def root(self, traversal: int) -> int:
        """Row id of the traversal's root."""

    def is_recorded(self, row: int, at: Position) -> bool: ...

    def gradient_state(self, row: int, at: Position) -> GradientState:
        """Counts the edges of the traversal that `at` is in (of the first, while still in the forward run)."""

    def is_carried(self, consumer: int, slot: int, at: Position) -> bool:
        """Whether this edge has delivered in the traversal that `at` is in."""

    def health(self, row: int) -> Health | None:
        """Statistics of the value; None until an engine job has counted them."""

    def staleness(self, row: int) -> Staleness:
        """Whether a user has written into the row's array, as an engine job found when it looked last."""

    def gradient_norm(self, row: int, at: Position) -> float | None:
        """‖g‖ of a leaf's gradient so far; None where not reached.

        Known for the positions of snapshots: a large one was counted when the snapshot was made.
        """


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The session's answer to a command. `current` and `selection` are row ids."""

    version: int
    run: RunFacts
    position: Position
    current: int
    selection: int
    said: Said
    tape: TapeView
    focus: Focus
    value_health: Health | None
    gradient_health: Health | None
