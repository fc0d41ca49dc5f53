"""The one question before leaving: a run would be lost, so save it first, leave it, or stay."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding

from tui.draw.palette import Palette
from tui.draw.text import Row, Span, clean, fit, segments

from .overlay import Overlay

if TYPE_CHECKING:
    from .room import Room

WIDEST = 60
MOST_LINES = 4
CHOICES = (("q", "again leaves it"), ("w", "saves first"), ("esc", "stays"))


class LeaveScreen(Overlay):
    """Asks about what `room` would lose. Left when it has been saved, or without at a second `q`."""

    BINDINGS = [
        Binding("q,ctrl+q", "app.quit", "leave", show=False, priority=True),
        Binding("w", "save", "save first", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, room: "Room"):
        super().__init__(palette)
        self.room = room
        self._said = Span(room.unsaved, "bright", bold=True)

    def draw(self, width: int, height: int) -> Sequence[Row]:
        wide = min(width - 4, WIDEST)
        keys = [Span(f"{key} ", "bright", bold=True) if part == 0 else Span(f"{word}   ", "muted")
                for key, word in CHOICES for part in (0, 1)]  # fmt: skip
        said = textwrap.wrap(clean(self._said.text), wide - 6, max_lines=MOST_LINES, placeholder="…")
        bar = Span("▌  ", "stop")
        lines = ([bar], *([bar, self._said._replace(text=line)] for line in said), [bar], [bar, *keys], [bar])
        return [fit(segments(words, self.palette, "raised"), wide, self.palette, "raised") for words in lines]

    def action_save(self) -> None:
        self._say(Span("saving…", "muted"))
        self.room.save(self._ended)

    def _ended(self, fault: str) -> None:
        """Leave once it is saved, unless one chose to stay meanwhile; else say what is in the way."""
        if fault:
            self._say(Span(f"not saved: {fault}", "stop"))
        elif self.is_current:
            self.app.exit()

    def _say(self, said: Span) -> None:
        self._said = said
        if self.is_current:
            self.place()
