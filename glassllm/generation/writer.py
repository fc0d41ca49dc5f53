"""Writer: a tree of continuations under a person's hands, and what there is to see at the place one stands.

Going on follows the branch gone last, as long as nothing was changed that would choose otherwise; a change of the
settings, a new draw or a token taken by hand opens another branch. A token may be gone through event by event.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.model import GlassLM, NotFinite
from glassllm.tokenizer import EOS, texts
from glassllm.trace import StepRecord, Tracer

from .candidates import Candidates
from .continuations import Continuations, Node
from .insight import Insight, Notes
from .playback import Moment, moments, sections, total
from .written import Written, goal_from

WINDOW = 50  # tokens over which the pace is taken
SHOWN_EVERY = 0.1  # seconds from one view to the next while a text is written on
PROMPT = "Once upon a time"


class Writer:
    """Writes on from a prompt. All of its methods that move are cheap but for the tokens they compute.

    `event` is the place among the events of the next token, from 1; 0: it is not gone through by events.
    """

    def __init__(
        self,
        model: GlassLM,
        ids: Sequence[int] | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """ids None: the text that the checkpoint carries. Raises what `generate` raises for a prompt."""
        self.model = model
        self.vocabulary = texts(model.tokenizer, range(model.config.vocab_size))
        self._clock = clock
        self._spent: deque[float] = deque(maxlen=WINDOW)
        self.tree = Continuations(model, _opening(model) if ids is None else ids, seed=seed)
        self.event = 0
        self._traced: tuple[tuple[Continuations, int], Tracer] | None = None

    # Changing

    def write_after(self, text: str) -> None:
        """Begin anew with this prompt. ValueError for an empty one, or a model without a tokenizer."""
        if self.model.tokenizer is None:
            raise ValueError("this model came without a tokenizer, so no text can be given")
        ids = self.model.tokenizer.encode(text)
        if not ids:
            raise ValueError("the prompt is empty; give at least one character")
        self.tree = Continuations(self.model, ids, self.tree.sampling, self.tree.seed)
        self._arrived()

    def set(self, **changes: Any) -> None:
        """Change settings of the sampling. ValueError for one out of range."""
        self.tree.sampling = replace(self.tree.sampling, **changes)

    def reseed(self, seed: int) -> None:
        """Draw what follows from another seed, and leave the branches as they are."""
        self.tree.reseed(seed)
        self.tree.forget()

    # Moving

    def next(self, count: int = 1) -> None:
        for _ in range(count):
            self._go_on()

    def back(self, count: int = 1) -> None:
        self.tree.back(count)
        self._arrived()

    def first(self) -> None:
        self.go(0)

    def last(self) -> None:
        """To the end of the branch gone last."""
        while self.tree.follow() is not None:
            pass
        self._arrived()

    def go(self, number: int) -> None:
        """To any place of the tree. IndexError where there is none of this number."""
        self.tree.go(number)
        self._arrived()

    def take(self, token: int) -> None:
        """Go on with this token, whatever its probability."""
        self._timed(lambda: self.tree.take(token))
        self._arrived()

    def _arrived(self) -> None:
        """Whoever goes through events is at the first of the token that comes next."""
        self.event = min(self.event, 1)

    # Moving inside a token

    def next_event(self) -> None:
        """One event on; behind the last one the token is taken, and the next one's first comes."""
        if self.event < len(self._moments()):
            self.event += 1
        else:
            self._go_on()

    def previous_event(self) -> None:
        """One event back, from the first to the last of the token before; the prompt's first holds."""
        if self.event > 1:
            self.event -= 1
        elif self.event == 0:
            self.event = len(self._moments())
        elif self.tree.node.parent is not None:
            self.tree.back()
            self.event = len(self._moments())

    def finish(self) -> None:
        """On to the last event of the block."""
        self.next_event()
        self.event = min(self._section()[1], len(self._moments()))

    def finish_back(self) -> None:
        """Back to the first event of the block."""
        self.previous_event()
        self.event = self._section()[0]

    def go_to_event(self, number: int) -> None:
        """To this event of the next token. IndexError where it has none of this number."""
        count = len(self._moments())
        if not 1 <= number <= count:
            raise IndexError(f"event {number} is not from 1 to {count}")
        self.event = number

    def scopes(self) -> tuple[str, ...]:
        """The names of the events of the next token, in order."""
        return tuple(moment.scope for moment in self._moments())

    def leave_events(self) -> None:
        """See all there is to see at this place again."""
        self.event = 0

    def _section(self) -> tuple[int, int]:
        found = sections(self._trace(is_whole=True).records)
        return next(each for each in found if self.event <= each[1])

    def writing(self) -> Iterator[tuple[int, int, str, Written] | None]:
        """Write to the goal or to the end of the text, a token a slice; yields news now and then."""
        self.leave_events()
        goal, shown_at = goal_from(self.tree.node.depth), -math.inf
        while (depth := self.tree.node.depth) < goal and self._go_on().token != EOS:
            if self._clock() - shown_at >= SHOWN_EVERY:
                yield depth + 1, goal, "", self.view()
                shown_at = self._clock()
            else:
                yield None

    def _go_on(self) -> Node:
        known = self._known()
        node = self._timed(self.tree.advance) if known is None else self.tree.go(known)
        self._arrived()
        return node

    def _known(self) -> int | None:
        """The child gone to last, if the settings it was chosen by are those of now."""
        child = self.tree.visited
        return child if child is not None and self.tree.nodes[child].sampling == self.tree.sampling else None

    def _timed(self, move: Callable[[], Node]) -> Node:
        """Move, and compute what may follow: that is what a token costs."""
        began = self._clock()
        node = move()
        self.tree.read()
        self._spent.append(self._clock() - began)
        return node

    # Looking

    def upcoming(self) -> tuple[int, str, float | None]:
        """The token that going on leads to, how it is chosen, and the number that chooses it.

        NotFinite where none can be.
        """
        if (known := self._known()) is not None and self.tree.nodes[known].how == "by hand":
            return self.tree.nodes[known].token or 0, "by hand before", None
        token, number = self.tree.ahead()
        return token, "greedy" if number is None else "drawn", number

    def view(self) -> Written:
        """The place as it is, or as far as its events have been gone through."""
        tree, trace = self.tree, self._trace(is_whole=self.event > 0)
        ids, (candidates, fault) = tree.ids(), self._candidates()
        told = self._moments() if self.event else ()
        self.event = min(self.event, len(told))
        is_done, events = self.event in (0, len(told)), total(self.model.config.n_layers)
        played = trace.records[: self.event or None]
        chosen = self.upcoming() if candidates is not None and is_done else (None, "", None)
        insight = Insight(self.model, np.array(ids[-self.model.config.max_len :]), 0, trace)
        return Written(
            tokens=texts(self.model.tokenizer, ids),
            prompt=len(tree.prompt),
            unseen=max(len(ids) - self.model.config.max_len, 0),
            path=tuple(tree.path()),
            vocabulary=self.vocabulary,
            sampling=tree.sampling,
            seed=tree.seed,
            candidates=candidates if self.event in (0, events - 1, events) else None,
            upcoming=chosen[0],
            how=chosen[1],
            drawn=chosen[2],
            taken=tuple(tree.nodes[child].token or 0 for child in tree.node.children),
            attention=None if fault else self._attention(insight),
            lens=None if fault else insight.lens().first(_count(played, "embed", "resid.ffn")),
            perplexity=None if fault else tree.perplexity,
            seconds=sum(self._spent) / len(self._spent) if self._spent else None,
            max_len=self.model.config.max_len,
            layers=self.model.config.n_layers,
            heads=self.model.config.n_heads,
            branches=sum(len(node.children) > 1 for node in tree.nodes),
            fault=fault if is_done else "",
            event=self.event,
            events=events,
            moments=told,
            looked=_count(played, "attn.softmax"),
        )

    def _attention(self, insight: Insight) -> Array:
        """(L, H, m) of the last position."""
        layers = range(self.model.config.n_layers)
        weights = np.stack([insight.attention(layer)[:, -1] for layer in layers])
        weights.flags.writeable = False
        return weights

    def _candidates(self) -> tuple[Candidates | None, str]:
        """What may follow, or why that can't be told."""
        try:
            return self.tree.candidates, ""
        except NotFinite as error:
            return None, str(error)

    def _trace(self, is_whole: bool) -> Tracer:
        """The forward that computes what follows, run once for each place one comes to.

        Unless it is asked for as a whole, only what can be read off it is kept: others are large.
        """
        place = (self.tree, self.tree.here)
        if self._traced is None or self._traced[0] != place or (is_whole and isinstance(self._traced[1], Notes)):
            self._traced = place, self.tree.traced(Tracer() if is_whole else Notes())
        return self._traced[1]

    def _moments(self) -> tuple[Moment, ...]:
        candidates, _ = self._candidates()
        token = None if candidates is None else self.upcoming()[0]
        return moments(self._trace(is_whole=True), candidates, token)


def _count(records: Sequence[StepRecord], *steps: str) -> int:
    return sum(record.id in steps for record in records)


def _opening(model: GlassLM) -> list[int]:
    """The ids to open with: the checkpoint's own text, else a beginning every story has."""
    if model.sample is not None and len(model.sample):
        return [int(i) for i in model.sample]
    return model.tokenizer.encode(PROMPT) if model.tokenizer is not None else [0]
