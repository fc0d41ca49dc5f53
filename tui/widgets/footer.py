"""The last row: keys of the focused panel, made from the key table."""

from collections.abc import Sequence

from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row
from tui.keys import KEYS, Entry, Key, footer

from .page import Page


def footer_row(panel: str, is_back: bool, width: int, palette: Palette, keys: Sequence[Key] = KEYS) -> Row:
    """Keys in bold, what they do beside them; help always at the far right."""
    *entries, help_ = footer(panel, is_back, width, keys)
    words: list[Span] = []
    for entry in entries:
        words += [Span("  " if words else " "), *said(entry)]
    return text_row(words, width, palette, "raised", [*said(help_), Span(" ")])


def said(entry: Entry) -> list[Span]:
    return [Span(entry.keys, "bright", bold=True), Span(f" {entry.words}", "muted")]


class Footer(Page):
    """The keys."""

    def __init__(self, palette: Palette, keys: Sequence[Key] = KEYS):
        super().__init__(palette, "raised", id="footer")
        self._keys = keys

    def draw(self, panel: str, is_back: bool) -> None:
        if self.size.width:
            self.show([footer_row(panel, is_back, self.size.width, self.palette, self._keys)])
