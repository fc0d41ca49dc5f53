"""What there is to see in a moment: the few numbers in it that decide, named by the tokens they are about."""

from collections.abc import Callable, Iterable

import numpy as np

from glassllm.generation import Moment, Written
from tui.draw import numbers
from tui.draw.numbers import Array
from tui.draw.text import Span

from .choice import Choice, head_in_layer, name, nats
from .plane import names

MOST = 3


def seen_words(view: Written, choice: Choice, moment: Moment) -> list[Span]:
    """One line about the last position, which chooses the token; empty where there is nothing to say."""
    say = SAYINGS.get(moment.step)
    return say(view, choice, moment) if say is not None and np.isfinite(moment.value).any() else []


def looked_at(view: Written, choice: Choice, moment: Moment) -> list[Span]:
    """Which keys the chosen head's last query scores or weighs highest."""
    head = head_in_layer(view, choice)
    row = moment.value[head, -1]
    keys = names(view, len(row))
    best = [int(i) for i in likeliest(row) if np.isfinite(row[i])]
    return [Span(f"head {head + 1} → ", "muted"), *listed((keys[i], float(row[i])) for i in best)]


def ran_with(view: Written, choice: Choice, moment: Moment) -> list[Span]:
    """How many keys came from the cache, and what they score."""
    ran, keys = moment.shape[-2:]
    cached = [Span(f"{keys - ran} of {keys} keys come from the cache   ", "muted")] if keys > ran else []
    return [*cached, *looked_at(view, choice, moment)]


def guessed(view: Written, _: Choice, moment: Moment) -> list[Span]:
    """What the stream would say if it were the last."""
    if view.lens is None:
        return []
    row = view.lens.probs[-1]
    return [Span("read as if it were the last ", "muted"),
            *listed((name(view, int(i)), float(row[i])) for i in likeliest(row))]  # fmt: skip


def fits(view: Written, _: Choice, moment: Moment) -> list[Span]:
    """The largest logits of the last position."""
    row = moment.value[-1]
    return [Span("largest ", "muted"), *listed((name(view, int(i)), float(row[i])) for i in likeliest(row))]


def kept(view: Written, _: Choice, moment: Moment) -> list[Span]:
    """How many tokens may be drawn, and how open the choice is."""
    if view.candidates is None:
        return []
    stage = view.candidates.stages[-1]
    return [Span("may be drawn ", "muted"), Span(numbers.count(stage.kept)),
            Span("   entropy ", "muted"), Span(f"{nats(stage.entropy)} nats")]  # fmt: skip


def taken(view: Written, _: Choice, moment: Moment) -> list[Span]:
    """The token, and how it was chosen."""
    token = int(moment.value)
    how = [Span(f"   {view.how}", "muted")]
    if view.drawn is not None and view.candidates is not None:
        found = view.candidates.of(token)
        share = f"[{numbers.stat(found.low)}, {numbers.stat(found.high)})"
        how = [Span("   u = ", "muted"), Span(numbers.stat(view.drawn, 4)), Span(f" falls in {share}", "muted")]
    return [Span(name(view, token), "fwd", bold=True), Span(f"  id {token}", "muted"), *how]


def added(view: Written, _: Choice, moment: Moment) -> list[Span]:
    """How long the stream is, and what was added to it."""
    branch = "attn.out" if moment.step == "resid.attn" else "ffn.down"
    before = next(m for m in reversed(view.moments[: moment.number]) if m.step == branch)
    return [Span("‖x‖ ", "muted"), Span(length(moment.value[-1])), Span("   ‖y‖ ", "muted"),
            Span(length(before.value[-1]))]  # fmt: skip


def stream(view: Written, choice: Choice, moment: Moment) -> list[Span]:
    return [*added(view, choice, moment), Span("   "), *guessed(view, choice, moment)]


def length(row: Array) -> str:
    return numbers.stat(float(np.linalg.norm(row.astype(np.float64))))


def likeliest(row: Array) -> Array:
    return np.argsort(-row, kind="stable")[:MOST]


def listed(pairs: Iterable[tuple[str, float]]) -> list[Span]:
    """`·and .456  ·ball .058`"""
    words: list[Span] = []
    for label, value in pairs:
        words += [Span(f"{'  ' if words else ''}{label} ", "text"), Span(numbers.stat(value), "bright")]
    return words


SAYINGS: dict[str, Callable[[Written, Choice, Moment], list[Span]]] = {
    "embed": guessed,
    "attn.scores": ran_with,
    "attn.mask": looked_at,
    "attn.softmax": looked_at,
    "resid.attn": added,
    "resid.ffn": stream,
    "logits": fits,
    "probs": kept,
    "sample": taken,
}
