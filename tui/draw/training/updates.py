"""The updates pane: how far one step moves each group of parameters, as a share of their size."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.curves import EIGHTHS
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.sight import in_sight
from tui.draw.text import Row, Span, Words, pad, segments

from .tabs import title

LOW, HIGH = -6.0, -1.0
HEALTHY = (-3.5, -2.5)
SLOWEST = -4.5
"""Where a group hardly moves: a tenth of what is healthy. Between, it is only slow, as norms often are."""
PREFIX = "update."
NAME = "update / weight"
HEAD = 2
"""Rows above the first group."""
TREND = 8
WIDE = 56  # columns from which the trend is shown
MEDIUM = 44  # columns from which words are in full
FINE = 26  # columns of a strip from which whole exponents are marked in it


class Measures(NamedTuple):
    """Columns of a group's row: its name, its number with `places` decimals, the strip, and the trend."""

    name: int
    places: int
    strip: int
    trend: int

    @property
    def start(self) -> int:
        """Where the strip begins: behind a mark, the name and the number, each with a gap."""
        return 2 + self.name + 1 + (3 + self.places) + 1


def measures(width: int) -> Measures:
    is_wide = width >= WIDE
    name, places, trend = (10, 2, TREND) if is_wide else (7, 1, 0)
    start = Measures(name, places, 0, 0).start
    return Measures(name, places, max(width - start - 1 - (trend + 2 if trend else 0), 4), trend)


def updates_pane(view: Trained, tabs: Sequence[str], here: int, width: int, height: int, palette: Palette) -> Pane:
    """A row a group: log₁₀ of ‖step‖ / ‖weights‖, where that lies beside the healthy band, and its trend."""
    pane = Pane(width, height, palette)
    log = "log10" if palette.is_ascii else "log₁₀"
    said = f"{log} of ‖Δw‖ / ‖w‖ of a step" if width >= WIDE else log
    title(pane, tabs, NAME, said, has_cursor=True)
    names = groups(view)
    if not names:
        pane.words(1, HEAD, [Span("no update yet; ", "muted"), Span("s", "bright", bold=True),
                             Span(" takes a step", "muted")])  # fmt: skip
        return pane
    size = measures(width)
    if size.trend:
        pane.words(2, 1, [Span("group", "muted")])
        pane.words_right(width - 1, 1, [Span("trend", "muted")])
    pane.put(size.start, 1, scale_row(size.strip, palette))
    shown = shown_groups(len(names), here, height)
    for y, i in enumerate(shown):
        pane.put(0, HEAD + y, group_row(view, names[i], i == here, size, names, palette))
    for y, words in enumerate(below(view, names, here, width, height - HEAD - len(shown)), HEAD + len(shown)):
        pane.words(1, y, words)
    return pane


def shown_groups(count: int, here: int, height: int) -> range:
    """Which groups there is room for: all, or those around the marked one."""
    return in_sight(count, here, height - HEAD - 2)


def below(view: Trained, names: list[str], here: int, width: int, room: int) -> list[Words]:
    """The legend, what is astray in words, and what enter does, with blank rows where there is room."""
    is_wide = width >= WIDE
    out = sorted((name for name in names if astray(view, name)), key=lambda name: -astray(view, name))
    band = " healthy band, −3.5 to −2.5" if is_wide else " healthy"
    legend = [Span("░", "muted"), Span(band, "muted")]
    if out:
        legend.append(Span(f"   ! {len(out)} astray", "stop"))
    marked = names[here]
    said = [marked, *(name for name in out if name != marked)]
    verdicts = [verdict(view, name, names, " of the weight" if width >= MEDIUM else "") for name in said]
    opens = [
        Span("enter", "bright", bold=True),
        Span(f" opens {spoken(marked, names).split('  ')[0]}'s gradients in Debug", "muted"),
    ]
    room -= 1
    most = max(min(room - 1, len(verdicts), 3), 1)
    parts: list[list[Words]] = [[legend], [*verdicts[:most]], [opens]]
    blanks = max(room - most - 1, 0)
    gaps = (blanks >= 3, blanks >= 1, blanks >= 2)
    nothing: list[Words] = [[]]
    return [line for part, gap in zip(parts, gaps, strict=True) for line in nothing * gap + part]


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


def is_astray(value: float) -> bool:
    return not SLOWEST <= value <= HEALTHY[1]


def spoken(group: str, names: Sequence[str]) -> str:
    """The group as it is called here: `0 attn`; the embedding that also makes the logits is tied."""
    tied = group == "E" and "output" not in names
    return "E  tied" if tied else group.replace("blocks.", "").replace(".", " ")


def astray(view: Trained, group: str) -> float:
    """How far a group's newest step is from where it would be no trouble, in decades; 0 there."""
    value = log_ratio(view, group)
    return max(SLOWEST - value, value - HEALTHY[1], 0.0)


def column(value: float, width: int) -> int:
    share = (min(max(value, LOW), HIGH) - LOW) / (HIGH - LOW)
    return round(share * (width - 1))


def scale_row(width: int, palette: Palette) -> Row:
    """The exponents over the strip, the middle of the band in bright."""
    text = [" "] * width
    for value in range(int(LOW), int(HIGH) + 1, 1 if width >= 20 else 2):
        word = numbers.with_minus(str(value))
        start = min(max(column(value, width) - 1, 0), width - len(word))
        text[start : start + len(word)] = word
    return segments([Span("".join(text), "muted")], palette)


def group_row(
    view: Trained, group: str, is_here: bool, size: Measures, names: Sequence[str], palette: Palette
) -> Row:
    value = log_ratio(view, group)
    is_out = is_astray(value)
    bg = "select" if is_here else "panel"
    label = pad(spoken(group, names), size.name)
    finite = f"{value:.{size.places}f}"
    number = numbers.with_minus(finite) if math.isfinite(value) else numbers.special(value)
    name_tone = "bright" if is_out or is_here else "text"
    spans = [
        Span("! " if is_out else "  ", "stop", bold=True, bg=bg),
        Span(f"{label} ", name_tone, bold=is_out, bg=bg),
        Span(f"{number:>{3 + size.places}} ", "stop" if is_out else "text", bold=is_out, bg=bg),
        *strip_spans(value, "stop" if is_out else "bright", size.strip, bg),
    ]
    if size.trend:
        spans.append(Span("  " + trend_text(view.curves[PREFIX + group][1].tolist(), size.trend), "muted", bg=bg))
    return segments([*spans, Span(" ", bg=bg)], palette)


def strip_spans(value: float, tone: str, width: int, bg: str) -> list[Span]:
    """The healthy band, fine lines at whole exponents, and a dot where the value is."""
    first, last, here = (column(v, width) for v in (*HEALTHY, value))
    whole = {column(v, width) for v in range(int(LOW), int(HIGH) + 1)} if width >= FINE else set()
    signs = ["┊" if x in whole else "░" if first <= x <= last else "┈" for x in range(width)]
    if math.isfinite(value):
        return [
            Span("".join(signs[:here]), "line", bg=bg),
            Span("●", tone, bold=True, bg=bg),
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


def verdict(view: Trained, group: str, names: Sequence[str], of_what: str) -> list[Span]:
    """A group in words."""
    value = log_ratio(view, group)
    share = f"{percent(100 * 10**value)}{of_what}"
    name = spoken(group, names)
    if not is_astray(value):
        return [Span(f"  {name}", "bright", bold=True), Span(f"  a step is {share}", "muted")]
    said = "steps are large" if value > HEALTHY[1] else "hardly moves"
    words = f"{said}: {share}" if math.isfinite(value) else "stands still"
    return [Span(f"! {name}", "stop", bold=True), Span(f"  {words}")]


def percent(x: float) -> str:
    """Two digits of it, without an exponent where it is large: `0.45%`, `9 938%`."""
    return f"{numbers.count(round(x))}%" if x >= 100 else numbers.with_minus(f"{x:.2g}%")
