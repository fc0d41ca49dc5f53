"""The title of a pane that shares its place with others: their names, of which one is shown."""

from collections.abc import Sequence

from tui.draw.pane import Pane
from tui.draw.text import Span, Words

BEFORE = 1  # columns before the first name
GAP = "  "


def title(
    pane: Pane, tabs: Sequence[str], shown: str, words: str = "", right: Words = (), has_cursor: bool = False
) -> None:
    """The title row; a pane that has its place for itself has an ordinary one."""
    if len(tabs) < 2:
        pane.title(shown, words, right, has_cursor)
        return
    names = [
        Span(name, "bright", bold=True, underline=True) if name == shown else Span(name, "muted") for name in tabs
    ]
    row = [Span("▌" if has_cursor else " ", "bright")]
    for i, name in enumerate(names):
        row += [*([Span(GAP)] if i else []), name]
    used = sum(len(span.text) for span in (*row, *(Span(*span) for span in right))) + 2
    room = pane.width - used - len(GAP)
    pane.words(0, 0, [*row, Span(GAP + words if len(words) <= room else "", "muted")])
    if used <= pane.width:
        pane.words_right(pane.width - 1, 0, right)


def tab_at(tabs: Sequence[str], column: int) -> int | None:
    """Which name stands at this column of the title row."""
    start = BEFORE
    for i, name in enumerate(tabs):
        if start <= column < start + len(name) and len(tabs) > 1:
            return i
        start += len(name) + len(GAP)
    return None
