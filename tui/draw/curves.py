"""Small pictures of a distribution: histogram, legend of the ramp, shares of sign, a bar for an amount.

Those that a cursor move leaves as they are are kept, so their rows are not to be changed.
"""

from functools import lru_cache
from math import log1p

import numpy as np
from rich.segment import Segment

from tui.draw import numbers
from tui.draw.colors import Ramp
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.scale import Scale, sample
from tui.draw.text import Row, Span, blank, segments

EIGHTHS = " ▁▂▃▄▅▆▇█"
RAMP, LEGEND = 16, 39  # cells
Counts = tuple[int, ...]


def counts_of(array: Array, masked: Array | None, scale: Scale, bins: int) -> Counts:
    """How many finite, unmasked values other than 0 lie in each of `bins` equal parts of the scale.

    What lies beyond counts in the outermost part.
    """
    low = scale.low / scale.limit
    with np.errstate(over="ignore"):  # far beyond the scale
        share = (sample(array, masked) / scale.limit - low) / (1 - low)
    index = np.clip(share * bins, 0, bins - 1).astype(np.intp)
    return tuple(np.bincount(index, minlength=bins).tolist())


@lru_cache(64)
def histogram_rows(counts: Counts, scale: Scale, palette: Palette, lines: int = 2) -> list[Row]:
    """The counts on a log axis, one column each, `lines` rows high; a bar has the colour of its values."""
    inks = palette.inks(scale.kind)
    most = log1p(max(counts, default=0)) or 1.0
    heights = [max(1, round(8 * lines * log1p(n) / most)) if n else 0 for n in counts]
    rows: list[Row] = []
    for line in range(lines - 1, -1, -1):
        row: Row = []
        for i, height in enumerate(heights):
            text = EIGHTHS[min(max(height - 8 * line, 0), 8)]
            ink = inks[round(_visible((i + 0.5) / len(counts), scale.kind) * (len(inks) - 1))]
            row.append(Segment(text, ink.bar) if text != " " else blank(1, palette)[0])
        rows.append(row)
    return rows


def _visible(share: float, kind: Ramp) -> float:
    """The place on the ramp for a bar: as its values, but never so near 0 that it sinks into the ground."""
    if kind == "sequential":
        return 0.2 + 0.8 * share
    away = 2 * share - 1
    return (1 + (0.3 + 0.7 * abs(away)) * (1 if away >= 0 else -1)) / 2


@lru_cache(64)
def ramp_row(scale: Scale, palette: Palette, width: int = RAMP) -> Row:
    """The ramp from its low to its high end."""
    inks = palette.inks(scale.kind)
    shown = [inks[round(i / (width - 1) * (len(inks) - 1))] for i in range(width)]
    return [Segment(ink.glyph, ink.alone) for ink in shown]


@lru_cache(64)
def legend_row(scale: Scale, clipped: str, palette: Palette) -> Row:
    """Both ends beside the ramp, at most LEGEND cells; `clipped` is the sign of what lies beyond, or nothing."""
    low, high = numbers.stat(scale.low, 2), numbers.stat(scale.limit, 2)
    words = f" {high:<5} {clipped} clipped" if clipped else f" {high}"
    if len(f"{low:>6} {words}") + RAMP > LEGEND:
        words = f" {high} {clipped}".rstrip()
    return [
        *segments([Span(f"{low:>6} ", "muted")], palette),
        *ramp_row(scale, palette),
        *segments([Span(words, "muted")], palette),
    ]


def share_row(negative: int, zero: int, positive: int, palette: Palette, width: int = 16) -> Row:
    """A bar of the shares −, 0 and +; a share that exists has at least one cell. `width` is 3 or more."""
    total = negative + zero + positive
    if not total:
        return blank(width, palette)
    parts = (negative, zero, positive)
    cells = [max(1, round(width * part / total)) if part else 0 for part in parts]
    cells[parts.index(max(parts))] += width - sum(cells)  # the largest share makes up for rounding
    return [
        Segment(ink.glyph * count, ink.style) for ink, count in zip(palette.shares(), cells, strict=False) if count
    ]


def amount_row(share: float, width: int, palette: Palette, token: str = "bwd") -> Row:
    """A thin bar: `share` of `width` in colour, the rest as a hairline; of NaN nothing."""
    filled = max(1, round(min(share, 1) * width)) if share > 0 else 0
    return segments([Span("━" * filled, token), Span("─" * (width - filled), "line")], palette)
