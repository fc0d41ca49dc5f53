"""Writer: a tree of continuations under a person's hands, and what there is to see at the place one stands.

Going on follows the branch gone last, as long as nothing was changed that would choose otherwise; a change of the
settings, a new draw or a token taken by hand opens another branch.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.model import GlassLM, NotFinite, Sampling
from glassllm.tokenizer import EOS, texts

from .candidates import Candidates
from .continuations import Continuations, Node
from .insight import Lens, look

GOAL = 40  # new tokens that a text is written on to
WINDOW = 50  # tokens over which the pace is taken
SHOWN_EVERY = 0.1  # seconds from one view to the next while a text is written on
PROMPT = "Once upon a time"


@dataclass(frozen=True, eq=False)
class Written:
    """A place in the tree, frozen. What may follow is None where `fault` says that it can't be told."""

    tokens: tuple[str, ...]  # texts of prompt and new tokens, with their leading spaces
    prompt: int  # how many of them are the prompt
    unseen: int  # how many at the start the model does not look at any more
    path: tuple[Node, ...]  # the new tokens
    vocabulary: Sequence[str]  # the text of each id
    sampling: Sampling
    seed: int
    candidates: Candidates | None
    upcoming: int | None  # the token that comes next
    how: str  # how it is chosen: "drawn", "greedy", or "gone before"
    drawn: float | None  # the number from 0 to 1 that chooses it
    taken: tuple[int, ...]  # tokens gone on with from here before, in that order
    attention: Array | None  # (L, H, m) weights with which the last position looks at each token the model sees
    lens: Lens | None  # what each layer would say comes next
    perplexity: float | None
    seconds: float | None  # a token takes, of late; None: none was computed yet
    max_len: int
    branches: int  # places in the tree with more than one continuation
    fault: str = ""

    @property
    def depth(self) -> int:
        """New tokens up to here."""
        return len(self.path)

    @property
    def goal(self) -> int:
        """New tokens that the text is written on to."""
        return GOAL * (self.depth // GOAL + 1)

    @property
    def surprisal(self) -> float | None:
        """Mean −log p of the new tokens in nats; None without any."""
        return sum(node.surprisal for node in self.path) / len(self.path) if self.path else None


class Writer:
    """Writes on from a prompt. All of its methods that move are cheap but for the tokens they compute."""

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

    # Changing

    def write_after(self, text: str) -> None:
        """Begin anew with this prompt. ValueError for an empty one, or a model without a tokenizer."""
        if self.model.tokenizer is None:
            raise ValueError("this model came without a tokenizer, so no text can be given")
        ids = self.model.tokenizer.encode(text)
        if not ids:
            raise ValueError("the prompt is empty; give at least one character")
        self.tree = Continuations(self.model, ids, self.tree.sampling, self.tree.seed)

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

    def first(self) -> None:
        self.tree.go(0)

    def last(self) -> None:
        """To the end of the branch gone last."""
        while self.tree.follow() is not None:
            pass

    def take(self, token: int) -> None:
        """Go on with this token, whatever its probability."""
        self._timed(lambda: self.tree.take(token))

    def writing(self) -> Iterator[tuple[int, int, str, Written] | None]:
        """Write to the goal or to the end of the text, a token a slice; yields news now and then."""
        goal, shown_at = GOAL * (self.tree.node.depth // GOAL + 1), -math.inf
        while (depth := self.tree.node.depth) < goal and self._go_on().token != EOS:
            if self._clock() - shown_at >= SHOWN_EVERY:
                yield depth + 1, goal, "", self.view()
                shown_at = self._clock()
            else:
                yield None

    def _go_on(self) -> Node:
        known = self._known()
        return self._timed(self.tree.advance) if known is None else self.tree.go(known)

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

    def view(self) -> Written:
        """The place as it is, with one pass over the text to look at its attention."""
        tree = self.tree
        ids = tree.ids()
        insight = look(self.model, ids)
        layers = range(self.model.config.n_layers)
        candidates, fault = None, ""
        try:
            candidates = tree.candidates
        except NotFinite as error:
            fault = str(error)
        upcoming, how, drawn = (None, "", None) if candidates is None else self._upcoming()
        attention = np.stack([insight.attention(layer)[:, -1] for layer in layers])
        attention.flags.writeable = False
        return Written(
            tokens=texts(self.model.tokenizer, ids),
            prompt=len(tree.prompt),
            unseen=insight.start,
            path=tuple(tree.path()),
            vocabulary=self.vocabulary,
            sampling=tree.sampling,
            seed=tree.seed,
            candidates=candidates,
            upcoming=upcoming,
            how=how,
            drawn=drawn,
            taken=tuple(tree.nodes[child].token or 0 for child in tree.node.children),
            attention=None if fault else attention,
            lens=None if fault else insight.lens(),
            perplexity=None if fault else tree.perplexity,
            seconds=sum(self._spent) / len(self._spent) if self._spent else None,
            max_len=self.model.config.max_len,
            branches=sum(len(node.children) > 1 for node in tree.nodes),
            fault=fault,
        )

    def _upcoming(self) -> tuple[int, str, float | None]:
        """The token that going on leads to, how it is chosen, and the number that chooses it."""
        if (known := self._known()) is not None and self.tree.nodes[known].how == "by hand":
            return self.tree.nodes[known].token or 0, "by hand before", None
        token, number = self.tree.ahead()
        return token, "greedy" if number is None else "drawn", number


def _opening(model: GlassLM) -> list[int]:
    """The ids to open with: the checkpoint's own text, else a beginning every story has."""
    if model.sample is not None and len(model.sample):
        return [int(i) for i in model.sample]
    return model.tokenizer.encode(PROMPT) if model.tokenizer is not None else [0]
