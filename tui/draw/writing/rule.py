"""The rows below the board: the softmax and the same with its numbers, or the rule of the event that is played."""

import numpy as np

from glassllm.generation import Candidates, Written
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, Words, text_row

from .choice import Choice, marked, name
from .worked import worked


def rule(view: Written, choice: Choice, width: int, count: int, palette: Palette) -> list[Row]:
    """The rule, and the same with the marked candidate's numbers in it, or with those of a cell of the event."""
    found, cursor, moment = view.candidates, marked(view, choice), view.moment
    rows: list[Words] = []
    if found is not None and cursor is not None:
        rows = [softmax(view), candidate(view, found, cursor.token)]
    elif moment is not None:
        rows = [[Span(f" {moment.step}", "bright", bold=True), Span(f"  {moment.equation}")]]
        rows += [line] if (line := worked(view, choice, moment)) else []
    made = [text_row(words, width, palette, "bg") for words in rows[-count:]] if count else []
    return [*made, *(text_row([], width, palette, "bg") for _ in range(count - len(made)))]


def softmax(view: Written) -> Words:
    limits = (
        (f"of the {view.sampling.top_k} likeliest", view.sampling.top_k is not None),
        ("the fewest with Σp ≥ top-p", view.sampling.top_p is not None),
    )
    filters = ", ".join(words for words, is_on in limits if is_on)
    then = f"   then {filters}, divided by their sum" if filters else ""
    return [
        Span(" softmax", "bright", bold=True),
        Span("  pₖ = exp((zₖ − max z) / T) / Σ exp((z − max z) / T)"),
        Span(then, "muted"),
    ]


def candidate(view: Written, found: Candidates, token: int) -> Words:
    """One token's probability at the temperature, and what the filters make of it."""
    logits, temperature = found.logits.astype(np.float64), view.sampling.temperature
    with np.errstate(over="ignore"):
        total = float(np.exp((logits - logits.max()) / temperature).sum())
    z, most = (numbers.with_minus(f"{x:.3f}") for x in (logits[token], logits.max()))
    cursor = found.of(token)
    last = "cut away" if cursor.cut_by else numbers.cell(cursor.probs[-1])
    return [
        Span(f" {name(view, token)}", "bright", bold=True),
        Span(f"  = exp(({z} − {most}) / {temperature:g}) / {numbers.stat(total, 4)} = ", "text"),
        Span(numbers.cell(cursor.probs[1]), "bright", bold=True),
        *([Span("   drawn with ", "muted"), Span(last)] if len(found.stages) > 2 else []),
    ]
