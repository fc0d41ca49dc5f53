"""Overlays to read and scroll in; the log is one."""

from collections.abc import Sequence

from textual.binding import Binding

from tui.draw.listing import Listing, farthest, listing_rows, room_for, top_for, width_of
from tui.draw.palette import Palette
from tui.draw.text import Row

from .overlay import Overlay


class ListingScreen(Overlay):
    """Lines in a window that is scrolled through."""

    BINDINGS = [
        Binding("down,j", "scroll(1)", "down", show=False, priority=True),
        Binding("up,k", "scroll(-1)", "up", show=False, priority=True),
        Binding("pagedown,space", "page(1)", "a page down", show=False, priority=True),
        Binding("pageup", "page(-1)", "a page up", show=False, priority=True),
        Binding("home,g", "end(-1)", "first line", show=False, priority=True),
        Binding("end,G", "end(1)", "last line", show=False, priority=True),
        Binding("right,l", "sideways(1)", "right", show=False, priority=True),
        Binding("left,h", "sideways(-1)", "left", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, listing: Listing):
        super().__init__(palette)
        self.listing = listing
        self._top: int | None = None  # None: where the listing wants it
        self._left = 0

    def draw(self, width: int, height: int) -> Sequence[Row]:
        top = top_for(self.listing, height) if self._top is None else self._top
        return listing_rows(self.listing, top, self._left, width, height, self.palette)

    def action_scroll(self, by: int) -> None:
        room = room_for(self.size.height)
        top = top_for(self.listing, self.size.height) if self._top is None else self._top
        self._top = max(0, min(top + by, len(self.listing.lines) - room))
        self.place()

    def action_page(self, by: int) -> None:
        self.action_scroll(by * max(room_for(self.size.height) - 1, 1))

    def action_end(self, way: int) -> None:
        self.action_scroll(way * len(self.listing.lines))

    def action_sideways(self, by: int) -> None:
        """Half a page, and no farther than the end of the longest line."""
        step = width_of(self.size.width) // 2
        self._left = max(0, min(self._left + by * step, farthest(self.listing, self.size.width)))
        self.place()

    def on_mouse_scroll_down(self) -> None:
        self.action_scroll(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_scroll(-3)


class LogScreen(ListingScreen):
    """What was printed and said."""

    BINDINGS = [Binding("L", "close", "close", show=False, priority=True)]
