"""The last row: keys of the focused panel, made from the key table."""

from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row
from tui.keys import footer

from .page import Page


def footer_row(panel: str, is_back: bool, width: int, palette: Palette) -> Row:
    """Keys in bold, what they do beside them; help always at the far right."""
    *entries, help_ = footer(panel, is_back, width)
    words: list[Span] = [Span(" ")]
    for entry in entries:
        words += [Span(entry.keys, "bright", bold=True), Span(f" {entry.words}  ", "muted")]
    right = [Span(help_.keys, "bright", bold=True), Span(f" {help_.words} ", "muted")]
    return text_row(words, width, palette, "raised", right)


class Footer(Page):
    """The keys."""

    def __init__(self, palette: Palette):
        super().__init__(palette, "raised", id="footer")

    def draw(self, panel: str, is_back: bool) -> None:
        if self.size.width:
            self.show([footer_row(panel, is_back, self.size.width, self.palette)])
