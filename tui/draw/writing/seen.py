"""What there is to see in a moment: the few numbers in it that decide, named by the tokens they are about."""

from collections.abc import Callable, Iterable

import numpy as np

from glassllm.generation import Moment, Written
from tui.draw import numbers
from tui.draw.numbers import Array
from tui.draw.text import Span

from .axis import names
from .choice import Choice, head_in_layer, name
from .words import fact, fitting, nats

MOST = 3
Groups = list[list[Span]]


def seen_words(view: Written, choice: Choice, moment: Moment, room: int) -> list[Span]:
    """One line about the last position, which chooses the token; empty where there is nothing to say."""
    say = SAYINGS.get(moment.step)
    if say is None or not np.isfinite(moment.value).any():
        return []
    return fitting(say(view, choice, moment), room)


def looked_at(view: Written, choice: Choice, moment: Moment) -> Groups:
    """Which keys the chosen head's last query scores or weighs highest."""
    head = head_in_layer(view, choice)
    row = moment.value[head, -1]
    keys = names(view, len(row))
    best = (int(i) for i in likeliest(row) if np.isfinite(row[i]))
    return listed(f"head {head + 1} → ", ((keys[i], float(row[i])) for i in best))


def ran_with(view: Written, choice: Choice, moment: Moment) -> Groups:
    """How many keys came from the cache, and what they score."""
    ran, keys = moment.shape[-2:]
    cached = [[Span(f"{keys - ran} of {keys} keys from the cache   ", "muted")]] if keys > ran else []
    return [*cached, *looked_at(view, choice, moment)]


def guessed(view: Written, _: Choice, moment: Moment) -> Groups:
    """What the stream would say if it were the last."""
    return [] if view.lens is None else likely(view, "logit lens ", view.lens.probs[-1])


def fits(view: Written, _: Choice, moment: Moment) -> Groups:
    """The largest logits of the last position."""
    return likely(view, "largest ", moment.value[-1])


def kept(view: Written, _: Choice, moment: Moment) -> Groups:
    """How many tokens may be drawn, and how open the choice is."""
    if view.candidates is None:
        return []
    stage = view.candidates.stages[-1]
    return [fact("may be drawn", numbers.count(stage.kept), ""), fact("entropy", f"{nats(stage.entropy)} nats")]


def taken(view: Written, _: Choice, moment: Moment) -> Groups:
    """The token, and how it was chosen."""
    token = int(moment.value)
    what = [Span(name(view, token), "fwd", bold=True), Span(f"  id {token}", "muted")]
    if view.drawn is None or view.candidates is None:
        return [what, [Span(f"   {view.how}", "muted")]]
    found = view.candidates.of(token)
    share = f" falls in [{numbers.stat(found.low)}, {numbers.stat(found.high)})"
    return [what, fact("u =", numbers.stat(view.drawn, 4)), [Span(share, "muted")]]


def added(view: Written, _: Choice, moment: Moment) -> Groups:
    """How long the stream is, and what was added to it."""
    branch = "attn.out" if moment.step == "resid.attn" else "ffn.down"
    before = next(m for m in reversed(view.moments[: moment.number]) if m.step == branch)
    return [fact("‖x‖", length(moment.value[-1]), ""), fact("‖y‖", length(before.value[-1]))]


def stream(view: Written, choice: Choice, moment: Moment) -> Groups:
    return [*added(view, choice, moment), [Span("   ")], *guessed(view, choice, moment)]


def length(row: Array) -> str:
    return numbers.stat(float(np.linalg.norm(row.astype(np.float64))))


def likeliest(row: Array) -> Array:
    return np.argsort(-row, kind="stable")[:MOST]


def likely(view: Written, label: str, row: Array) -> Groups:
    return listed(label, ((name(view, int(i)), float(row[i])) for i in likeliest(row)))


def listed(label: str, pairs: Iterable[tuple[str, float]]) -> Groups:
    """`largest ·and .456  ·ball .058`, the first of them together with its label."""
    groups = [[Span(f"  {what} "), Span(numbers.stat(value), "bright")] for what, value in pairs]
    first, *rest = groups or [[]]
    return [[Span(label, "muted"), *(span._replace(text=span.text.lstrip()) for span in first)], *rest]


SAYINGS: dict[str, Callable[[Written, Choice, Moment], Groups]] = {
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
