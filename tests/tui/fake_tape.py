"""A tape made by hand: the rows, events and edges of a run, and a traversal that visits them newest first."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from glassllm.debug.snapshot import Event, Focus, GradientState, Position, Row, RunFacts, Snapshot


@dataclass
class FakeTape:
    """A TapeView; `add` appends a row, `mark` names the last one. Complete it before its edges are asked for."""

    rows: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    forward: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)

    def add(self, name, inputs=(), scope="", shape=(1,), kind="node", parameter=False, tracked=True) -> int:
        id = len(self.rows)
        number = len(self.forward) + 1 if kind == "node" else 0
        array = np.zeros(shape, np.float32)
        made = Row(id, kind, name, scope, array, number, -1, tuple(inputs), tracked=tracked, parameter=parameter)
        self.rows.append(made)
        if kind != "leaf":
            self.forward.append(id)
        elif tracked:
            self.leaves.append(id)
        return id

    def mark(self, step: str, layer: int | None = None) -> int:
        """Make an event of the last row; the rows since the event before get its scope."""
        event = Event(len(self.events), step, layer, self.rows[-1].id)
        since = self.events[-1].row + 1 if self.events else 0
        self.events.append(event)
        for id in range(since, len(self.rows)):
            old = self.rows[id]
            self.rows[id] = Row(
                id, old.kind, old.name, event.path, old.array, old.number,
                event.order if id == event.row else -1, old.inputs, tracked=old.tracked, parameter=old.parameter,
            )  # fmt: skip
        return event.row

    @cached_property
    def _uses(self) -> list[list[tuple[int, int]]]:
        uses = [[] for _ in self.rows]
        for row in self.rows:
            for slot, source in enumerate(row.inputs):
                uses[source].append((row.id, slot))
        return uses

    def consumers(self, row):
        return self._uses[row]

    @cached_property
    def _order(self) -> list[int]:
        return [row for row in reversed(self.forward) if self.rows[row].tracked]

    @cached_property
    def _visit_of(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self._order)}

    def visits(self, traversal):
        return self._order if traversal == 1 else ()

    def visit_count(self, traversal):
        return len(self._order)

    def root(self, traversal):
        return self._order[0]

    def is_recorded(self, row, at):
        return at.traversal > 0 or self.rows[row].kind == "leaf" or self.forward.index(row) <= at.place

    def is_carried(self, consumer, slot, at):
        place = self._visit_of.get(consumer)
        return at.traversal > 0 and place is not None and (place, slot) < (at.place, at.edges)

    def gradient_state(self, row, at):
        uses = [use for use in self._uses[row] if self.rows[use[0]].tracked]
        seeds = row == self._order[0]
        done = sum(self.is_carried(*use, at) for use in uses) + (seeds and at.traversal > 0)
        return GradientState(self.rows[row].tracked, done, len(uses) + seeds)

    def health(self, row):
        return None

    def staleness(self, row):
        return ""

    def gradient_norm(self, row, at):
        return None


def transformer(blocks: int = 4, n: int = 12, d: int = 64) -> FakeTape:
    """The events of a loss pass, their edges and weights; a norm is three nodes, a projection two."""
    tape = FakeTape()

    def event(step, inputs, shape, layer=None, name=None, **more):
        tape.add(name or step.rpartition(".")[2], inputs, shape=(1, *shape), **more)
        return tape.mark(step, layer)

    def weight(name, *shape):
        return tape.add(name, kind="leaf", shape=shape, parameter=True)

    def norm(step, x, path, layer=None):
        square = tape.add("mul", (x, x), shape=(1, n, d))
        scaled = tape.add("div", (x, square), shape=(1, n, d))
        return event(step, (scaled, weight(f"{path}.gamma", d)), (n, d), layer, "mul")

    def project(step, x, path, shape, layer, rows=d):
        product = tape.add("matmul", (x, weight(path, rows, shape[0] * shape[-1])), shape=(1, n, shape[-1]))
        return event(step, (product,), shape, layer, "reshape")

    table = weight("E", 1024, d)
    x = event("embed", (table,), (n, d), name="embedding")
    for i in range(blocks):
        path = f"blocks.{i}"
        a = norm("norm.attn", x, f"{path}.norm1", i)
        q = project("attn.q", a, f"{path}.attn.W_Q", (4, n, 16), i)
        k = project("attn.k", a, f"{path}.attn.W_K", (2, n, 16), i)
        v = project("attn.v", a, f"{path}.attn.W_V", (2, n, 16), i)
        q = event("attn.rope_q", (q,), (4, n, 16), i, "rope")
        k = event("attn.rope_k", (k,), (2, n, 16), i, "rope")
        s = event("attn.scores", (q, k), (4, n, n), i, "matmul")
        s = event("attn.mask", (s,), (4, n, n), i, "where")
        s = event("attn.softmax", (s,), (4, n, n), i, "softmax")
        o = event("attn.mix", (s, v), (4, n, 16), i, "matmul")
        o = event("attn.out", (o, weight(f"{path}.attn.W_O", d, d)), (n, d), i, "matmul")
        x = event("resid.attn", (x, o), (n, d), i, "add")
        b = norm("norm.ffn", x, f"{path}.norm2", i)
        g = event("ffn.gate", (b, weight(f"{path}.ffn.W1", d, 170)), (n, 170), i, "matmul")
        u = event("ffn.up", (b, weight(f"{path}.ffn.W3", d, 170)), (n, 170), i, "matmul")
        g = tape.add("silu", (g,), shape=(1, n, 170))
        h = event("ffn.act", (g, u), (n, 170), i, "mul")
        h = event("ffn.down", (h, weight(f"{path}.ffn.W2", 170, d)), (n, d), i, "matmul")
        x = event("resid.ffn", (x, h), (n, d), i, "add")
    x = norm("norm.final", x, "norm_f")
    x = event("logits", (x, table), (n, 1024), name="matmul")
    event("loss", (x,), (), name="cross_entropy")
    tape.add("loss.grad", kind="note", shape=(1, n, 1024), tracked=False)
    tape.mark("loss.grad")
    return tape


def flat(inputs: list[tuple[int, ...]], scopes: list[str] | None = None) -> FakeTape:
    """A recording without events: node i is made from the nodes listed, or from a leaf of its own."""
    tape, made = FakeTape(), []
    for i, sources in enumerate(inputs):
        rows = [made[j] for j in sources] or [tape.add(f"input {i + 1}", kind="leaf")]
        made.append(tape.add(f"op{i}", rows, scopes[i] if scopes else ""))
    return tape


def row_at(tape: FakeTape, path: str) -> int:
    """The row of an event: `blocks.1.attn.softmax`."""
    return next(event.row for event in tape.events if event.path == path)


def forward_to(tape: FakeTape, row: int) -> Position:
    """The forward position at which a row has just been recorded."""
    return Position(0, tape.forward.index(row))


def back_to(tape: FakeTape, row: int) -> Position:
    """The position in the traversal at which a row's visit is about to send."""
    return Position(1, tape.visits(1).index(row))


def snapshot(tape: FakeTape, at: Position, selection: int | None = None) -> Snapshot:
    """A snapshot at a position, of what the graph looks at."""
    current = (tape.visits(1) if at.traversal else tape.forward)[at.place]
    row = tape.rows[current if selection is None else selection]
    state = tape.gradient_state(row.id, at)
    focus = Focus(row, row.name, (), row.array, None, state, None, (), (), True, row.id == current)
    facts = RunFacts("fake", (), (), (), (), "float32", True, False, None, len(tape.events), len(tape.forward), 0)
    return Snapshot(1, facts, at, current, row.id, (), tape, focus, None, None)
