"""The help over the screen, drawn from the key table."""

from collections.abc import Sequence

from textual.binding import Binding

from tui.draw.palette import Palette
from tui.draw.text import Row
from tui.keys import KEYS, Key

from .help_page import help_rows
from .overlay import Overlay


class HelpScreen(Overlay):
    """Keys and signs; turns its pages where they do not fit on one."""

    BINDINGS = [
        Binding("question_mark", "close", "close", show=False, priority=True),
        Binding("down,j,pagedown,space,right", "turn(1)", "next page", show=False, priority=True),
        Binding("up,k,pageup,left", "turn(-1)", "previous page", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, panel: str, keys: Sequence[Key] = KEYS):
        super().__init__(palette)
        self._panel = panel
        self._keys = keys
        self._turned = 0
        self._pages = 1

    def draw(self, width: int, height: int) -> Sequence[Row]:
        rows, self._pages = help_rows(self._panel, self._turned, width, height, self.palette, self._keys)
        return rows

    def action_turn(self, by: int) -> None:
        self._turned = (self._turned + by) % self._pages
        self.place()
