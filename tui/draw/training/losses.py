"""The left panes: loss and validation over the steps, the gradient's norm before clipping, the learning rate."""

from collections.abc import Sequence

import numpy as np

from glassllm.optim import lr_schedule
from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.curves import EIGHTHS
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.plot import Plot, decades, ticks
from tui.draw.text import Row, Span, Words, segments

from .tabs import title

LEFT = 7  # columns for the numbers of the vertical axis
NOTHING = np.zeros((4, 0))
AXES = ("linear", " ‹l› ", "log")
GUESSES_FROM = 16
"""Rows from which there is one for what guesses cost."""
POINT = "o"
"""What marks a validation where colour cannot tell it from training."""
PLOTTED_FROM = 8
"""Rows from which the gradient's norm has an axis; below it is a row of bars."""


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
    draw_axes(pane, plot, *labelled(ticks(low, high, max(room // 3, 2))), view.settings.steps, room)
    if loss.size:
        plot.add(loss[0], loss[1], "muted")
        plot.now(float(loss[0, -1]) + 1)
    if valid.size:
        plot.add(valid[0], valid[1], "pos", sign=POINT * palette.is_flat)
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


def labelled(marks: list[float]) -> tuple[list[float], list[str]]:
    """The marks of an axis, and all of them with as many decimals as one needs."""
    texts = [f"{mark:.3g}" for mark in marks]
    places = max((len(text.partition(".")[2]) for text in texts), default=0)
    return marks, [f"{mark:.{places}f}" for mark in marks]


def table(view: Trained, name: str) -> Array:
    """(4, N): step, mean, lowest, highest."""
    return view.curves.get(name, NOTHING)


def draw_axes(pane: Pane, plot: Plot, marks: list[float], texts: list[str], steps: int, room: int) -> None:
    """Numbers at the left, a fine line at each, steps below."""
    used = set()
    for mark, text in zip(marks, texts, strict=True):
        row = plot.row_of(mark)
        if row is not None and row not in used:
            used.add(row)
            plot.line(mark)
            pane.words_right(LEFT - 1, 2 + row, [Span(text, "muted")])
    wide = plot.width
    for share in (0, 0.25, 0.5, 0.75, 1) if wide >= 50 else (0, 0.5, 1):
        text = numbers.count(round(steps * share))
        x = LEFT + round(share * (wide - 1))
        start = max(LEFT, min(x - len(text) // 2, LEFT + wide - len(text)))
        pane.words(start, 2 + room, [Span(text, "muted")])


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


def norm_pane(view: Trained, width: int, height: int, palette: Palette) -> Pane:
    """The gradient's norm on a logarithmic axis, where it is clipped, and the learning rate below."""
    pane = Pane(width, height, palette)
    report = view.report
    share = numbers.share(view.clipped / view.step) if view.step else ""
    if height >= PLOTTED_FROM:
        said = [Span(f"clipped in {share} of steps", "muted")] if share else []
        pane.title("gradient norm", f"before clipping at {view.settings.max_norm:g}", said)
        draw_norm(pane, view, height - 5)
        rate_at = height - 2
    else:
        said = [] if report is None else [Span(numbers.stat(report.grad_norm), "bright", bold=True)]
        pane.words(1, 0, [Span("gradient norm  ", "muted"), *said])
        pane.words_right(width - 1, 0, [Span(f"clipped in {share}" if share else "", "muted")])
        norm = table(view, "grad_norm")
        if norm.size:
            bar_row = bars(norm[1], norm[0], view.settings.steps, width - LEFT - 2, palette, "bwd")
            pane.put(LEFT, 1, bar_row)
        rate_at = 2
    rate = numbers.stat(view.settings.lr if report is None else report.lr)
    words = [Span("learning rate", "muted"), Span(f"  {rate}")]
    is_beside = height >= PLOTTED_FROM
    pane.words(LEFT if is_beside else 1, rate_at, words)
    start = LEFT + len("learning rate  .00260  ") if is_beside else LEFT
    pane.put(start, rate_at + (not is_beside), rates(view, width - start - 2, palette))
    return pane


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
