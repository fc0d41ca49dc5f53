"""Page: a widget that shows rows somebody drew; Panel: one that takes the focus.

Rows come finished, with foreground and background of their own, so the widget only compares them with the old
ones and repaints the lines that differ. Nothing is left for the stylesheet to colour: its colours would be
converted where the terminal has 256.
"""

from collections.abc import Sequence
from itertools import zip_longest

from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.draw.palette import Palette
from tui.draw.text import Row, fit


class Page(Widget):
    """Prebuilt rows on the background `ground`; rows too short or too few are filled up with it."""

    DEFAULT_CSS = "Page { overflow: hidden hidden; }"

    def __init__(
        self,
        palette: Palette | None = None,
        ground: str = "panel",
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.palette = palette or Palette()
        self.ground = ground
        self._rows: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows shown, as they were handed in."""
        return self._rows

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows from the top; only lines that changed are painted again."""
        old, self._rows = self._rows, tuple(rows)
        width, height = self.size
        pairs = enumerate(zip_longest(old, self._rows))
        changed = [Region(0, y, width, 1) for y, (was, now) in pairs if y < height and was != now]
        if changed:
            self.refresh(*changed)

    def text(self) -> str:
        """What stands here as plain text, for tests and for copying."""
        return "\n".join("".join(segment.text for segment in row).rstrip() for row in self._rows)

    def render_line(self, y: int) -> Strip:
        row: Row = self._rows[y] if y < len(self._rows) else []
        width = self.size.width
        return Strip(fit(row, width, self.palette, self.ground), width)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Without the filter that turns the 256 codes set by hand into truecolor and so back to others."""
        return [each for each in super().get_line_filters() if not isinstance(each, ANSIToTruecolor)]


class Panel(Page, can_focus=True):
    """A page that takes the focus, and paints itself again where that or its size changes."""

    def paint(self) -> None:
        """Show what there is to show at this size."""
        raise NotImplementedError

    def page(self, by: int) -> None:
        """Move as far as a page shows."""
        raise NotImplementedError

    def on_resize(self) -> None:
        self.paint()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.paint()
