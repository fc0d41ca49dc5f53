"""One cell of an event worked out: the last position's, its numbers taken from the events before."""

from collections.abc import Callable

import numpy as np

from glassllm.generation import Moment, Written
from tui.draw.numbers import Array, cell, count, shape, unsigned
from tui.draw.text import Span, Words

from .axis import names
from .choice import Choice, head_in_layer


def worked(view: Written, choice: Choice, moment: Moment) -> Words:
    """The rule with numbers put in, or how many terms a cell is the sum of; empty for what is only looked up."""
    say = WORKED.get(moment.step)
    if say is not None:
        place, terms, value = say(view, choice, moment)
        return [Span(f" {place}", "bright", bold=True), Span(f"  = {terms} = "),
                Span(cell(value), "bright", bold=True)]  # fmt: skip
    return noted(view, moment)


def before(view: Written, moment: Moment, *steps: str) -> Array:
    """The value of the nearest event before that is one of these."""
    earlier = reversed(view.moments[: moment.number - 1])
    return next(each.value for each in earlier if each.step in steps)


def signed(x: float) -> str:
    """`+ 0.5` or `− 0.5`, a term behind others."""
    return f"{'−' if x < 0 else '+'} {unsigned(abs(x))}"


Worked = tuple[str, str, float]  # the cell, its terms, and what they make


def scores(view: Written, choice: Choice, moment: Moment) -> Worked:
    """The last query with the last key, which is the one that has run with it."""
    head = head_in_layer(view, choice)
    q, k = before(view, moment, "attn.rope_q"), before(view, moment, "attn.rope_k")
    query, key = q[head, -1], k[head * len(k) // len(q), -1]
    dot = float(query.astype(np.float64) @ key.astype(np.float64))
    place = f"s[{head + 1}, {names(view, 1)[0]} → {names(view, 1)[0]}]"
    return place, f"{unsigned(dot)} / √{len(query)}", float(moment.value[head, -1, -1])


def weights(view: Written, choice: Choice, moment: Moment) -> Worked:
    """The key that the last query looks at most."""
    head = head_in_layer(view, choice)
    row = before(view, moment, "attn.mask")[head, -1].astype(np.float64)
    best = int(moment.value[head, -1].argmax())
    keys = names(view, len(row))
    total = float(np.exp(row - row.max()).sum())
    terms = f"exp({unsigned(row[best])} {signed(-row.max())}) / {unsigned(total)}"
    return f"p[{head + 1}, {keys[-1]} → {keys[best]}]", terms, float(moment.value[head, -1, best])


def residual(view: Written, _: Choice, moment: Moment) -> Worked:
    """The channel to which most was added."""
    branch = before(view, moment, "attn.out", "ffn.down")[-1]
    stream = before(view, moment, "embed", "resid.attn", "resid.ffn")[-1]
    at = int(np.abs(branch).argmax())
    terms = f"{unsigned(float(stream[at]))} {signed(float(branch[at]))}"
    return f"x[{at}]", terms, float(moment.value[-1, at])


def gated(view: Written, _: Choice, moment: Moment) -> Worked:
    """The hidden channel that lets most through."""
    at = int(np.abs(moment.value[-1]).argmax())
    gate, up = (float(before(view, moment, step)[-1, at]) for step in ("ffn.gate", "ffn.up"))
    return f"h[{at}]", f"silu({unsigned(gate)}) · {unsigned(up)}", float(moment.value[-1, at])


def noted(view: Written, moment: Moment) -> Words:
    """Of a matrix product how many terms each cell sums; of others what there is to say."""
    if moment.step not in SUMS:
        return NOTES[moment.step](view, moment) if moment.step in NOTES else []
    read = before(view, moment, SUMS[moment.step])
    terms = read.shape[-1] * (read.shape[0] if moment.step == "attn.out" else 1)
    return [Span(" each cell", "bright"), Span(f"  is a sum of {terms} products, read from "),
            Span(SUMS[moment.step], "bright"), Span(f"  {shape(read.shape)}", "muted")]  # fmt: skip


def looked_up(view: Written, moment: Moment) -> Words:
    ids = len(moment.value)
    whose = "the newest token alone; the cache holds what those before it made" if ids == 1 else f"{ids} tokens"
    return [Span(" E", "bright", bold=True), Span(f"  a row of {moment.shape[-1]} channels for "), Span(whose)]


def root_mean_square(view: Written, moment: Moment) -> Words:
    """By what the last position is divided."""
    x = before(view, moment, "embed", "resid.attn", "resid.ffn")[-1].astype(np.float64)
    root = unsigned(float(np.sqrt((x * x).mean())))
    return [Span(" √mean(x²)", "bright", bold=True), Span(f"  = {root}"), Span("  of the last position", "muted")]


def turned(view: Written, moment: Moment) -> Words:
    last = min(len(view.tokens), view.max_len) - 1
    return [Span(f" i = {last}", "bright", bold=True), Span("  is the last position; each pair keeps its length")]


def hidden(view: Written, moment: Moment) -> Words:
    """How many scores are masked."""
    masked, every = int(np.isneginf(moment.value).sum()), moment.value.size
    said = f"  of {count(every)} scores lie ahead" if masked else "  lies ahead of the newest token"
    return [Span(f" {count(masked) if masked else 'nothing'}", "bright", bold=True), Span(said)]


WORKED: dict[str, Callable[[Written, Choice, Moment], Worked]] = {
    "attn.scores": scores,
    "attn.softmax": weights,
    "resid.attn": residual,
    "resid.ffn": residual,
    "ffn.act": gated,
}
NOTES: dict[str, Callable[[Written, Moment], Words]] = {
    "embed": looked_up,
    "norm.attn": root_mean_square,
    "norm.ffn": root_mean_square,
    "norm.final": root_mean_square,
    "attn.rope_q": turned,
    "attn.rope_k": turned,
    "attn.mask": hidden,
}
SUMS = {
    "attn.q": "norm.attn",
    "attn.k": "norm.attn",
    "attn.v": "norm.attn",
    "attn.mix": "attn.softmax",
    "attn.out": "attn.mix",
    "ffn.gate": "norm.ffn",
    "ffn.up": "norm.ffn",
    "ffn.down": "ffn.act",
    "logits": "norm.final",
}
"""Matrix products, and the event each reads."""
