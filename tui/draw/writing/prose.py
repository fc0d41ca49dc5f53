"""The text pane: prompt and new tokens as chips, tinted by what one head looks at, and the surprise of each."""

import numpy as np
from rich.segment import Segment
from rich.style import Style

from glassllm.generation import Written
from tui.draw import numbers
from tui.draw.curves import EIGHTHS
from tui.draw.leaf_list import spaced
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, clean, crop, row_width, segments

from .choice import Choice, layer_and_head, marked, name, weights
from .spots import Sketch
from .words import fact, fitting, nats

NEAR = 0.05  # weights from here on are written where nothing can be tinted


def prose_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette, is_roomy: bool) -> Sketch:
    """`is_roomy`: a blank line between two of text, and a legend."""
    pane = Sketch(width, height, palette)
    layer, head = layer_and_head(view, choice)
    whose = f"blocks.{layer} head {head + 1}"
    words = f"tinted by what {whose} looks at to choose the next token" if is_roomy else whose
    pane.title("text", words if layer < view.looked else f"{whose} has not looked yet")
    below = below_text(view, choice, width, palette, is_roomy)
    step = 2 if is_roomy else 1
    room = max((height - 2 - len(below) - 1) // step, 1)
    pieces = chips(view, choice, palette)
    lines = flowed([row_width(piece) for piece in pieces], width - 4)
    if len(lines) > room:
        lines = lines[-room:]
        pane.words(0, 2, [Span("…", "faint")])
    for y, line in enumerate(lines):
        for x, i in line:
            pane.put(2 + x, 2 + y * step, pieces[i])
            pane.spot(2 + x, 2 + y * step, row_width(pieces[i]), "token", i)
    for i, row in enumerate(reversed(below)):
        pane.put(1, height - 1 - i, row)
    return pane


def below_text(view: Written, choice: Choice, width: int, palette: Palette, is_roomy: bool) -> list[Row]:
    """What is said of the text: the marked candidate, the surprise of each new token, perplexity."""
    said = candidate_words(view, choice, "   " if is_roomy else "  ", width - 2)
    rows = [crop(segments(words, palette), width - 2) for words in (said, text_words(view))]
    if view.path:
        rows.append(surprise_row(view, width - 2, palette))
    if is_roomy:
        rows.append(segments(fitting(LEGEND, width - 2), palette))
    return rows


LEGEND = [
    [Span("prompt "), Span("regular   ", "muted"), Span("new ", bold=True), Span("bold   ", "muted")],
    [Span(" next ", "bg", bold=True, bg="fwd"), Span("   ← → move along the text", "muted")],
    [Span("   d", "bright", bold=True), Span(" opens this step in Debug", "muted")],
]


def candidate_words(view: Written, choice: Choice, gap: str, room: int) -> list[Span]:
    found = marked(view, choice)
    if view.is_waiting:
        return [Span("next ", "muted"), Span(f"comes with sample, event {view.events} of {view.events}", "faint")]
    if found is None or view.candidates is None:
        return [Span(view.fault, "stop")]
    is_next = found.token == view.upcoming
    label = Span("next " if is_next else "marked ", "muted")
    facts = [
        [label, Span(name(view, found.token), "fwd" if is_next else "bright", bold=True)],
        fact("p", numbers.stat(found.probs[0]), gap),
        fact("rank", numbers.count(found.rank), gap),
        fact("−log p", nats(view.candidates.surprisal(found.token)), gap),
    ]
    return fitting(facts, room)


def text_words(view: Written) -> list[Span]:
    """Two averages: of the new tokens, and of the whole text."""
    mean = view.surprisal
    new = [Span("no new token yet")]
    if mean is not None:
        new = [Span("new mean "), Span(f"{nats(mean)} nats", "text")]
    return [
        *new,
        *fact("text perplexity", "–" if view.perplexity is None else numbers.stat(view.perplexity)),
        *([Span(f"   {numbers.count(view.unseen)} tokens out of sight", "muted")] if view.unseen else []),
    ]


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
    found = marked(view, choice)
    if found is None or (view.upcoming is None and choice.rank is None):
        made.append(segments([Span(" □ ", "faint")], palette))
    else:
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


def flowed(widths: list[int], room: int) -> list[list[tuple[int, int]]]:
    """Lines of pieces so wide, each as its column and its number; a cell between two of them."""
    lines: list[list[tuple[int, int]]] = [[]]
    used = 0
    for i, wide in enumerate(widths):
        if used and used + wide > room:
            lines.append([])
            used = 0
        lines[-1].append((used, i))
        used += wide + 1
    return lines
