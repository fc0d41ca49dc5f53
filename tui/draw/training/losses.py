"""The left panes: loss and validation over the steps, the gradient's norm before clipping, the learning rate."""

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

LEFT = 7  # columns for the numbers of the vertical axis
NOTHING = np.zeros((4, 0))


def loss_pane(view: Trained, is_log: bool, width: int, height: int, palette: Palette) -> Pane:
    pane = Pane(width, height, palette)
    axis = [
        Span("linear", "muted" if is_log else "text"),
        Span(" ‹l› ", "bright"),
        Span("log", "text" if is_log else "muted"),
    ]
    pane.title("loss", "nats per token", axis)
    loss, valid = table(view, "loss"), table(view, "val_loss")
    high = max(view.uniform * 1.02, *loss[3].tolist()) if loss.size else view.uniform * 1.02
    high = min(high, 3 * view.uniform)
    found = [row[2].min() for row in (loss, valid) if row.size]
    low = min(float(min(found)) if found else 0.0, 0.8 * view.uniform)
    low = low * 0.9 if is_log else max(0.0, low - 0.05 * (high - low))
    low = max(low, 1e-3) if is_log else low
    room, wide = height - 5, width - LEFT - 2
    if room < 2 or wide < 10:
        return pane
    plot = Plot(wide, room, view.settings.steps, low, high, palette, is_log)
    marks = ticks(low, high, max(room // 4, 2))
    draw_axes(pane, plot, marks, [f"{mark:.3g}" for mark in marks], view.settings.steps, room)
    if loss.size:
        plot.add(loss[0], loss[1], "muted")
    if valid.size:
        plot.add(valid[0], valid[1], "pos")
    label_curves(view, loss, valid, plot)
    pane.block(LEFT, 2, plot.rows())
    pane.words(LEFT, height - 1, guesses(view, loss, valid, width))
    return pane


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
    lines = [NOT_BEGUN] if not loss.size else ends(view, loss, valid, plot.width)
    wide = max(sum(len(span.text) for span in line) for line in lines)
    x, y = 2, 1
    if loss.size:
        x = round(float(loss[0, -1]) / plot.end * (plot.width - 1)) + 3
        y = (plot.row_of(float(loss[1, -1])) or 0) - len(lines) - 1
    if wide >= plot.width:
        return
    x = max(min(x, plot.width - wide), 0)
    y = max(min(y, plot.height - len(lines)), 0)
    for i, line in enumerate(lines[: plot.height]):
        plot.write(x, y + i, line)


NOT_BEGUN = [
    Span("no step taken yet   ", "muted"), Span("space", "bright", bold=True), Span(" trains   ", "muted"),
    Span("e", "bright", bold=True), Span(" settings", "muted"),
]  # fmt: skip


def ends(view: Trained, loss: Array, valid: Array, width: int) -> list[list[Span]]:
    """The newest validation and training loss."""
    train = [Span("train ", "muted"), Span(f"{loss[1, -1]:.3f}")]
    if not valid.size:
        return [train]
    best = view.best_val
    said = f"  best {best[1]:.3f} at {numbers.count(best[0] + 1)}" if best and width >= 60 else ""
    return [[Span("val   ", "pos"), Span(f"{valid[1, -1]:.3f}", "bright", bold=True), Span(said, "muted")], train]


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
    limit = view.settings.max_norm
    norm = table(view, "grad_norm")
    share = numbers.share(view.clipped / view.step) if view.step else ""
    pane.title(
        "gradient norm",
        f"before clipping at {limit:g}",
        [Span(f"clipped in {share} of steps" if share else "", "muted")],
    )
    room, wide = height - 5, width - LEFT - 2
    values = norm[1][norm[1] > 0] if norm.size else np.zeros(0)
    low = min([limit / 10, *values.tolist()])
    high = max([limit * 10, *values.tolist()])
    if room >= 2 and wide >= 10:
        plot = Plot(wide, room, view.settings.steps, low, high, palette, is_log=True)
        marks = decades(low, high)
        draw_axes(pane, plot, marks, [numbers.stat(mark) for mark in marks], view.settings.steps, room)
        plot.line(limit, "╌", "stop")
        if norm.size:
            plot.add(norm[0], norm[1], "bwd")
        pane.block(LEFT, 2, plot.rows())
    elif norm.size and height >= 3:
        pane.put(LEFT + 5, 1, bars(norm[1], norm[0], view.settings.steps, wide - 5, palette, "bwd"))
    now = numbers.stat(view.report.lr) if view.report else numbers.stat(view.settings.lr)
    pane.words(1, height - 2, [Span("rate ", "muted"), Span(now)])
    pane.put(LEFT + 5, height - 2, rates(view, wide - 5, palette))
    if view.report is not None:
        size = numbers.stat(view.report.grad_norm)
        said = [Span("norm ", "muted"), Span(size, "bright", bold=True), Span(clipping(view), "muted")]
        pane.words(1, height - 1, said)
    return pane


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
    """What clipping did at the last step."""
    assert view.report is not None
    factor = view.report.clip_factor
    return "   not clipped" if factor == 1 else f"   clipped: every gradient × {numbers.stat(factor)}"


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
