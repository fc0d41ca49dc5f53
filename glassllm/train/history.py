"""History: states of a run kept in memory, so that any step of it can be taken again, the same to the bit.

The first is always kept. The others stand equally far apart; once there are too many, every other one is let go,
and the distance is twice what it was.
"""

from collections.abc import Generator

from glassllm.checkpoint import CheckpointError

from .autosave import Autosave
from .report import LastStep
from .state import TrainingState, load_state
from .trainer import NO_STEP, Trainer

MOST = 12  # states
MOST_BYTES = 256 << 20
Rerun = Generator[tuple[int, int, str], None, LastStep]


class History:
    """The past of one run, from where its trainer stands now.

    `first`: the steps done at the first state; `stride`: those from one state to the next; `file`: where the run
    is saved, which is one more state once it was.
    """

    def __init__(self, trainer: Trainer, file: Autosave, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        each = 3 * sum(p.data.nbytes for p in trainer.model.parameters())  # weights and two moments
        self.first = trainer.step
        self.stride = 1
        self.file = file
        self._trainer = trainer
        self._most = max(min(most, most_bytes // each), 1)
        self._states = {trainer.step: trainer.bare()}
        self._near: TrainingState | None = None  # the one before the step that was taken again last

    @property
    def steps(self) -> tuple[int, ...]:
        """How many steps were done at each of the states, rising."""
        return tuple(self._states)

    def keep(self) -> None:
        """Keep the run as it stands, where its step is one of those to be kept."""
        step = self._trainer.step
        if step in self._states or self._most == 1 or not self._is_wanted(step):
            return
        while len(self._states) >= self._most:
            self.stride *= 2
            self._states = {kept: state for kept, state in self._states.items() if self._is_wanted(kept)}
        if self._is_wanted(step):
            self._states[step] = self._trainer.bare()

    def _is_wanted(self, step: int) -> bool:
        return (step - self.first) % self.stride == 0

    def again(self, number: int) -> Rerun:
        """Take a step (from 1) again, from the nearest state before it on, one step a slice; the run goes its way.

        ValueError for a step that is not done yet, or that was done before the first state.
        """
        done, newest = self._trainer.step, self._trainer.last_step
        if not self.first < number <= done:
            raise ValueError(self._refusal(number, done))
        if newest is not None and number == done:
            return newest
        state = self._nearest(number - 1)
        twin, start = self._trainer.at(state), state.run.step
        while twin.step < number - 1:
            yield twin.step - start, number - start, "re-running step"
            twin.advance()
        self._near = twin.bare()
        yield number - 1 - start, number - start, "re-running step"
        twin.advance()
        assert twin.last_step is not None
        return twin.last_step

    def _refusal(self, number: int, done: int) -> str:
        if done == self.first:
            return NO_STEP
        if 1 <= number <= self.first:
            return f"step {number} was taken before the run was resumed; take one from {self.first + 1} to {done}"
        return f"no step {number}; there are those from {self.first + 1} to {done}"

    def _nearest(self, step: int) -> TrainingState:
        """The newest state known with at most so many steps done."""
        known = list(self._states.values()) + ([] if self._near is None else [self._near])
        kept = max((state for state in known if state.run.step <= step), key=lambda state: state.run.step)
        saved = self.file.saved
        if saved is None or not kept.run.step < saved <= step:
            return kept
        try:
            state = load_state(self.file.path)
        except CheckpointError:
            return kept
        return state if _are_of_one_run(state, kept) and state.run.step == saved else kept


def _are_of_one_run(a: TrainingState, b: TrainingState) -> bool:
    facts = ((s.config, s.run.settings, s.run.data, s.run.val_data) for s in (a, b))
    return next(facts) == next(facts)
