"""The table of parameters over the screen: sorted by any column, and one of them chosen to be shown."""

from collections.abc import Callable, Sequence

from textual import events
from textual.binding import Binding

from glassllm.debug.snapshot import Snapshot
from tui.draw.palette import Palette
from tui.draw.parameters import (
    HEADS,
    ROWS_AROUND,
    Table,
    entry_at,
    head_at,
    ordered,
    parameter_rows,
    parameters,
)
from tui.draw.text import Row

from .overlay import Overlay


class ParametersScreen(Overlay):
    """`show` is called with the row of the parameter that enter was pressed on."""

    BINDINGS = [
        Binding("enter", "show", "show", show=False, priority=True),
        Binding("p", "close", "close", show=False, priority=True),
        Binding("down,j", "move(1)", "down", show=False, priority=True),
        Binding("up,k", "move(-1)", "up", show=False, priority=True),
        Binding("pagedown", "page(1)", "a page down", show=False, priority=True),
        Binding("pageup", "page(-1)", "a page up", show=False, priority=True),
        Binding("home,g", "move(-1000000)", "first", show=False, priority=True),
        Binding("end,G", "move(1000000)", "last", show=False, priority=True),
        Binding("greater_than_sign,right,l", "sort(1)", "sort by the next column", show=False, priority=True),
        Binding("less_than_sign,left,h", "sort(-1)", "sort by the column before", show=False, priority=True),
        Binding("r", "reverse", "reverse", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, snapshot: Snapshot, show: Callable[[int], object]):
        super().__init__(palette)
        self._snapshot = snapshot
        self._show = show
        self._column, self._is_reversed = 0, False
        self._chosen = snapshot.selection  # a row of the tape; no parameter's: the first

    @property
    def table(self) -> Table:
        """The table as it is sorted now, with what has been counted by now."""
        entries = ordered(parameters(self._snapshot), self._column, self._is_reversed)
        rows = [each.row for each in entries]
        chosen = rows.index(self._chosen) if self._chosen in rows else 0
        return Table(entries, self._column, self._is_reversed, chosen)

    def draw(self, width: int, height: int) -> Sequence[Row]:
        return parameter_rows(self.table, width, height, self.palette)

    def action_move(self, by: int) -> None:
        table = self.table
        if table.entries:
            at = max(0, min(table.chosen + by, len(table.entries) - 1))
            self._chosen = table.entries[at].row
            self.place()

    def action_page(self, by: int) -> None:
        self.action_move(by * max(self.size.height - ROWS_AROUND - 3, 1))

    def action_sort(self, by: int) -> None:
        """Sort by another column; the first of the new order is chosen."""
        self._column, self._is_reversed = (self._column + by) % len(HEADS), False
        self._choose_first()

    def action_reverse(self) -> None:
        self._is_reversed = not self._is_reversed
        self._choose_first()

    def _choose_first(self) -> None:
        self._chosen = next((each.row for each in self.table.entries), self._chosen)
        self.place()

    def action_show(self) -> None:
        entries = self.table.entries
        self.dismiss()
        if entries:
            self._show(entries[self.table.chosen].row)

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """On a head: sort by its column, on it again the other way round. On an entry: choose it, then show it."""
        x, y = event.screen_x - self.page.region.x, event.screen_y - self.page.region.y
        column = head_at(self.table, x, y, self.size.width)
        entry = entry_at(self.table, y, self.size.height)
        if not self.page.region.contains(event.screen_x, event.screen_y):
            return
        if column == self._column:
            self.action_reverse()
        elif column is not None:
            self.action_sort(column - self._column)
        elif entry == self.table.chosen:
            self.action_show()
        elif entry is not None:
            self.action_move(entry - self.table.chosen)

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)
