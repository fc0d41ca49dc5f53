"""The Generate screen's board, its track and its rule: panes laid out by the size of the terminal."""

import numpy as np

from glassllm.generation import Written
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.pane import Placed, board_rows
from tui.draw.text import Row, Span, Words, text_row

from .attention import attention_pane, attention_strip
from .candidates import candidates_pane
from .choice import Choice, heads, marked, name
from .lens import lens_pane
from .prose import prose_pane

LENS_FROM = 30  # rows from which the lens has a place of its own
MAP_FROM = 26  # and the map of all heads
TWO_FROM = 80  # columns from which there are two columns of panes


def board(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> tuple[Row, ...]:
    """All rows between the track and the rule."""
    if width < TWO_FROM:
        panes = (
            right(view, choice, width, height, palette)
            if choice.tab
            else left(view, choice, width, height, palette)
        )
        return board_rows(width, height, palette, panes)
    wide = round(width * 0.595) if width >= 120 else round(width * 0.54)
    panes = left(view, choice, wide, height, palette)
    panes += [(wide + 1 + x, y, pane) for x, y, pane in right(view, choice, width - wide - 1, height, palette)]
    return board_rows(width, height, palette, panes)


def left(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> list[Placed]:
    layers, each = heads(view)
    if height < MAP_FROM:
        text = prose_pane(view, choice, width, height - 2, palette, is_roomy=False)
        strip = attention_strip(view, choice, width, palette)
        pane = prose_pane(view, choice, width, height, palette, is_roomy=False)
        if height < 12:
            return [(0, 0, pane)]
        whole = type(pane)(width, height, palette)
        whole.block(0, 0, text.rows(), width)
        whole.block(0, height - 2, strip, width)
        return [(0, 0, whole)]
    tall = min(layers * each + 5, height - 13) if layers else 0
    above = height - tall - 1 if tall else height
    return [
        (0, 0, prose_pane(view, choice, width, above, palette, is_roomy=width >= 60)),
        *([(0, above + 1, attention_pane(view, choice, width, tall, palette))] if tall else []),
    ]


def right(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> list[Placed]:
    if height < LENS_FROM or view.lens is None:
        pane = lens_pane if choice.has_lens and view.lens is not None else candidates_pane
        return [(0, 0, pane(view, choice, width, height, palette))]
    tall = min(len(view.lens.names) + 4, height // 3)
    above = height - tall - 1
    return [
        (0, 0, candidates_pane(view, choice, width, above, palette)),
        (0, above + 1, lens_pane(view, choice, width, tall, palette)),
    ]


def track(view: Written, state: str, speed: int, width: int, palette: Palette) -> Row:
    """New tokens as a row: done heavy, those to the goal light, `▶` here."""
    mark = "▶" if state == "playing" else "‖"
    head: list[Span] = [Span(f" {mark} ", "fwd" if mark == "▶" else "bright"), Span(f"{state}   ", "muted")]
    tail = [Span(f"   speed {speed}/s ", "muted")] if width >= 100 else [Span(f" {speed}/s ", "muted")]
    used = sum(len(span.text) for span in (*head, *tail))
    room = max(width - used - 1, 3)
    here = min(round(view.depth / view.goal * (room - 1)), room - 1)
    line = [Span("━" * here, "fwd"), Span("▶", "bright", bold=True), Span("─" * (room - 1 - here), "line")]
    return text_row([*head, *line], width, palette, "bg", tail)


def facts(view: Written, width: int) -> list[list[Span]]:
    """What the header says, the indispensable first."""
    said = [[Span("token ", "muted"), Span(str(view.depth), "bright", bold=True), Span(f"/{view.goal}")]]
    if view.seconds:
        said.append(pair("", f"{numbers.stat(1 / view.seconds)} tok/s"))
    said.append(pair("seed", str(view.seed)))
    seen = len(view.tokens) - view.unseen
    said.append(pair("context", f"{seen}/{view.max_len}"))
    if width >= 120:
        said += [pair("KV cache", "on" if not view.unseen else "past the window"), [Span("no grad", "muted")]]
    return said


def pair(label: str, value: str) -> list[Span]:
    return [Span(f"{label} " if label else "", "muted"), Span(value)]


def rule(view: Written, choice: Choice, width: int, count: int, palette: Palette) -> list[Row]:
    """The softmax, and the same with the marked candidate's numbers in it."""
    found, cursor = view.candidates, marked(view, choice)
    if found is None or cursor is None:
        return [text_row([], width, palette, "bg") for _ in range(count)]
    logits = found.logits.astype(np.float64)
    temperature = view.sampling.temperature
    with np.errstate(over="ignore"):
        total = float(np.exp((logits - logits.max()) / temperature).sum())
    z, most = (numbers.with_minus(f"{x:.3f}") for x in (logits[cursor.token], logits.max()))
    warm = f"{temperature:g}"
    filters = ", ".join(
        words
        for words, is_on in (
            (f"of the {view.sampling.top_k} likeliest", view.sampling.top_k is not None),
            ("the fewest with Σp ≥ top-p", view.sampling.top_p is not None),
        )
        if is_on
    )
    then = f"   then {filters}, divided by their sum" if filters else ""
    formula: Words = [
        Span(" softmax", "bright", bold=True),
        Span("  pₖ = exp((zₖ − max z) / T) / Σ exp((z − max z) / T)"),
        Span(then, "muted"),
    ]
    last = "cut away" if cursor.cut_by else numbers.cell(cursor.probs[-1])
    worked: Words = [
        Span(f" {name(view, cursor.token)}", "bright", bold=True),
        Span(f"  = exp(({z} − {most}) / {warm}) / {total:.4g} = ", "text"),
        Span(numbers.cell(cursor.probs[1]), "bright", bold=True),
        *([Span("   drawn with ", "muted"), Span(last)] if len(found.stages) > 2 else []),
    ]
    rows = [text_row(words, width, palette, "bg") for words in (formula, worked)]
    return rows[-count:] if count else []
