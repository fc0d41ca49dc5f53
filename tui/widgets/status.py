"""The status row: the last event in one line, what is being typed, or what the engine is busy with."""

from glassllm.debug.snapshot import Said
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .page import Page


def status_row(said: Said, pending: str, width: int, palette: Palette) -> Row:
    """`said` at the left; a count being typed, or work under way, at the right."""
    words = [Span(" "), *(Span(text, tone, bold=tone in ("fwd", "bwd", "stop", "bright")) for text, tone in said)]
    return text_row(words, width, palette, "bg", [Span(f"{pending} ", "muted")] if pending else [])


class StatusRow(Page):
    """The status row."""

    def __init__(self, palette: Palette):
        super().__init__(palette, "bg", id="status")
        self._said: Said = ()
        self._pending = ""

    def say(self, said: Said) -> None:
        self._said = said
        self._paint()

    def pend(self, text: str) -> None:
        self._pending = text
        self._paint()

    def on_resize(self) -> None:
        self._paint()

    def _paint(self) -> None:
        if self.size.width:
            self.show([status_row(self._said, self._pending, self.size.width, self.palette)])
