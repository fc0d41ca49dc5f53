"""The attention pane: what each head of each layer looks at when the next token is chosen, a row a head."""

from dataclasses import replace

import numpy as np

from glassllm.generation import Written, entropy
from tui.draw import numbers
from tui.draw.cells import levels, shaded_rows, tinted_rows
from tui.draw.heatmap import dotted_rows
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.scale import Scale, encode, scale_of
from tui.draw.sight import in_sight
from tui.draw.text import Row, Span

from .axis import CELL, STAGGER, name_columns, names
from .choice import Choice, layer_and_head
from .spots import Sketch
from .words import nats

LEFT, RIGHT = 12, 8  # columns for the names of the heads, for their entropy
WIDE = 80  # columns with room for more than the most needed


def attention_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> Sketch:
    """As many heads as there are rows for, the chosen one among them; dots where a layer has not looked yet."""
    pane = Sketch(width, height, palette)
    layers, each = view.layers, view.heads
    pane.title("attention", f"of the last token  {layers * each} heads × {len(view.tokens) - view.unseen} tokens",
               [Span("each row sums to 1" if width >= WIDE else "", "muted")])  # fmt: skip
    if view.attention is None or height < 4:
        return pane
    below = STAGGER if height >= 10 else 0  # rows for the names
    rows = view.attention.reshape(layers * each, -1)
    sight = in_sight(len(rows), choice.head % len(rows), height - 2 - below)
    shown = rows[sight.start : sight.stop, -columns(width) :]
    known = rows[: view.looked * each]
    limit = scale_of_all(rows).limit
    if (shown[: max(len(known) - sight.start, 0)] > limit).any():
        pane.words(LEFT, 1, [Span(f"+ above {numbers.stat(limit)}", "faint")])
    pane.words_right(width - 1, 1, [Span("nats", "faint")])
    for y, (number, row) in enumerate(zip(sight, map_rows(shown, rows, palette), strict=True)):
        is_known = number < len(known)
        pane.put(LEFT, 2 + y, row if is_known else unseen(shown.shape[1], y, palette))
        openness = nats(entropy(rows[number].astype(np.float64)), 1) if is_known else ""
        name_head(pane, view, choice, number, 2 + y, openness, is_first=y == 0)
    if below:
        name_columns(pane, names(view, shown.shape[1]), LEFT, 2 + len(sight), "text")
    return pane


def name_head(
    pane: Sketch, view: Written, choice: Choice, number: int, y: int, openness: str, is_first: bool
) -> None:
    """Which head the row is, its block beside the first that is shown of it, and at the right its entropy."""
    layer, head = divmod(number, view.heads)
    is_chosen, is_played = (layer, head) == layer_and_head(view, choice), layer == looking(view)
    tone = "fwd" if is_played else "bright" if is_chosen else "muted"
    label = f"blocks.{layer}" if head == 0 or is_first else ""
    pane.words(1, y, [Span(f"{label:<8}{head + 1:>2}", tone, bold=is_chosen or is_played)])
    mark = pane.palette.marks.row if is_chosen else " "
    pane.words_right(pane.width - 1, y, [Span(f"{mark} ", "fwd"), Span(f"{openness:>4}", tone)])
    pane.spot(0, y, pane.width, "head", number)


def attention_strip(view: Written, choice: Choice, width: int, palette: Palette) -> list[Row]:
    """The chosen head alone, on two rows: which it is, and what it looks at."""
    pane = Pane(width, 2, palette)
    if view.attention is not None:
        layer, head = layer_and_head(view, choice)
        chosen = view.attention[layer, head]
        is_known = layer < view.looked
        said = f"  {nats(entropy(chosen.astype(np.float64)), 1)} nats" if is_known else "  looks with attn.softmax"
        name = Span(f"blocks.{layer} {head + 1}/{view.heads}", "bright", bold=True)
        pane.words(1, 0, [Span("head ", "muted"), name, Span(said, "muted")])
        shown = chosen[None, -((width - 2) // CELL) :]
        row = map_rows(shown, view.attention, palette)[0]
        pane.put(1, 1, row if is_known else unseen(shown.shape[1], 0, palette))
    return list(pane.rows())


def looking(view: Written) -> int | None:
    """The layer whose attention the playback is at."""
    moment = view.moment
    return moment.layer if moment is not None and moment.step.startswith("attn.") else None


def unseen(count: int, y: int, palette: Palette) -> Row:
    """In the place of so many weights that have not been computed yet."""
    return dotted_rows(count * CELL, y % 2 + 1, "", palette)[-1]


def columns(width: int) -> int:
    """Tokens that fit: the newest ones are shown."""
    return max((width - LEFT - RIGHT) // CELL, 1)


def map_rows(shown: Array, of: Array, palette: Palette) -> list[Row]:
    """The weights as medium cells on the scale of all heads, which so stays while a token is played."""
    scale = scale_of_all(of)
    codes = encode(shown, None, scale, levels(palette, scale.kind))
    if palette.is_flat:
        return shaded_rows(codes, "medium", palette, scale.kind, None, None)
    return tinted_rows(codes, "medium", palette, scale.kind, None)


def scale_of_all(weights: Array) -> Scale:
    return replace(scale_of(weights), kind="sequential")
