"""The norm pane: the gradient's norm over the steps, where it is clipped, and the learning rate."""

import numpy as np

from glassllm.optim import lr_schedule
from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.curves import EIGHTHS
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.plot import Plot, decades
from tui.draw.text import Row, Span, segments

from .axes import LEFT, draw_axes, table

PLOTTED_FROM = 8
"""Rows from which there is an axis; below it is a row of bars."""
RATE = len("learning rate  .00260  ")
"""Columns before the bars of the rate."""


def norm_pane(view: Trained, width: int, height: int, palette: Palette) -> Pane:
    """The gradient's norm before clipping, as a curve where there is room for axes; the learning rate below."""
    pane = Pane(width, height, palette)
    (plotted if height >= PLOTTED_FROM else barred)(pane, view)
    return pane


def plotted(pane: Pane, view: Trained) -> None:
    """The curve on a logarithmic axis, and the rate in the row below its steps."""
    said = [Span(f"clipped in {clipped_share(view)} of steps", "muted")] if view.step else []
    pane.title("gradient norm", f"before clipping at {view.settings.max_norm:g}", said)
    draw_norm(pane, view, pane.height - 5)
    pane.words(LEFT, pane.height - 2, rate_words(view))
    start = LEFT + RATE
    pane.put(start, pane.height - 2, rates(view, pane.width - start - 2, pane.palette))


def barred(pane: Pane, view: Trained) -> None:
    """Two rows each: a name with its newest number, and bars over all steps."""
    report, room = view.report, pane.width - LEFT - 2
    newest = [] if report is None else [Span(numbers.stat(report.grad_norm), "bright", bold=True)]
    pane.words(1, 0, [Span("gradient norm  ", "muted"), *newest])
    pane.words_right(pane.width - 1, 0, [Span(f"clipped in {clipped_share(view)}" if view.step else "", "muted")])
    norm = table(view, "grad_norm")
    if norm.size:
        pane.put(LEFT, 1, bars(norm[1], norm[0], view.settings.steps, room, pane.palette, "bwd"))
    pane.words(1, 2, rate_words(view))
    pane.put(LEFT, 3, rates(view, room, pane.palette))


def clipped_share(view: Trained) -> str:
    return numbers.share(view.clipped / view.step)


def rate_words(view: Trained) -> list[Span]:
    rate = view.settings.lr if view.report is None else view.report.lr
    return [Span("learning rate", "muted"), Span(f"  {numbers.stat(rate)}")]


def draw_norm(pane: Pane, view: Trained, room: int) -> None:
    """The curve, the norm at which gradients are clipped, and where the norm is now."""
    limit, norm, wide = view.settings.max_norm, table(view, "grad_norm"), pane.width - LEFT - 2
    if room < 2 or wide < 10:
        return
    values = norm[1][norm[1] > 0] if norm.size else np.zeros(0)
    low, high = min([limit / 10, *values.tolist()]), max([limit * 10, *values.tolist()])
    plot = Plot(wide, room, view.settings.steps, low, high, pane.palette, is_log=True)
    marks = decades(low, high)
    draw_axes(pane, plot, marks, [numbers.stat(mark) for mark in marks], view.settings.steps, room)
    plot.line(limit, "╌", "stop")
    if norm.size:
        plot.add(norm[0], norm[1], "bwd")
    label_norm(view, plot)
    pane.block(LEFT, 2, plot.rows())


def label_norm(view: Trained, plot: Plot) -> None:
    """`clip 1` above its line at the right, `now .573` where the curve ends, or near by."""
    limit = view.settings.max_norm
    clip = [Span(f"clip {limit:g}", "stop")]
    at_limit = plot.row_of(limit) or 0
    above = max(at_limit - 1, 0)
    plot.write(plot.width - len(clip[0].text), above, clip)
    if view.report is None or plot.height < 5:
        return
    size = view.report.grad_norm
    now = [Span("now ", "muted"), Span(numbers.stat(size), "bright", bold=True), Span(clipping(view), "muted")]
    wide = sum(len(span.text) for span in now)
    x = plot.column_of(view.step) + 3
    row = plot.row_of(size) or 0
    if row in (above, at_limit):
        row = at_limit + 1 if size <= limit or above == 0 else above - 1
    if x + wide > plot.width:
        x, row = plot.width - wide, row + (2 if size <= limit else -2)
    if x >= 0 and 0 <= row < plot.height and row not in (above, at_limit):
        plot.write(x, row, now)


def rates(view: Trained, width: int, palette: Palette) -> Row:
    """The learning rate over all steps, those done in bright."""
    width = max(width, 1)
    chosen = view.settings
    steps = (round(i / width * (chosen.steps - 1)) for i in range(width))
    heights = [lr_schedule(step, chosen.steps, chosen.lr, chosen.warmup) / chosen.lr for step in steps]
    glyphs = "".join(EIGHTHS[max(1, min(round(8 * height), 8))] for height in heights)
    done = round(view.step / chosen.steps * width)
    return segments([Span(glyphs[:done], "text"), Span(glyphs[done:], "line")], palette)


def clipping(view: Trained) -> str:
    """What clipping did to every gradient of the last step; empty where nothing."""
    assert view.report is not None
    factor = view.report.clip_factor
    return "" if factor == 1 else f"  clipped × {numbers.stat(factor)}"


def bars(values: Array, xs: Array, end: float, width: int, palette: Palette, token: str) -> Row:
    """A row of bars over all steps: those done in colour, the rest empty."""
    width = max(width, 1)
    top = float(values.max(initial=0)) or 1.0
    column = np.clip(xs / max(end, 1) * width, 0, width - 1).astype(int)
    heights = np.zeros(width)
    np.maximum.at(heights, column, values)
    last = int(column[-1])
    for i in range(1, last + 1):
        heights[i] = heights[i] or heights[i - 1]
    glyphs = "".join(EIGHTHS[max(1, round(8 * float(h) / top))] for h in heights[: last + 1])
    return segments([Span(glyphs, token), Span("▁" * (width - last - 1), "line")], palette)
