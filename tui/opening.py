"""What the engine's thread does for the debugger: get what was opened ready, and run a command on it."""

import gc
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from .messages import Request

if TYPE_CHECKING:
    from glassllm.debug.session import Session

COLLECTED = (5_000, 10, 20)
"""How often garbage is looked for: more seldom than Python does, as a frame leaves much behind and few cycles."""


def perform(session: "Session", request: Request) -> object:
    """Run one command on the session."""
    from glassllm.debug.commands import perform as run

    return run(session, request.name, *request.args, count=request.count)


def opening(build: Callable[[], object]) -> Generator[object, None, Any]:
    """Build a session, in slices or at once, and get it ready for its first snapshot."""
    outcome = build()
    session: Any = (yield from outcome) if isinstance(outcome, Generator) else outcome
    yield from session.preparing()
    gc.freeze()  # what is there by now stays; looking it through for garbage would hold up frames
    gc.set_threshold(*COLLECTED)
    return session
