"""The updates pane: how far one step moves each group of parameters, as a share of their size."""

import math

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.curves import EIGHTHS
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.text import Row, Span, cut, segments

LOW, HIGH = -6.0, -1.0
HEALTHY = (-3.5, -2.5)
PREFIX = "update."
TREND = 9
WIDE = 56  # columns from which the trend is shown


def updates_pane(view: Trained, here: int, width: int, height: int, palette: Palette) -> Pane:
    """A row a group: log₁₀ of ‖step‖ / ‖weights‖, where that lies beside the healthy band, and its trend."""
    pane = Pane(width, height, palette)
    is_wide = width >= WIDE
    log = "log10" if palette.is_ascii else "log₁₀"
    pane.title("update / weight", f"{log} of ‖Δw‖ / ‖w‖ of a step" if is_wide else log, has_cursor=True)
    names = groups(view)
    if not names:
        pane.words(1, 2, [Span("no update yet", "muted")])
        return pane
    trend = TREND if is_wide else 0
    strip = width - 20 - (trend + 2 if trend else 0)
    pane.put(18, 1, scale_row(strip, palette))
    room = max(height - 5, 1)
    here %= len(names)
    first = max(0, min(here - room // 2, len(names) - room))
    for y, group in enumerate(names[first : first + room]):
        pane.put(0, 2 + y, group_row(view, group, first + y == here, strip, trend, palette))
    band = " healthy, −3.5 to −2.5   " if is_wide else " healthy   "
    pane.words(1, height - 2, [Span("░", "muted"), Span(band, "muted"), *outside(view, names)])
    pane.words(1, height - 1, verdict(view, names[here]))
    return pane


def groups(view: Trained) -> list[str]:
    """Groups of parameters, as they lie in the model."""
    return [
        name.removeprefix(PREFIX) for name in view.curves if name.startswith(PREFIX) and view.curves[name].size
    ]


def log_ratio(view: Trained, group: str) -> float:
    """log₁₀ of the newest step's ratio."""
    ratio = float(view.curves[PREFIX + group][1, -1])
    if view.report is not None and group in view.report.updates:
        ratio = view.report.updates[group]
    return math.log10(ratio) if ratio > 0 else -math.inf


def is_healthy(value: float) -> bool:
    return HEALTHY[0] <= value <= HEALTHY[1]


def column(value: float, width: int) -> int:
    share = (min(max(value, LOW), HIGH) - LOW) / (HIGH - LOW)
    return round(share * (width - 1))


def scale_row(width: int, palette: Palette) -> Row:
    """The exponents over the strip."""
    text = [" "] * width
    for value in range(int(LOW), int(HIGH) + 1, 1 if width >= 24 else 2):
        word = numbers.with_minus(str(value))
        start = min(max(column(value, width) - 1, 0), width - len(word))
        text[start : start + len(word)] = word
    return segments([Span("".join(text), "muted")], palette)


def group_row(view: Trained, group: str, is_here: bool, width: int, trend: int, palette: Palette) -> Row:
    value = log_ratio(view, group)
    is_out = not is_healthy(value)
    tone = "stop" if is_out else "text"
    bg = "select" if is_here else "panel"
    label = cut(group.replace("blocks.", "").replace(".", " "), 9, "tail")
    number = numbers.with_minus(f"{value:.2f}") if math.isfinite(value) else numbers.special(value)
    spans = [
        Span("!" if is_out else " ", "stop", bold=True, bg=bg),
        Span(f" {label:<9}{number:>6} ", tone, bold=is_out, bg=bg),
        *strip_spans(value, tone, width, bg),
    ]
    if trend:
        spans.append(Span("  " + trend_text(view.curves[PREFIX + group][1].tolist(), trend), "muted", bg=bg))
    used = sum(len(span.text) for span in spans)
    return segments([*spans, Span(" " * max(0, 20 + width - used + (trend + 2 if trend else 0)), bg=bg)], palette)


def strip_spans(value: float, tone: str, width: int, bg: str) -> list[Span]:
    """The healthy band, and a dot where the value is."""
    first, last, here = (column(v, width) for v in (*HEALTHY, value))
    signs = ["░" if first <= x <= last else "┈" for x in range(width)]
    if math.isfinite(value):
        return [
            Span("".join(signs[:here]), "line", bg=bg),
            Span("●", "bright" if tone == "text" else tone, bold=True, bg=bg),
            Span("".join(signs[here + 1 :]), "line", bg=bg),
        ]
    return [Span("".join(signs), "line", bg=bg)]


def trend_text(values: list[float], width: int) -> str:
    """The last part of the run as small bars on a logarithmic scale."""
    if not values:
        return " " * width
    recent = [math.log10(v) if v > 0 else LOW for v in values[-8 * width :]]
    parts = [recent[len(recent) * i // width : max(len(recent) * (i + 1) // width, len(recent) * i // width + 1)]
             for i in range(width)]  # fmt: skip
    means = [sum(part) / len(part) for part in parts if part]
    low, high = min(means), max(means)
    span = max(high - low, 0.5)
    return "".join(EIGHTHS[1 + round(7 * (mean - low) / span)] for mean in means).ljust(width)


def outside(view: Trained, names: list[str]) -> list[Span]:
    count = sum(not is_healthy(log_ratio(view, name)) for name in names)
    return [Span(f"! {count} outside", "stop", bold=True)] if count else []


def verdict(view: Trained, group: str) -> list[Span]:
    """The chosen group in words."""
    value = log_ratio(view, group)
    if value > HEALTHY[1]:
        words = f"large steps: {100 * 10**value:.2g}% of its size"
    elif value < HEALTHY[0]:
        words = "hardly moves"
    else:
        words = f"moves by {100 * 10**value:.2g}% a step"
    return [Span(f"{group}  ", "bright", bold=True), Span(words, "muted")]
