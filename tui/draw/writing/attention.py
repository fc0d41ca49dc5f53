"""The attention pane: what each head of each layer looks at when the next token is chosen, a row a head."""

import numpy as np

from glassllm.generation import Written
from tui.draw.cells import levels, shaded_rows, tinted_rows
from tui.draw.leaf_list import spaced
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.scale import Scale, encode
from tui.draw.text import Row, Span, clean, cut

from .choice import Choice, heads, layer_and_head

LEFT, RIGHT = 12, 8  # columns for the names of the heads, for their entropy
CELL = 2
STAGGER = 3  # rows over which the tokens' names are spread


def attention_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> Pane:
    """As many heads as there are rows for, the chosen one among them."""
    pane = Pane(width, height, palette)
    layers, each = heads(view)
    pane.title("attention", f"of the last token  {layers * each} heads × {len(view.tokens)} tokens",
               [Span("each row sums to 1", "muted")])  # fmt: skip
    if view.attention is None or height < 4:
        return pane
    names = STAGGER if height >= 10 else 0
    rows = view.attention.reshape(layers * each, -1)
    first, last = window(len(rows), choice.head % len(rows), height - 2 - names)
    shown = rows[first:last, -columns(width) :]
    pane.words_right(width - 1, 1, [Span("nats", "faint")])
    for y, row in enumerate(map_rows(shown, rows, palette)):
        number = first + y
        layer, head = divmod(number, each)
        is_chosen = number == choice.head % len(rows)
        tone = "bright" if is_chosen else "muted"
        label = f"blocks.{layer}" if head == 0 or y == 0 else ""
        pane.words(1, 2 + y, [Span(f"{label:<8}{head + 1:>2}", tone, bold=is_chosen)])
        pane.put(LEFT, 2 + y, row)
        mark = palette.marks.row if is_chosen else " "
        entropy = f"{entropy_of(rows[number]):.1f}"
        pane.words_right(width - 1, 2 + y, [Span(f"{mark} ", "fwd"), Span(f"{entropy:>4}", tone)])
    if names:
        label_tokens(pane, view, shown.shape[1], 2 + last - first)
    return pane


def attention_strip(view: Written, choice: Choice, width: int, palette: Palette) -> list[Row]:
    """The chosen head alone, on two rows: which it is, and what it looks at."""
    pane = Pane(width, 2, palette)
    if view.attention is not None:
        layer, head = layer_and_head(view, choice)
        each = heads(view)[1]
        chosen = view.attention[layer, head]
        pane.words(1, 0, [Span("head ", "muted"), Span(f"blocks.{layer} {head + 1}/{each}", "bright", bold=True),
                          Span(f"  {entropy_of(chosen):.1f} nats", "muted")])  # fmt: skip
        pane.put(1, 1, map_rows(chosen[None, -((width - 2) // CELL) :], view.attention, palette)[0])
    return list(pane.rows())


def columns(width: int) -> int:
    """Tokens that fit: the newest ones are shown."""
    return max((width - LEFT - RIGHT) // CELL, 1)


def window(count: int, here: int, room: int) -> tuple[int, int]:
    """First and last row shown, `here` in the middle where not all fit."""
    room = max(min(room, count), 1)
    first = max(0, min(here - room // 2, count - room))
    return first, first + room


def map_rows(shown: Array, of: Array, palette: Palette) -> list[Row]:
    """The weights as medium cells on the scale of all heads."""
    scale = Scale("sequential", float(np.nanmax(of, initial=1e-9)))
    codes = encode(shown, None, scale, levels(palette, scale.kind))
    if palette.is_flat:
        return shaded_rows(codes, "medium", palette, scale.kind, None, None)
    return tinted_rows(codes, "medium", palette, scale.kind, None)


def label_tokens(pane: Pane, view: Written, count: int, top: int) -> None:
    """The tokens' names under their columns, each on one of three rows so that it has six cells."""
    tokens = view.tokens[-count:]
    for i, token in enumerate(tokens):
        text = cut(clean(spaced(token).removeprefix("·")), STAGGER * CELL - 1)
        x = LEFT + i * CELL
        if x + len(text) < pane.width:
            pane.words(x, top + i % STAGGER, [Span(text, "text" if i == len(tokens) - 1 else "faint")])


def entropy_of(row: Array) -> float:
    """−Σ w log w in nats."""
    some = row[row > 0].astype(np.float64)
    return float(-(some * np.log(some)).sum()) + 0.0
