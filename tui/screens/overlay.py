"""What lies over the screen: a raised rectangle of rows, the page behind it dimmed and not hidden."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from tui.draw.palette import Palette
from tui.draw.text import Row
from tui.widgets.page import Page


class Overlay(ModalScreen[None]):
    """Rows of fixed width in the middle of the screen; esc closes."""

    BINDINGS = [Binding("escape,q,enter", "close", "close", show=False)]

    def __init__(self, palette: Palette):
        super().__init__()
        self.palette = palette
        self.page = Page(palette, "raised")

    def compose(self) -> ComposeResult:
        yield self.page

    def draw(self, width: int, height: int) -> Sequence[Row]:
        """The rows for a terminal of this size; all as wide as the first."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self._place()

    def on_resize(self) -> None:
        self._place()

    def _place(self) -> None:
        rows = self.draw(self.size.width, self.size.height)[: self.size.height]
        self.page.styles.width = sum(segment.cell_length for segment in rows[0])
        self.page.styles.height = len(rows)
        self.page.show(rows)

    def action_close(self) -> None:
        self.dismiss()
