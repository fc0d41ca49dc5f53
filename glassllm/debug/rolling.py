"""Recording a program that may go on for long: run after run, of which the newest is kept.

A run ends where the program calls `backward()`. What a later run uses of an earlier one is taken over from the
graph, which holds it anyway; everything else of earlier runs is let go, so training for any number of steps costs
the memory of two.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from glassllm.autograd import graph
from glassllm.autograd import tensor as engine
from glassllm.autograd.ops import Array, Op
from glassllm.autograd.tensor import Tensor

from .naming import Names, names_in
from .origins import user_frames
from .recorder import Known, Recorder
from .tape import Tape

KEPT_BYTES = 512 << 20  # of one run, before what nothing uses any more is let go
ROW_BYTES = 2048  # what a row costs besides its numbers, roughly


@dataclass(frozen=True, eq=False)
class Run:
    """One run: what recorded it, and the root and seed of the traversal that ended it (None: none did)."""

    recorder: Recorder
    number: int
    root: graph.Node | None = None
    seed: Array | None = None

    def tape(self, names: Mapping[str, Tensor]) -> Tape:
        """The run's tape, to be opened on its root, its leaves called by these names."""
        self.recorder.name(names)
        tape = self.recorder.close()
        if self.root is not None:
            tape.open_on(tape.row_of[self.root], self.seed)
        return tape


class RollingRecorder:
    """The engine's hook while a program runs; `variables` are its globals. `heard` is called after every op.

    Threads of the program may apply ops too: they are written down one at a time.
    """

    def __init__(
        self,
        variables: Mapping[str, Any],
        outer: engine.Hook | None = None,
        heard: Callable[[], object] = lambda: None,
        kept_bytes: int = KEPT_BYTES,
    ):
        self.ops = 0
        self.runs = 0
        self.ended: Run | None = None  # the newest that a traversal ended
        self.chosen: Run | None = None  # the one that ends where the program asked for the debugger
        self._variables = variables
        self._outer = outer
        self._heard = heard
        self._kept_bytes = kept_bytes
        self._known: Known = WeakKeyDictionary()
        self._lock = threading.RLock()
        self._start()

    def _start(self) -> None:
        """Begin a run."""
        self._recorder = Recorder(freezes=False, rebuilds=True, known=self._known)
        self._bytes = 0

    # What the engine says

    def applied(
        self, op: Op, inputs: tuple[Tensor, ...], attrs: dict[str, Any], saved: tuple[Any, ...], result: Tensor
    ) -> None:
        if self._outer is not None:
            self._outer.applied(op, inputs, attrs, saved, result)
        with self._lock:
            self.ops += 1
            size = result.data.nbytes + ROW_BYTES
            if self._bytes + size > self._kept_bytes:
                self._start()
            self._bytes += size
            self._recorder.applied(op, inputs, attrs, saved, result)
        self._heard()

    def marked(self, step_id: str, value: Tensor | Array, layer: int | None) -> None:
        if self._outer is not None:
            self._outer.marked(step_id, value, layer)
        with self._lock:
            self._recorder.marked(step_id, value, layer)

    def traversed(self, root: Tensor, seed: Array) -> None:
        if self._outer is not None:
            self._outer.traversed(root, seed)
        with self._lock:
            if root.node is not None:
                self.runs += 1
                self.ended = self._end(root.node, seed, self.names())

    # Runs

    def choose(self, root: Tensor) -> None:
        """End a run here, and have it opened instead of later ones; `root` is what its traversal starts from."""
        assert root.node is not None, "only what an op made can be chosen"
        with self._lock:
            self.runs += 1
            self.chosen = self._end(root.node, None, self.names())

    def _end(self, root: graph.Node, seed: Array | None, names: Mapping[str, Tensor]) -> Run:
        recorder = self._holder(root)
        if recorder is self._recorder:
            self._start()
        recorder.name(names)
        return Run(recorder, self.runs, root, seed)

    def _holder(self, root: graph.Node) -> Recorder:
        """What recorded the run that this root ends: one that ended already, if no op was applied since."""
        if not self._recorder.tape.rows:
            for run in (self.ended, self.chosen):
                if run is not None and root in run.recorder.tape.row_of:
                    return run.recorder
        self._recorder.adopt(root)
        return self._recorder

    def rest(self) -> Run | None:
        """What came after the last run that ended; None where that is nothing."""
        return Run(self._recorder, self.runs + 1) if self._recorder.tape.forward else None

    def behind(self, root: graph.Node) -> Run:
        """The run that made a node, else all that is behind it."""
        for run in (self.rest(), self.ended, self.chosen):
            if run is not None and root in run.recorder.tape.row_of:
                return Run(run.recorder, run.number, root)
        recorder = Recorder(freezes=False, rebuilds=True, known=self._known)
        recorder.adopt(root)
        return Run(recorder, self.runs, root)

    def names(self) -> Names:
        """What the program calls its Tensors where it is now."""
        return names_in(user_frames(), self._variables)
