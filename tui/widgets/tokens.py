"""The token strip: the text that ran; the cell cursor's row of the map repeats on it, as a tint or as numbers."""

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message

from glassllm.debug.snapshot import Focus, Snapshot
from tui.draw import numbers
from tui.draw.leaf_list import spaced
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, blank, clean, fit, row_width, segments

from .page import Page

Cell = tuple[int, ...]
Array = NDArray[np.floating]

ROOMY = 100
"""Columns from which the chips stand apart and the tint is named."""
ABNORMAL = frozenset(map(numbers.special, (np.nan, np.inf, -np.inf)))


def token_row(
    tokens: tuple[str, ...], here: int, tint: Array | None, words: str, width: int, palette: Palette
) -> tuple[Row, list[range]]:
    """The strip, and the columns of each token shown (empty ranges for those that are not).

    `here` is the token of the position, underlined; `tint` one value per token, or None; `words` name the tint.
    """
    bare: list[Style | None] = [None] * len(tokens)
    shades = bare if tint is None or palette.is_flat else _shades(tint, palette)
    weights, factor = _weights(tint) if tint is not None and palette.is_flat else ([""] * len(tokens), "")
    words = f"{words}  {factor}" if factor else words
    chips = [
        _chip(clean(spaced(token)), i == here, shade, weight, palette)
        for i, (token, shade, weight) in enumerate(zip(tokens, shades, weights, strict=True))
    ]
    widths = [row_width(chip) for chip in chips]
    note = segments([Span(words + " ", "muted")], palette, "bg") if words and width >= ROOMY else []
    room = width - 1 - row_width(note)
    gap = int(width >= ROOMY)
    first, last = _window([size + gap for size in widths], max(here, 0), room)
    row: Row = segments([Span("…" if first else " ", "faint")], palette, "bg")
    places = [range(0)] * len(tokens)
    for i in range(first, last):
        places[i] = range(row_width(row), row_width(row) + widths[i])
        row += chips[i]
        row += blank(gap, palette, "bg")
    if last < len(tokens):
        row += segments([Span("…", "faint")], palette, "bg")
    return [*fit(row, width - row_width(note), palette, "bg"), *note], places


def _window(widths: list[int], here: int, room: int) -> tuple[int, int]:
    """The longest run of tokens around `here` that fits, all of them if they do."""
    first = last = min(here, max(len(widths) - 1, 0))
    used = 2
    while True:
        grown = False
        if last < len(widths) and used + widths[last] <= room:
            used, last, grown = used + widths[last], last + 1, True
        if first > 0 and used + widths[first - 1] <= room:
            used, first, grown = used + widths[first - 1], first - 1, True
        if not grown:
            return first, last


def _chip(word: str, is_here: bool, shade: Style | None, weight: str, palette: Palette) -> Row:
    """A token on its tint, or with its weight behind it."""
    text = f" {palette.spell(word)} "
    if shade is not None:
        return [Segment(text, shade + Style(bold=True, underline=True) if is_here else shade)]
    row = [Segment(text, palette.style("bright" if is_here else "muted", "bg", is_here, is_here))]
    if weight in ABNORMAL:
        return [*row, Segment(palette.spell(weight), palette.nan), *blank(1, palette, "bg")]
    return [*row, *segments([Span(weight and f"{weight} ", "faint")], palette, "bg")]


def _weights(tint: Array) -> tuple[list[str], str]:
    """Each token's value as a short text, empty for 0, and the factor that all share."""
    texts, factor = numbers.row_numbers(tint)
    return ["" if value == 0 else text for value, text in zip(tint, texts, strict=True)], factor


def _shades(tint: Array, palette: Palette) -> list[Style | None]:
    """The style of each token's value, by sign and share of the largest; None for 0."""
    finite = tint[np.isfinite(tint)]
    top, is_signed = float(np.abs(finite).max(initial=0)), bool((finite < 0).any())
    ramp = palette.ramp("diverging" if is_signed else "sequential")

    def shade(value: float) -> Style | None:
        if value == 0:
            return None
        if not np.isfinite(value):
            return palette.nan
        part = (value / top + 1) / 2 if is_signed else value / top
        return palette.on(ramp[round(part * (len(ramp) - 1))])

    return [shade(value) for value in tint.tolist()]


def tint_of(focus: Focus, cell: Cell | None, tokens: int) -> tuple[Array | None, str]:
    """The cell's row as one value per token, where its last axis counts tokens, and what to call it."""
    if cell is None or not focus.recorded or len(cell) < 2:
        return None, ""
    axis = focus.axes[-1] if focus.axes else None
    if axis is None or not axis.labels or focus.value.shape[-1] != tokens:
        return None, ""
    row = np.asarray(focus.value[cell[:-1]], np.float64)
    if focus.masked is not None:
        row = np.where(focus.masked[cell[:-1]], 0, row)
    slice_words = f", {focus.axes[0].name} {cell[0] + 1}" if len(cell) > 2 else ""
    labels = focus.axes[-2].labels
    of = f" of {labels[cell[-2]].strip(' ▁·')}" if labels else ""
    name = focus.title.rpartition(" · ")[2]
    return row, f"{'attention' if name == 'attn.softmax' else name}{of}{slice_words}"


def token_of(focus: Focus, cell: Cell | None) -> int:
    """The position in the text that the cell belongs to: its row's token; −1 for none."""
    if cell is None:
        return -1
    for axis, i in list(zip(focus.axes, cell, strict=False))[:-1] or list(zip(focus.axes, cell, strict=False)):
        if axis.labels:
            return i
    return -1


class TokenStrip(Page):
    """The token strip; a click asks for that token's row."""

    class Clicked(Message):
        """The token that was clicked."""

        def __init__(self, token: int):
            super().__init__()
            self.token = token

    def __init__(self, palette: Palette):
        super().__init__(palette, "bg", id="tokens")
        self._places: list[range] = []

    def draw(self, snapshot: Snapshot, cell: Cell | None) -> None:
        if not self.size.width:
            return
        tokens = snapshot.run.tokens
        tint, words = tint_of(snapshot.focus, cell, len(tokens))
        here = token_of(snapshot.focus, cell)
        row, self._places = token_row(tokens, here, tint, words, self.size.width, self.palette)
        self.show([row])

    def on_click(self, event: events.Click) -> None:
        for token, columns in enumerate(self._places):
            if event.x in columns:
                self.post_message(self.Clicked(token))
