"""The text pane: prompt and new tokens as chips, tinted by what one head looks at, and the surprise of each."""

import numpy as np
from rich.segment import Segment
from rich.style import Style

from glassllm.generation import Written
from tui.draw import numbers
from tui.draw.curves import EIGHTHS
from tui.draw.leaf_list import spaced
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.text import Row, Span, blank, clean, crop, row_width, segments

from .choice import Choice, layer_and_head, marked, name, weights

NEAR = 0.05  # weights from here on are written where nothing can be tinted


def prose_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette, is_roomy: bool) -> Pane:
    """`is_roomy`: a blank line between two of text, and a legend."""
    pane = Pane(width, height, palette)
    layer, head = layer_and_head(view, choice)
    words = f"tinted by what blocks.{layer} head {head + 1} looks at to choose the next token"
    pane.title("text", words if is_roomy else f"blocks.{layer} head {head + 1}")
    below = below_text(view, choice, width, palette, is_roomy)
    step = 2 if is_roomy else 1
    room = max((height - 2 - len(below) - 1) // step, 1)
    lines = flowed(chips(view, choice, palette), width - 4, palette)
    if len(lines) > room:
        lines = lines[-room:]
        pane.words(0, 2, [Span("…", "faint")])
    for i, line in enumerate(lines):
        pane.put(2, 2 + i * step, line)
    for i, row in enumerate(reversed(below)):
        pane.put(1, height - 1 - i, row)
    return pane


def below_text(view: Written, choice: Choice, width: int, palette: Palette, is_roomy: bool) -> list[Row]:
    """What is said of the text: the marked candidate, the surprise of each new token, perplexity."""
    rows = [segments(words, palette) for words in (candidate_words(view, choice), text_words(view))]
    rows = [crop(row, width - 2) for row in rows]
    if view.path:
        rows.append(surprise_row(view, width - 2, palette))
    if is_roomy:
        rows.append(segments(LEGEND, palette))
    return rows


LEGEND = [
    Span("prompt "), Span("regular   ", "muted"), Span("new ", bold=True), Span("bold   ", "muted"),
    Span(" next ", "bg", bold=True, bg="fwd"), Span("   ← → move along the text   ", "muted"),
    Span("d", "bright", bold=True), Span(" opens this step in Debug", "muted"),
]  # fmt: skip


def candidate_words(view: Written, choice: Choice) -> list[Span]:
    found = marked(view, choice)
    if found is None or view.candidates is None:
        return [Span(view.fault, "stop")]
    is_next = found.token == view.upcoming
    return [
        Span("next " if is_next else "marked ", "muted"),
        Span(name(view, found.token), "fwd" if is_next else "bright", bold=True),
        *fact("p", numbers.stat(found.probs[0])),
        *fact("rank", numbers.count(found.rank)),
        *fact("−log p", f"{view.candidates.surprisal(found.token):.2f}"),
    ]


def text_words(view: Written) -> list[Span]:
    mean = view.surprisal
    return [
        *([Span("mean "), Span(f"{mean:.2f} nats", "text")] if mean is not None else [Span("no new token yet")]),
        *fact("perplexity", "–" if view.perplexity is None else numbers.stat(view.perplexity)),
        *([Span(f"   {numbers.count(view.unseen)} tokens out of sight", "muted")] if view.unseen else []),
    ]


def fact(label: str, value: str) -> list[Span]:
    return [Span(f"   {label} ", "muted"), Span(value)]


def surprise_row(view: Written, width: int, palette: Palette) -> Row:
    """A bar for each new token, as high as it was surprising; the newest ones where not all fit."""
    label = segments([Span("surprise  ", "muted")], palette)
    values = [min(node.surprisal, 1e9) for node in view.path][-max(width - 10, 1) :]
    top = max(*values, 1.0)
    row = list(label)
    for value in values:
        glyph = EIGHTHS[max(1, min(round(8 * value / top), 8))]
        row += segments([Span(glyph, "pos" if value > 0.75 * top else "muted")], palette)
    return row


def chips(view: Written, choice: Choice, palette: Palette) -> list[Row]:
    """Every token, and at the end the one that comes next."""
    looked = weights(view, choice)
    made = []
    for i, token in enumerate(view.tokens):
        weight = None if looked is None or i < view.unseen else float(looked[i - view.unseen])
        top = 0.0 if looked is None else float(np.nanmax(looked, initial=0))
        made.append(chip(clean(spaced(token)), weight, top, i >= view.prompt, palette))
    if (found := marked(view, choice)) is not None:
        bg = "fwd" if found.token == view.upcoming else "select"
        text = f"{palette.marks.chip[0]}{name(view, found.token)}{palette.marks.chip[1]}"
        made.append(segments([Span(text, "bg" if bg == "fwd" else "bright", bold=True, bg=bg)], palette))
    return made


def chip(text: str, weight: float | None, top: float, is_new: bool, palette: Palette) -> Row:
    text = palette.spell(f" {text} ")
    if weight is None or not np.isfinite(weight) or top <= 0:
        return segments([Span(text, "text" if is_new else "muted", bold=is_new)], palette)
    if palette.is_flat:
        share = Span(f"{numbers.stat(weight, 2)} ", "faint")
        return segments([Span(text, bold=is_new), *([share] if weight >= NEAR else [])], palette)
    ramp = palette.ramp("sequential")
    style = palette.on(ramp[round(min(weight / top, 1) * (len(ramp) - 1))])
    return [Segment(text, style + Style(bold=True) if is_new else style)]


def flowed(pieces: list[Row], width: int, palette: Palette) -> list[Row]:
    """Chips in lines, a cell between two of them."""
    lines: list[Row] = [[]]
    used = 0
    for piece in pieces:
        wide = row_width(piece)
        if used and used + wide > width:
            lines.append([])
            used = 0
        lines[-1] += [*piece, *blank(1, palette)]
        used += wide + 1
    return lines
