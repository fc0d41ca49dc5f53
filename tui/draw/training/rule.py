"""The rows below the board: how AdamW updates weights, and the last step's numbers in it."""

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, Words, text_row

from .norm import clipping
from .timeline import pace


def rule(view: Trained, width: int, count: int, palette: Palette) -> list[Row]:
    """The update and the clipping, and the last step's numbers in them; in one row the formula and the pace."""
    report, settings = view.report, view.settings
    top: Words = [Span(" AdamW", "bright", bold=True), Span("   w ← w − η ( m / (√v + ε) + λ w )")]
    if count < 2:
        clipped = [] if report is None else [Span(clipping(view).replace("clipped", " clip g"), "muted")]
        speed = [] if view.tokens_per_second is None else [Span("   "), *pace(view.tokens_per_second)]
        return [text_row([*top, *clipped, *speed], width, palette, "bg")][:count]
    top = [*top, Span("      clip  ", "muted"), Span(f"g ← g · min(1, {settings.max_norm:g}/‖g‖)")]
    if report is None:
        below: Words = [Span(" before the first step", "muted")]
    else:
        below = [
            Span(f" step {numbers.count(view.step)}", "bright", bold=True),
            Span("   ‖g‖ ", "muted"), Span(numbers.stat(report.grad_norm)), Span(" → ", "muted"),
            Span(clipping(view).strip() or "not clipped"),
            Span("   η ", "muted"), Span(numbers.stat(report.lr)),
            Span("   λ ", "muted"), Span(numbers.stat(settings.weight_decay)), Span(" on matrices only", "muted"),
        ]  # fmt: skip
    return [text_row(words, width, palette, "bg") for words in (top, below)]
