"""What stands there until the file is open: painted before the engine or anything it needs is imported."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen

from tui.draw.palette import Palette
from tui.draw.text import Span, text_row
from tui.messages import JobProgress
from tui.widgets.page import Page


class LoadingScreen(Screen[None]):
    """The header row and a quiet page."""

    BINDINGS = [
        Binding("q,ctrl+q", "app.quit", "quit", show=False, priority=True),
        Binding("escape", "app.stop_opening", "stop", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, file: str):
        super().__init__()
        self._palette = palette
        self._file = file
        self._page = Page(palette, "bg")
        self._words = "opening…"

    def compose(self) -> ComposeResult:
        yield self._page

    def on_resize(self) -> None:
        self._paint()

    def progress(self, news: JobProgress) -> None:
        """Say how far it is: a program may run for long, a large graph takes seconds, and both can be stopped."""
        how_far = (
            f"   {apart(news.done)} ops" if news.total is None else f" {apart(news.done)}/{apart(news.total)}"
        )
        self._words = f"{news.text}{how_far}   esc stops"
        self._paint()

    def _paint(self) -> None:
        name = [Span(f" {self._file}   ", "bright", bold=True)]
        words = [Span(f"{self._words} ", "muted")]
        self._page.show([text_row(name, self.size.width, self._palette, "raised", words)])


def apart(n: int) -> str:
    """Thousands apart: `40 000`."""
    return f"{n:,}".replace(",", " ")
