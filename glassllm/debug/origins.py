"""Which line of which program applied an op: the frames above it, told apart by the files they stand in."""

from enum import Enum
from functools import cache
from inspect import currentframe
from pathlib import Path
from types import FrameType

from .snapshot import Origin, Row, TapeView

LIBRARY = Path(__file__).resolve().parents[1]
OURS = {
    LIBRARY / "autograd": "ENGINE",
    LIBRARY / "trace.py": "ENGINE",
    LIBRARY / "debug": "DEBUGGER",
    LIBRARY.parent / "tui": "DEBUGGER",
}


class Side(Enum):
    """Whose a frame is."""

    ENGINE = "the ops and what applies them"
    DEBUGGER = "what records and runs"
    LIBRARY = "the model and its parts"
    USER = "everything else"


@cache
def side_of(file: str) -> Side:
    """Whose frames come from this file."""
    path = Path(file)
    for folder, name in OURS.items():
        if path.is_relative_to(folder):
            return Side[name]
    return Side.LIBRARY if path.is_relative_to(LIBRARY) else Side.USER


def made_at() -> tuple[Origin, ...]:
    """The line that applies an op just now and, where it is the library's, the user's line that led to it.

    Costs a walk up the stack: only while recording.
    """
    frame: FrameType | None = currentframe()
    while frame is not None and side_of(frame.f_code.co_filename) in (Side.ENGINE, Side.DEBUGGER):
        frame = frame.f_back
    if frame is None:
        return ()
    here = _origin(frame)
    user = None if side_of(here.file) is Side.USER else user_frame(frame)
    return _shared(here, None if user is None else _origin(user))


@cache
def _shared(here: Origin, user: Origin | None) -> tuple[Origin, ...]:
    """One tuple for all the ops that a line applies."""
    return (here,) if user is None else (here, user)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's from here on up; None where the debugger itself called the library."""
    while frame is not None and side_of(frame.f_code.co_filename) in (Side.ENGINE, Side.LIBRARY):
        frame = frame.f_back
    return frame if frame is not None and side_of(frame.f_code.co_filename) is Side.USER else None


def user_frames() -> list[FrameType]:
    """The user's frames on the stack, innermost first, up to where the debugger runs the program."""
    frame: FrameType | None = currentframe()
    while frame is not None and side_of(frame.f_code.co_filename) is not Side.USER:
        frame = frame.f_back
    found = []
    while frame is not None and (side := side_of(frame.f_code.co_filename)) is not Side.DEBUGGER:
        if side is Side.USER:
            found.append(frame)
        frame = frame.f_back
    return found


def _origin(frame: FrameType) -> Origin:
    return Origin(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)


def lines_of(tape: TapeView, row: Row) -> tuple[tuple[Origin, ...], str]:
    """The lines that made a row, innermost first, and what they did: of a leaf only its first use is known."""
    if row.made_at or row.kind != "leaf":
        return row.made_at, "made at"
    uses = tape.consumers(row.id)
    return (tape.rows[uses[0][0]].made_at if uses else ()), "first used at"
