"""The screens beside the debugger, each made when it is first gone to, and then kept."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tui.draw.palette import Palette
from tui.engine import Engine
from tui.messages import Request

if TYPE_CHECKING:
    from .room import Room

PATIENCE = 8.0
"""Seconds that saving may take where something ends the program: what does, often kills it after ten."""


class Rooms:
    """`corpus` is the text to train on, `folder` where runs are saved; None: the sample's own, the current one."""

    def __init__(self, palette: Palette, file: str, engine: Engine, corpus: Path | None, folder: Path | None):
        self._palette, self._file, self._engine = palette, file, engine
        self._corpus, self._folder = corpus, folder
        self._made: dict[str, Room] = {}
        self._is_ending = False

    def named(self, name: str) -> "Room":
        """The room of this name: `train` or `generate`."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def of(self, request: Request) -> "Room | None":
        """The room whose command this is: its name stands first in that of the request."""
        return self._made.get(request.name.partition(" ")[0])

    def shown(self, screen: object) -> "Room | None":
        """The room that this screen is; None for the debugger and for what lies over screens."""
        return next((room for room in self._made.values() if room is screen), None)

    @property
    def unsaved(self) -> "Room | None":
        """The room that would lose something if one left now."""
        return next((room for room in self._made.values() if room.unsaved), None)

    def end(self, leave: Callable[[], object]) -> None:
        """Save what would be lost, then `leave`; at once where there is nothing. A terminal that hangs up asks
        for this twice, by a signal and by its end: once it goes on, it is not asked for anew."""
        room = self.unsaved
        if self._is_ending:
            return
        self._is_ending = True
        if room is None:
            leave()
            return

        def ended(_: str) -> None:
            leave()

        room.set_timer(PATIENCE, leave)
        room.save(ended)

    def _make(self, name: str) -> "Room":
        if name == "train":
            from .train import TrainScreen

            return TrainScreen(self._palette, self._file, self._engine, self._corpus, self._folder)
        from .generate import GenerateScreen

        return GenerateScreen(self._palette, self._file, self._engine)
