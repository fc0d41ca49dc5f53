"""An engine error: what happened, what is kept, where it is written down. The session stays usable."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from tui import log
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, clean, fit, segments
from tui.messages import EngineFailed

from .overlay import Overlay

WIDEST = 100


def fault_rows(failed: EngineFailed, path: Path | None, width: int, palette: Palette) -> list[Row]:
    """A bar in the colour of stops at the left of every row, no box."""
    kept = "everything recorded so far; you can still browse and step back"
    written = [Span(log.shown(path)), Span("  the full traceback", "muted")] if path else [
        Span("no log: its folder cannot be written", "muted")
    ]  # fmt: skip
    room = max(width - 16, 20)
    lines = textwrap.wrap(clean(failed.text), room, max_lines=4, placeholder="…") or ["no words were given"]
    body: list[list[Span]] = [
        [],
        [Span("✗ engine stopped", "stop", bold=True), Span(f"   during {failed.request}", "muted")],
        [],
        [Span("what    ", "muted"), Span(f"  {failed.kind}  ", "bright", bold=True)],
        *([Span(" " * 10), Span(line)] for line in lines),
        [],
        [Span("kept      ", "muted"), Span(kept)],
        [Span("log       ", "muted"), *written],
        [],
        [Span("esc", "bright", bold=True), Span(" close and browse", "muted")],
        [],
    ]
    bar = segments([Span("▌  ", "stop")], palette, "raised")
    return [fit([*bar, *segments(words, palette, "raised")], width, palette, "raised") for words in body]


class FaultScreen(Overlay):
    """Shown until closed."""

    def __init__(self, palette: Palette, failed: EngineFailed, path: Path | None):
        super().__init__(palette)
        self.failed, self.path = failed, path

    def draw(self, width: int, height: int) -> Sequence[Row]:
        return fault_rows(self.failed, self.path, min(width - 4, WIDEST), self.palette)
