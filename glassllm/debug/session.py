"""The session: a recording, a position in it, a selection, and every way to move the position.

It knows no screen, thread or clock. Whatever may take long is a generator that yields (done, total) where it may
be left for a while; `drain` runs one to its end. The position moves along, so one that is abandoned midway leaves
the session at a place it has really reached.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol

from glassllm.autograd.ops import Array
from glassllm.autograd.tensor import Tensor
from glassllm.model import GlassLM

from .axes import Axes
from .focus import focus_on
from .places import Places
from .recorder import taping
from .runs import ModelRun, graph_facts
from .search import find_row
from .slices import LOOK, Slice, Sliced, finished, named
from .snapshot import CommandError, Health, Position, RunFacts, Said, Snapshot, Tone
from .tape import Tape
from .traversal import Traversal, VisitRecord
from .words import at_place, in_short, path_of, short, stopped

Work = Iterator[tuple[int, int]]  # yields (done, total)
Opening = Generator[tuple[int, int, str], None, "Session"]  # yields (done, total, with what)
Step = Callable[[Position], Position | None]


class Run(Protocol):
    """What made a recording and can be run again: a model and its ids, or a program."""

    def record(self) -> tuple[Tape, RunFacts]:
        """Run it now."""


SMALL = 1_000_000  # elements that are counted at once when they are selected


def drain(work: Work | None) -> None:
    """Do the work to its end, here and now."""
    for _ in work or ():
        pass


class Session:
    """One recording under the debugger. Make one with `Session.open` or `Session.of`."""

    def __init__(self, tape: Tape, facts: RunFacts, run: Run | None = None):
        self._version, self.files = 0, set[str]()  # files: real paths it wrote to, or was opened from whole
        self._load(tape, facts, run)

    @classmethod
    def open(
        cls,
        model: GlassLM,
        text: str | None = None,
        ids: Sequence[int] | None = None,
        targets: Sequence[int] | None = None,
        name: str = "model",
        tracked: bool = True,
    ) -> "Session":
        """Run a model, by default on its own sample, and record it. Raises CommandError for what it cannot run."""
        run = ModelRun.of(model, text, ids, targets, name, tracked)
        return cls(*run.record(), run)

    @classmethod
    def of(cls, made: Tensor | Tape, name: str = "graph", names: Mapping[str, Tensor] | None = None) -> "Session":
        """Look into what `record()` recorded, or into the graph behind a Tensor whose leaves may have names."""
        return finished(cls.opening(made, name, names))

    @classmethod
    def opening(
        cls, made: Tensor | Tape, name: str = "graph", names: Mapping[str, Tensor] | None = None
    ) -> "Opening":
        """The same in slices; raises at once what it has to raise."""
        if isinstance(made, Tape) and not made.forward:
            raise CommandError("nothing was recorded: no op was applied")
        return cls._opening(taping(made, names) if isinstance(made, Tensor) else made, name)

    @classmethod
    def _opening(cls, made: Sliced[Tape] | Tape, name: str) -> "Opening":
        tape = made if isinstance(made, Tape) else (yield from named(made, "recording"))
        return cls(tape, graph_facts(tape, name))

    def _load(self, tape: Tape, facts: RunFacts, run: Run | None) -> None:
        self.tape, self.facts, self.run = tape, facts, run
        self.axes = Axes(facts, tape.rows, tape.events)
        self.places = Places(tape)
        self.starts_fresh = False  # whether the next traversal's leaf sums start from nothing
        self.applied = 0  # how many traversals the model's leaves have got
        self.matches: list[int] = []  # rows that the last search found
        self.turns: dict[tuple[str, int], int] = {}  # which of a row's neighbours comes next
        self._trail, self._mark = [self.places.first], 0  # visited places, and where in them we are
        self._arrive(self.places.first)
        self.say(*self._said, *self._notes())

    # What it says

    def snapshot(self) -> Snapshot:
        """The session as it stands, frozen; its cost does not grow with the recording."""
        tape, focus = self.tape, focus_on(self.tape, self.axes, self.selection, self.position)
        if focus.row.array.size <= SMALL:
            tape.examine(self.selection)
        tape.count_norms(self.position)
        return Snapshot(
            version=self._version,
            run=self.facts,
            position=self.position,
            current=tape.row_at(self.position),
            selection=self.selection,
            said=self._said,
            tape=tape.so_far(),
            focus=focus,
            value_health=tape.health(self.selection),
            gradient_health=tape.gradient_health(self.selection, self.position, focus.gradient, SMALL),
        )

    def count_gradient(self) -> tuple[int, Position, Health | None]:
        """The selection, the position, and the statistics of the gradient there, however large it is."""
        selection, at = self.selection, self.position
        return selection, at, self.tape.count_gradient(selection, at, self.tape.gradient(selection, at))

    def say(self, *said: tuple[str, Tone]) -> None:
        """Make this the status line; the session has changed."""
        self._said: Said = said
        self._version += 1

    def short(self, row: int) -> str:
        """The row's name within its block."""
        return short(self.tape, self.tape.rows[row])

    def preparing(self) -> Iterator[tuple[int, int, str]]:
        """Find out how the first traversal will go; otherwise the first snapshot does."""
        if self.tape.default_root is not None:
            yield from named(self.tape.planning(self.tape.default_root), "planning the way back")

    def statistics(self, first: Iterable[int] = ()) -> Work:
        """Count every row's statistics, the rows of `first` before the others, and look for users' writes."""
        tape, pace, done = self.tape, Slice(), 0
        for row in chain(first, tape.forward, range(len(tape.rows))):
            if not tape.is_counted(row):
                tape.examine(row)
                done += 1
                if pace.is_full(tape.rows.arrays[row].size):
                    yield done, len(tape.rows)

    # Going

    def go(self, goal: Position, is_jump: bool = True) -> Work:
        """Move to a position, pulling the visits up to it; a jump is kept among the visited places."""
        yield from self._pull_to(goal)
        if is_jump and goal != self._trail[self._mark]:
            del self._trail[self._mark + 1 :]
            self._trail.append(goal)
            self._mark += 1
        self._trail[self._mark] = goal
        self._arrive(goal)

    def _pull_to(self, goal: Position) -> Work:
        if goal.traversal == 0:
            return
        if goal.traversal > len(self.tape.traversals):
            assert self.tape.default_root is not None, f"no traversal leads to {goal}"
            yield from self.begin(self.tape.default_root)
        traversal, pace = self.tape.traversals[goal.traversal - 1], Slice()
        first = len(traversal.records)
        try:
            while (done := len(traversal.records)) <= goal.place:
                if pace.is_full(self._pull(traversal).size) and done < goal.place:
                    self._arrive(self.places.whole(goal.traversal, done))
                    yield done + 1, goal.place + 1
        finally:  # where a rule fails, its visit is not reached
            if first < len(traversal.records) <= goal.place:
                self._arrive(self.places.whole(goal.traversal, len(traversal.records) - 1))

    def _pull(self, traversal: Traversal) -> VisitRecord:
        try:
            return traversal.pull()
        except Exception as error:  # rules are users' code, and may raise anything
            if error is not traversal.failure or isinstance(error, CommandError):
                raise
            raise CommandError(stopped(self.tape, traversal, error)) from error

    def begin(self, root: int, seed: Array | None = None) -> Work:
        """Append a traversal; nothing of it is computed yet."""
        yield from self.tape.planning(root)
        self.tape.begin(root, seed, self.starts_fresh)
        self.starts_fresh = False

    def _arrive(self, at: Position) -> None:
        self.position, self.selection = at, self.tape.row_at(at)
        self.say(*at_place(self.places, self.axes, at))

    def _forward(self, step: Step, count: int, is_jump: bool = False) -> Work:
        yield from self._repeat(step, count, is_jump, self._no_further)

    def _back(self, step: Step, count: int, is_jump: bool = False) -> Work:
        yield from self._repeat(step, count, is_jump, lambda: "this is the start")

    def _repeat(self, step: Step, count: int, is_jump: bool, why_not: Callable[[], str]) -> Work:
        """Step `count` times, or as often as it goes."""
        goal, taken, pace = self.position, 0, Slice(LOOK)
        while taken < count and (following := step(goal)) is not None:
            goal, taken = following, taken + 1
            if pace.is_full() and taken < count:
                yield taken, count
        if taken:
            yield from self.go(goal, is_jump or count > 1)
        if taken < count:
            self.say(*(self._said if taken else ()), ("; " if taken else "", "muted"), (why_not(), "muted"))

    def _no_further(self) -> str:
        if self.tape.default_root is not None:
            return "this is the end: every gradient is final; backward starts another traversal"
        if isinstance(self.run, ModelRun) and not self.facts.tracked:
            return "this is the end: the run built no graph; no_grad off runs it again with one"
        return "this is the end: nothing here takes a gradient"

    # Moving in time

    def next(self, count: int = 1) -> Work:
        return self._forward(self.places.next_event, count)

    def previous(self, count: int = 1) -> Work:
        return self._back(self.places.previous_event, count)

    def step(self, count: int = 1) -> Work:
        return self._forward(self.places.after, count)

    def step_back(self, count: int = 1) -> Work:
        return self._back(self.places.before, count)

    def contribution(self, count: int = 1) -> Work:
        return self._forward(self.places.after_edge, count)

    def contribution_back(self, count: int = 1) -> Work:
        return self._back(self.places.before_edge, count)

    def proceed(self, count: int = 1) -> Work:
        return self._forward(self.places.next_end, count, is_jump=True)

    def proceed_back(self, count: int = 1) -> Work:
        return self._back(self.places.previous_start, count, is_jump=True)

    def finish(self, count: int = 1) -> Work:
        return self._forward(self.places.block_end, count, is_jump=True)

    def finish_back(self, count: int = 1) -> Work:
        return self._back(self.places.block_start, count, is_jump=True)

    def first(self) -> Work:
        return self.go(self.places.first)

    def last(self) -> Work:
        return self.go(self.places.last)

    def run_to(self, target: str | None = None) -> Work:
        """To where the row is current next: in the forward run, else in a traversal."""
        row = yield from self.finding(target)
        goal = self.places.next_of(row, self.position)
        if goal is None:
            raise CommandError(f"{self.short(row)} does not come again; run-back-to goes back to it")
        yield from self.go(goal)

    def run_back_to(self, target: str | None = None) -> Work:
        """To where the row was current last."""
        row = yield from self.finding(target)
        goal = self.places.previous_of(row, self.position)
        if goal is None:
            raise CommandError(f"{self.short(row)} was not current before; run-to goes on to it")
        yield from self.go(goal)

    def visited_back(self, count: int = 1) -> Work:
        if self.position != self._trail[self._mark]:  # an abandoned move: first back to where it began
            return self._revisit(self._mark - count + 1)
        return self._revisit(self._mark - count)

    def visited_forward(self, count: int = 1) -> Work:
        return self._revisit(self._mark + count)

    def _revisit(self, mark: int) -> Work:
        if not 0 <= mark < len(self._trail):
            raise CommandError(f"no place was visited {'before' if mark < 0 else 'after'} this one")
        self._mark = mark
        return self.go(self._trail[mark], is_jump=False)

    # Running again

    def text(self, text: str) -> None:
        run = self._model_run()
        self._rerun(ModelRun.of(run.model, text=text, name=run.name, tracked=run.tracked))

    def ids(self, ids: Sequence[int]) -> None:
        run = self._model_run()
        self._rerun(ModelRun.of(run.model, ids=ids, name=run.name, tracked=run.tracked))

    def targets(self, targets: Sequence[int] | None) -> None:
        """Other targets for the same ids; None: no loss."""
        self._rerun(self._model_run().with_targets(targets))

    def no_grad(self, on: bool) -> None:
        self._rerun(self._model_run().with_tracking(not on))

    def rerun(self) -> None:
        self._rerun(self.run or self._model_run())

    def _model_run(self) -> ModelRun:
        if self.tape.is_recording:
            raise CommandError("a recording holds one run and no model; open the model's own file to run it again")
        if not isinstance(self.run, ModelRun):
            raise CommandError("a program made this recording; change it there and run the program again")
        return self.run

    def _rerun(self, run: Run) -> None:
        """Run, and stay where we were in the forward run; from a traversal, go to the end of it."""
        was_current = path_of(self.tape, self.tape.row_at(self.position))
        was_selected = path_of(self.tape, self.selection)
        was_backward = self.position.traversal > 0
        self._load(*run.record(), run)
        current = None if was_backward else self._known(was_current)
        place = self.tape.forward_place[current] if current is not None else len(self.tape.forward) - 1
        drain(self.go(Position(0, max(place, 0)), is_jump=False))
        selected = self._known(was_selected)
        self.selection = self.selection if selected is None else selected
        self.say(("▶ ", "fwd"), ("ran again", "bright"), (f"  {in_short(self.facts)}", "text"), *self._notes())

    def _notes(self) -> Said:
        return tuple((f"  {note}", "muted") for note in self.facts.notes)

    def _known(self, name: str) -> int | None:
        return next((row for row in range(len(self.tape.rows)) if path_of(self.tape, row) == name), None)

    # Finding

    def find(self, target: str | None) -> int:
        """The row meant; None means the selection. Raises CommandError when there is none."""
        return finished(self.finding(target))

    def finding(self, target: str | None) -> Sliced[int]:
        """The same in slices."""
        return self.selection if target is None else (yield from find_row(self.tape, target, self.selection))
