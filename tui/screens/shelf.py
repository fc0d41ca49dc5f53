"""What the debugger was opened on so far, by name, so that one can go back; all of it on the engine's thread."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.kept import owner
from glassllm.debug.snapshot import CommandError

MOST = 4
ROOM = 200 << 20
"""Bytes of recordings, besides the first, above which only the newest of them is kept."""


class Shelf:
    """Sessions as they were left. What was opened first stays; of the others those that were shown last."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}  # the first, then the others, the one shown last at the end
        self._shown: list[str] = []  # names, the newest last

    def put(self, name: str, session: Any) -> None:
        """Hold a session that is shown now, in the place of any of that name."""
        if self._shown and name != self._first:
            self._held.pop(name, None)
        self._held[name] = session
        self._note(name)
        while len(self._held) > 2 and (len(self._held) > MOST or self._size() > ROOM):
            del self._held[next(each for each in self._held if each != self._first)]

    def take(self, words: str = "") -> Any:
        """The session of that name or of one that begins so, by default the one shown before this one.

        CommandError where there is none, or more than one.
        """
        found = [words] if words in self._held else [name for name in self._held if name.startswith(words)]
        if not words:
            if len(self._held) == 1:
                raise CommandError(f"nothing was opened before; there is {self._first} alone")
            found = [name for name in reversed(self._shown[:-1]) if name in self._held][:1] or [self._first]
        if len(found) != 1:
            raise CommandError(f"nothing was opened as {words}; there are {', '.join(self._held)}")
        self._note(found[0])
        if found[0] != self._first:
            self._held[found[0]] = self._held.pop(found[0])
        return self._held[found[0]]

    @property
    def names(self) -> tuple[str, ...]:
        """Of what can be gone back to, the first before the others."""
        return tuple(self._held)

    @property
    def _first(self) -> str:
        return next(iter(self._held))

    def _note(self, name: str) -> None:
        self._shown = [*(each for each in self._shown if each != name), name]

    def _size(self) -> int:
        """Bytes of all but the first, none counted twice."""
        sessions = list(self._held.values())[1:]
        return sum({id(whole): whole.nbytes for each in sessions for whole in arrays_of(each)}.values())


def arrays_of(session: Any) -> Iterator[Array]:
    """The arrays that a session's recording holds, each as the one that owns its memory."""
    tape = session.tape
    saved = (part for row in tape.rows for part in row.saved if isinstance(part, np.ndarray))
    yield from map(owner, chain(tape.rows.arrays, saved, *map(sent, tape.traversals)))


def sent(traversal: Any) -> Iterator[Array]:
    """What the visits of a traversal had, and passed on."""
    for record in traversal.records:
        yield from (array for array in (record.grad, *record.contributions) if array is not None)
