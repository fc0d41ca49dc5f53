"""How a program ended, and what that says to the person who ran it."""

import traceback
from dataclasses import dataclass, field
from types import FrameType

from .origins import Side, side_of
from .snapshot import Fault


@dataclass(frozen=True, eq=False)
class Ending:
    """One end of a program. Broken off, by an exception or from outside, it has not run to its end.

    `frames` are those it broke off in, innermost first; they hold what the program held.
    """

    exit_code: int = 0
    words: str = ""  # empty: there is nothing to say
    fault: Fault | None = None
    is_broken: bool = False
    frames: tuple[FrameType, ...] = field(default=(), repr=False)


def ending_of(error: BaseException, stop: type[BaseException] | None) -> Ending:
    """What an exception that left the program means; `stop` is the one that stops it from outside."""
    if isinstance(error, SystemExit):
        return _left(error.code)
    frames = tuple(frame for frame, _ in traceback.walk_tb(error.__traceback__))[::-1]
    if stop is not None and isinstance(error, stop):
        return Ending(1, "stopped", is_broken=True, frames=frames)
    fault = fault_of(error)
    return Ending(1, f"stopped by {fault.kind}: {fault.text}".rstrip(": "), fault, True, frames)


def _left(code: object) -> Ending:
    """What the argument of SystemExit means to Python."""
    if code is None or code == 0:
        return Ending()
    if isinstance(code, int):
        return Ending(code, f"exit code {code}")
    return Ending(1, f"it left with the words {code}")


def fault_of(error: BaseException) -> Fault:
    """The exception and its causes, their tracebacks without the frames of ours."""
    told = traceback.TracebackException.from_exception(error)
    _keep_the_user_s(told)
    return Fault(type(error).__name__, str(told), tuple("".join(told.format()).splitlines()))


def _keep_the_user_s(told: traceback.TracebackException) -> None:
    kept = [frame for frame in told.stack if side_of(frame.filename) is Side.USER and frame.filename[0] != "<"]
    told.stack = traceback.StackSummary.from_list(kept)
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _keep_the_user_s(other)
