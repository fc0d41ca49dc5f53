"""The palette: every command of the session and every action of the screen, found by name or by what it does."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.markup import escape

from glassllm.debug.commands import COMMANDS
from tui.keys import KEYS, Key, bindings, sentence

from .actions import Actions
from .room import Room, call

TYPED = ("count", "move")
"""Actions that only make sense as keys."""


class Entry(NamedTuple):
    """One line: what it is called, what it does and which key does it, and the action of the screen to run."""

    title: str
    help: str
    action: str


def entries(keys: Sequence[Key] = KEYS) -> Iterator[Entry]:
    """The session's commands in the order of their table, then what the screen does by itself."""
    by_key = {key.command: f"   {key.keys}" for key in keys}
    for name, command in COMMANDS.items():
        yield Entry(name, command.help + by_key.get(name, ""), f"chosen({name!r})")
    actions = {binding.id: binding.action for binding in bindings()}
    for key in keys:
        if not key.is_command and key.command not in TYPED:
            yield Entry(sentence(key), key.keys.replace(",", " or "), actions[key.action])


def entries_of(room: Room) -> Iterator[Entry]:
    """A room's commands, and below them its keys."""
    for name, command in room.table.items():
        yield Entry(name, command.help, f"chosen({name!r})")
    for key in room.key_table:
        if key.command not in (*TYPED, "do"):
            yield Entry(sentence(key), key.keys.replace(",", " or "), call(key))


class PaletteCommands(Provider):
    """What the palette lists on any screen."""

    async def discover(self) -> Hits:
        for entry in self._entries():
            yield DiscoveryHit(entry.title, partial(self.screen.run_action, entry.action), help=escape(entry.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._entries():
            score = max(matcher.match(entry.title), matcher.match(entry.help))
            if score > 0:
                run = partial(self.screen.run_action, entry.action)
                yield Hit(score, matcher.highlight(entry.title), run, help=escape(entry.help))

    def _entries(self) -> Iterator[Entry]:
        if isinstance(self.screen, Room):
            return entries_of(self.screen)
        return entries(self.screen.key_table) if isinstance(self.screen, Actions) else iter(())
