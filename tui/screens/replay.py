"""A step of training taken again: its run, and how the debugger is led to the gradients asked for."""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from glassllm.debug.replays import StepRun
    from glassllm.model import GlassLM
    from glassllm.train import Training

    from .debug import DebugScreen


class Replay(NamedTuple):
    """The run to record, and the commands to do on it before it is shown."""

    name: str
    run: "StepRun"
    lines: tuple[str, ...]


def replay(
    training: Callable[[], "Training"], file: str, number: int | None, group: str
) -> Generator[object, None, Replay]:
    """Take a step again, by its number from 1, by default the last; it leads to `group`, if one is named.

    CommandError where it cannot be taken again. All of it on the engine's thread.
    """
    from glassllm.debug.replays import StepRun
    from glassllm.debug.snapshot import CommandError

    trained = training()
    try:
        taken = trained.last_step.step + 1 if number is None else number
        run = yield from StepRun.again(trained, taken, file)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return Replay(f"step {taken}", run, to_gradient(run.model, group) if group else ())


def to_gradient(model: "GlassLM", group: str) -> tuple[str, ...]:
    """The commands that lead to the complete gradient of a group's first parameter."""
    from glassllm.train.report import group_of

    first = next(name for name in model.named_parameters() if group_of(name) == group)
    return "2 continue", f"select {first}"


def show_gradient(debugger: "DebugScreen") -> None:
    """Of what is selected, whatever was looked at before."""
    debugger.go_to_panel(debugger.tensor)
    debugger.tensor.show_tab("gradient")
