"""What lies over the screen: a raised rectangle of rows, the page behind it dimmed and not hidden."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.filter import LineFilter
from textual.screen import ModalScreen

from tui.draw.palette import Palette
from tui.draw.text import Row
from tui.filters import Dimmed
from tui.widgets.page import Page


class Overlay(ModalScreen[None]):
    """Rows of fixed width in the middle of the screen; esc closes.

    Bindings are of priority, as on the screen below: each key is done with before the next is looked at.
    """

    BINDINGS = [Binding("escape,q,enter", "close", "close", show=False, priority=True)]

    def __init__(self, palette: Palette):
        super().__init__()
        self.palette = palette
        self.page = Page(palette, "raised")

    def compose(self) -> ComposeResult:
        yield self.page

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What lies behind is darkened by the stylesheet, or dimmed where no ground can be painted."""
        dimmed = [Dimmed()] if self.palette.is_flat else []
        return [*super().get_line_filters(), *dimmed]

    def draw(self, width: int, height: int) -> Sequence[Row]:
        """The rows for a terminal of this size; all as wide as the first."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.place()

    def on_resize(self) -> None:
        self.place()

    def place(self) -> None:
        """Draw the rows again, and put them in the middle."""
        rows = self.draw(self.size.width, self.size.height)[: self.size.height]
        self.page.styles.width = sum(segment.cell_length for segment in rows[0])
        self.page.styles.height = len(rows)
        self.page.show(rows)

    def action_close(self) -> None:
        self.dismiss()
