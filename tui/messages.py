"""What the engine thread says to the screen, and the ticket every piece of work carries.

Messages are facts, complete and never a delta: whoever reads only the newest has missed nothing. The one queue
they travel in is Textual's; where two of a kind lie next to each other the older is dropped unread.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

if TYPE_CHECKING:
    from glassllm.debug.snapshot import Snapshot


@dataclass(frozen=True)
class Request:
    """The ticket of one piece of work: what was asked. Its number alone tells it from others."""

    id: int
    name: str = field(compare=False)
    args: tuple[object, ...] = field(default=(), compare=False)
    count: int | None = field(default=None, compare=False)
    """The number typed before the key, `10n`; None where none was typed."""

    def __str__(self) -> str:
        count = () if self.count is None else (self.count,)
        return " ".join(str(word) for word in (self.name, *self.args, *count))


class Progress(NamedTuple):
    """What a generator of work yields to say how far it is; a plain (done, total) does as well."""

    done: int
    total: int | None = None
    """None where the end is not known."""
    text: str = ""
    value: object = None
    """What there is to show so far, whole: a loss curve, the tokens up to here. Immutable."""


@dataclass
class SnapshotReady(Message):
    """The session as it stands. Versions only rise; a lower one than was seen last is stale."""

    snapshot: "Snapshot"
    version: int = 0
    request: Request | None = None
    """The work it answers; commands end in the order they were given, so earlier ones are answered too."""
    is_last: bool = True
    """False while that work still goes on, or where word of how it broke off follows."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SnapshotReady)


@dataclass
class JobProgress(Message):
    """How far one piece of work is."""

    job: Request
    done: int
    total: int | None = None
    text: str = ""
    value: object = None

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, JobProgress) and message.job == self.job


@dataclass
class JobDone(Message):
    """A job came to its end; `result` is what it returned."""

    job: Request
    result: object = None


@dataclass
class JobCancelled(Message):
    """A command or job was stopped on request, before it began or midway."""

    job: Request


@dataclass
class EngineFailed(Message):
    """A command or job raised and was dropped; the engine goes on."""

    request: Request
    text: str
    """The exception's own words; empty where it had none."""
    details: str = ""
    """The whole traceback."""
    kind: str = ""
    """The exception's class name."""
