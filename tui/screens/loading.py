"""What stands there until the file is open: painted before the engine or anything it needs is imported."""

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.timer import Timer

from tui.draw.palette import Palette
from tui.draw.text import Span, text_row
from tui.messages import JobProgress
from tui.widgets.page import Page

if TYPE_CHECKING:
    from tui.app import GlassApp

QUIET_AFTER = 2.0
"""Seconds without a sign of life after which nothing is promised that only the next op can keep."""
QUITS = "q quits"


class LoadingScreen(Screen[None]):
    """The header row and a quiet page."""

    BINDINGS = [
        Binding("q,ctrl+q", "app.quit", "quit", show=False, priority=True),
        Binding("escape", "stop", "stop", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, file: str):
        super().__init__()
        self._palette = palette
        self._file = file
        self._page = Page(palette, "bg")
        self._words = "opening…"
        self._how_far = ""
        self._quiet: Timer | None = None  # until a program is silent

    def compose(self) -> ComposeResult:
        yield self._page

    def on_resize(self) -> None:
        self._paint()

    def progress(self, news: JobProgress) -> None:
        """Say how far it is: a program may run for long, a large graph takes seconds, and both can be stopped."""
        count = f"   {ops(news.done)}" if news.total is None else f" {apart(news.done)}/{apart(news.total)}"
        self._how_far = f"{news.text}{count}"
        self._say(f"{self._how_far}   esc stops")
        if self._quiet is not None:
            self._quiet.stop()
        self._quiet = self.set_timer(QUIET_AFTER, self._fall_quiet) if news.total is None else None

    def _fall_quiet(self) -> None:
        """A program that applies no op cannot be stopped."""
        self._say(f"{self._how_far}, none of late   {QUITS}")

    def action_stop(self) -> None:
        """Stop what is being opened, which happens at its next op."""
        cast("GlassApp", self.app).action_stop_opening()
        self._say(f"{self._how_far or self._words}   stops at the next op   {QUITS}")

    def _say(self, words: str) -> None:
        self._words = words
        self._paint()

    def _paint(self) -> None:
        name = [Span(f" {self._file}   ", "bright", bold=True)]
        words = [Span(f"{self._words} ", "muted")]
        self._page.show([text_row(name, self.size.width, self._palette, "raised", words)])


def ops(n: int) -> str:
    """`1 op`, `40 000 ops`"""
    return f"{apart(n)} op{'' if n == 1 else 's'}"


def apart(n: int) -> str:
    """Thousands apart: `40 000`."""
    return f"{n:,}".replace(",", " ")
