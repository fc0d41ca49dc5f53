"""The one page between track and rule: its room draws it, and hears where it is pointed at."""

from typing import Protocol

from textual import events

from tui.draw.palette import Palette
from tui.widgets.page import Panel

DOUBLE = 2  # clicks on one place, one soon after the other


class Host(Protocol):
    """What a board needs to know of its room."""

    def paint(self) -> None: ...
    def pointed(self, column: int, row: int) -> None: ...
    def pointed_twice(self, column: int, row: int) -> None: ...
    def wheel(self, by: int) -> None: ...


class Board(Panel):
    """The page of its room."""

    def __init__(self, palette: Palette, room: Host):
        super().__init__(palette, "bg", id="board")
        self.room = room

    def paint(self) -> None:
        self.room.paint()

    def page(self, by: int) -> None:
        """There is only one."""

    def on_click(self, event: events.Click) -> None:
        if event.chain == DOUBLE:
            self.room.pointed_twice(event.x, event.y)
        else:
            self.room.pointed(event.x, event.y)

    def on_mouse_scroll_down(self) -> None:
        self.room.wheel(1)

    def on_mouse_scroll_up(self) -> None:
        self.room.wheel(-1)
