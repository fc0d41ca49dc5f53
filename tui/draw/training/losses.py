"""The loss pane: training and validation loss over the steps, and what guesses would cost."""

from collections.abc import Sequence

import numpy as np

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.plot import Plot, ticks
from tui.draw.text import Span, Words

from .axes import LEFT, draw_axes, table
from .tabs import title

AXES = ("linear", " ‹l› ", "log")
GUESSES_FROM = 16
"""Rows from which there is one for what guesses cost."""
POINT = "o"
"""What marks a validation where colour cannot tell it from training."""


def axis_words(is_log: bool) -> list[Span]:
    """The choice at the right of the title, the axis that is drawn in bright."""
    linear, key, log = AXES
    return [
        Span(linear, "muted" if is_log else "text"),
        Span(key, "bright"),
        Span(log, "text" if is_log else "muted"),
    ]


def loss_pane(view: Trained, tabs: Sequence[str], is_log: bool, width: int, height: int, palette: Palette) -> Pane:
    pane = Pane(width, height, palette)
    title(pane, tabs, "loss", "nats per token", axis_words(is_log), has_cursor=len(tabs) > 1)
    loss, valid = table(view, "loss"), table(view, "val_loss")
    low, high = span_of(view, loss, valid, is_log)
    has_guesses = height >= GUESSES_FROM
    room, wide = height - 3 - has_guesses, width - LEFT - 2
    if room < 2 or wide < 10:
        return pane
    plot = Plot(wide, room, view.settings.steps, low, high, palette, is_log)
    marks = ticks(low, high, max(room // 3, 2))
    draw_axes(pane, plot, marks, labels(marks), view.settings.steps, room)
    if loss.size:
        plot.add(loss[0], loss[1], "muted")
        plot.now(float(loss[0, -1]) + 1)
    if valid.size:
        if palette.is_flat:
            plot.points(valid[0], valid[1], POINT, "pos")
        else:
            plot.add(valid[0], valid[1], "pos")
    label_curves(view, loss, valid, plot)
    pane.block(LEFT, 2, plot.rows())
    if has_guesses:
        pane.words(LEFT, height - 1, guesses(view, loss, valid, width))
    return pane


def span_of(view: Trained, loss: Array, valid: Array, is_log: bool) -> tuple[float, float]:
    """The axis: from below everything seen so far to the uniform guess, or above it where the loss was."""
    high = max(view.uniform * 1.02, *loss[3].tolist()) if loss.size else view.uniform * 1.02
    high = min(high, 3 * view.uniform)
    found = [row[2].min() for row in (loss, valid) if row.size]
    low = min(float(min(found)) if found else 0.0, 0.8 * view.uniform)
    if is_log:
        return max(low * 0.9, 1e-3), high
    return max(0.0, low - 0.05 * (high - low)), high


def labels(marks: list[float]) -> list[str]:
    """What stands at the marks of an axis: all with as many decimals as one needs."""
    texts = [f"{mark:.3g}" for mark in marks]
    places = max((len(text.partition(".")[2]) for text in texts), default=0)
    return [f"{mark:.{places}f}" for mark in marks]


def label_curves(view: Trained, loss: Array, valid: Array, plot: Plot) -> None:
    """What the curves end with, written right of where they end."""
    lines = ends(view, loss, valid, plot) if loss.size else [NOT_FINITE if view.step else NOT_BEGUN]
    wide = max(sum(len(span.text) for span in line) for line in lines)
    x, y = 1, 1
    if loss.size:
        x = plot.column_of(float(loss[0, -1]) + 1) + 2
        y = (plot.row_of(float(loss[1, -1])) or 0) - len(lines) - 1
    if wide >= plot.width:
        return
    if x + wide > plot.width:  # no room beside the end: above or below all that is drawn there
        x = plot.width - wide
        first = np.searchsorted(loss[0], x / plot.width * plot.end)
        there = loss[:, min(int(first), loss.shape[1] - 1) :]
        y = (plot.row_of(float(there[3].max())) or 0) - len(lines)
        if y < 0:
            y = (plot.row_of(float(there[2].min())) or 0) + 1
    y = max(min(y, plot.height - len(lines)), 0)
    for i, line in enumerate(lines[: plot.height]):
        plot.write(x, y + i, line)


NOT_BEGUN = [
    Span(" no step taken yet   ", "muted"), Span("space", "bright", bold=True), Span(" trains   ", "muted"),
    Span("e", "bright", bold=True), Span(" settings ", "muted"),
]  # fmt: skip
NOT_FINITE = [Span(" no loss was a finite number ", "muted")]


def ends(view: Trained, loss: Array, valid: Array, plot: Plot) -> list[list[Span]]:
    """The newest validation and training loss."""
    width, is_flat = plot.width, plot.palette.is_flat
    train = [Span("  train " if is_flat else "train ", "muted"), Span(f"{loss[1, -1]:.3f}")]
    if not valid.size:
        return [train]
    best, label = view.best_val, f"{POINT} val   " if is_flat else "val   "
    at = f" at {numbers.count(best[0] + 1)}" if best and width >= 60 else ""
    said = f"  best {best[1]:.3f}{at}" if best and width >= 34 else ""
    return [[Span(label, "pos"), Span(f"{valid[1, -1]:.3f}", "bright", bold=True), Span(said, "muted")], train]


def guesses(view: Trained, loss: Array, valid: Array, width: int) -> Words:
    words = [Span("uniform guess " if width >= 50 else "uniform ", "muted"), Span(f"{view.uniform:.3f}")]
    if view.unigram:
        words += [Span("   unigram ", "muted"), Span(f"{view.unigram:.3f}")]
    if loss.size and valid.size and width >= 70:
        gap = numbers.with_minus(f"{valid[1, -1] - loss[1, -1]:.3f}")
        words += [Span("   gap val − train ", "muted"), Span(gap)]
    return words
