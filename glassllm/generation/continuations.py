"""Continuations: a tree of texts that begin with one prompt, grown token by token, in any direction.

Every node remembers how its token was chosen and the random state behind it, so going back and on again writes
the same text, and a change of settings, of the seed or of one token opens a branch. As long as nothing is
changed it is `model.generate`, to the bit.
"""

import math
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from glassllm.autograd import no_grad
from glassllm.autograd.ops import Array
from glassllm.model import GlassLM, Sampling
from glassllm.nn import Cache
from glassllm.trace import Tracer

from .candidates import Candidates
from .insight import composed

KEPT_BYTES = 64 << 20  # of logits; those of other nodes are computed again


@dataclass(frozen=True)
class Node:
    """One token of the tree; the root, number 0, is the prompt."""

    number: int
    parent: int | None  # None: the root
    depth: int  # new tokens up to here
    token: int | None
    how: str  # "prompt", "drawn", "greedy", "by hand"
    surprisal: float  # −log p in nats by the model's own distribution; of the prompt, the sum over its tokens
    probability: float  # in what it was drawn from; 0 where a filter had cut it away
    sampling: Sampling | None  # in force when it was chosen
    rng: dict[str, Any]  # the random state behind it
    children: tuple[int, ...] = ()  # in the order in which they came


class Continuations:
    """`here` is the node that the next token follows. `sampling` may be changed between any two tokens.

    The model must not change meanwhile.
    """

    def __init__(
        self, model: GlassLM, ids: ArrayLike, sampling: Sampling | None = None, seed: int | None = None
    ) -> None:
        """ids (n,): the prompt. seed None: one is chosen, see `seed`. Raises what `generate` raises."""
        prompt = np.asarray(ids)
        model.generate(prompt, 0)  # says what is wrong with a prompt
        self.model = model
        self.sampling = Sampling() if sampling is None else sampling
        self.seed = secrets.randbelow(1 << 32) if seed is None else seed
        self.prompt = tuple(int(i) for i in prompt.reshape(-1))
        self._cache = Cache(model.config, model.E.dtype)
        self._held: list[int] = []  # the ids whose keys and values the cache holds
        self._logits: OrderedDict[int, Array] = OrderedDict()
        self._known: tuple[int, Sampling, Candidates] | None = None
        self._visited: dict[int, int] = {}  # of each node the child that was gone to last
        self.here = 0
        rng = np.random.default_rng(self.seed).bit_generator.state
        self.nodes = [Node(0, None, 0, None, "prompt", 0.0, 1.0, None, dict(rng))]
        self._predicted = 0  # tokens of the prompt that the model had others before to predict from
        self._read_prompt()

    # Where we are

    @property
    def node(self) -> Node:
        return self.nodes[self.here]

    def path(self, number: int | None = None) -> list[Node]:
        """The nodes from the first new token to this one (None: here), without the root."""
        node = self.nodes[self.here if number is None else number]
        found = []
        while node.parent is not None:
            found.append(node)
            node = self.nodes[node.parent]
        return found[::-1]

    def ids(self, number: int | None = None) -> tuple[int, ...]:
        """Prompt and new tokens up to this node (None: here)."""
        return (*self.prompt, *(node.token for node in self.path(number) if node.token is not None))

    @property
    def candidates(self) -> Candidates:
        """What may come next, by the settings as they are now. NotFinite for logits that are not."""
        if self._known is None or self._known[:2] != (self.here, self.sampling):
            self._known = (self.here, self.sampling, Candidates(self._logits_at(self.here), self.sampling))
        return self._known[2]

    def read(self) -> None:
        """Run the model as far as this node, where that has not been done."""
        self._logits_at(self.here)

    def traced(self, trace: Tracer | None = None) -> Tracer:
        """The forward that computes what follows this node, run again as it ran, in `trace` or a new one.

        That is the whole prompt, then the newest token alone, and past max_len all that is in sight. Its arrays
        are read-only; a fused model's are those of its composed ops. Nothing of the tree changes.
        """
        trace = Tracer() if trace is None else trace
        self._run(self.ids(), trace)
        for record in trace.records:
            record.value.flags.writeable = False
        return trace

    @property
    def perplexity(self) -> float | None:
        """exp of the mean surprisal of the text so far, prompt included; None where no token was predicted.

        Of a prompt longer than the model's max_len only the end counts.
        """
        path = self.path()
        count = self._predicted + len(path)
        total = self.nodes[0].surprisal + sum(node.surprisal for node in path)
        return math.exp(min(total / count, 700.0)) if count else None

    # Moving

    def advance(self) -> Node:
        """Choose the next token by the settings and go there; the same again gives the same token."""
        candidates, rng = self.candidates, np.random.default_rng(0)
        rng.bit_generator.state = self.node.rng
        token = candidates.choose(rng)
        how = "greedy" if self.sampling.greedy else "drawn"
        return self._enter(token, how, dict(rng.bit_generator.state))

    def take(self, token: int) -> Node:
        """Go on with this token, whatever its probability. IndexError for one not in the vocabulary."""
        self.candidates.of(token)
        return self._enter(token, "by hand", self.node.rng)

    def ahead(self) -> tuple[int, float | None]:
        """The token that `advance` would choose, and the number from 0 to 1 that does; None for greedy choice."""
        rng = np.random.default_rng(0)
        rng.bit_generator.state = self.node.rng
        token = self.candidates.choose(rng)
        return token, None if self.sampling.greedy else _number(self.node.rng)

    @property
    def visited(self) -> int | None:
        """The child of this node that was gone to last; None where there is none."""
        return self._visited.get(self.here)

    def forget(self) -> None:
        """Let no child of this node be the one gone to last."""
        self._visited.pop(self.here, None)

    def follow(self) -> Node | None:
        """Go to the child visited last; None where there is none, and nothing moves."""
        return None if self.visited is None else self.go(self.visited)

    def back(self, count: int = 1) -> Node:
        """Go back so many tokens, at most to the prompt."""
        number = self.here
        for _ in range(count):
            number = self.nodes[number].parent or 0
        return self.go(number)

    def go(self, number: int) -> Node:
        """Go to any node. IndexError where there is none of this number."""
        if not 0 <= number < len(self.nodes):
            raise IndexError(f"node {number} is not from 0 to {len(self.nodes) - 1}")
        for node in self.path(number):
            self._visited[node.parent or 0] = node.number
        self.here = number
        return self.node

    def reseed(self, seed: int) -> None:
        """Draw what follows this node from a new seed."""
        self.seed = seed
        state = dict(np.random.default_rng(seed).bit_generator.state)
        self.nodes[self.here] = replace(self.node, rng=state)

    def drawn(self) -> float | None:
        """The number from 0 to 1 that chose the token here, to be found in its candidate's low to high.

        None for a token that was not drawn.
        """
        if self.node.how != "drawn" or self.node.parent is None:
            return None
        return _number(self.nodes[self.node.parent].rng)

    def _enter(self, token: int, how: str, rng: dict[str, Any]) -> Node:
        """The child with this token, made where there is none; how it was chosen last is what counts."""
        parent, candidates = self.node, self.candidates
        known = next((n for n in parent.children if self.nodes[n].token == token), None)
        number = len(self.nodes) if known is None else known
        children = () if known is None else self.nodes[known].children
        surprisal, p = candidates.surprisal(token), float(candidates.probs[token])
        node = Node(
            number, parent.number, parent.depth + 1, token, how, surprisal, p, self.sampling, rng, children
        )
        if known is None:
            self.nodes.append(node)
            self.nodes[parent.number] = replace(parent, children=(*parent.children, number))
        else:
            self.nodes[number] = node
        return self.go(number)

    # Logits

    def _read_prompt(self) -> None:
        window = self.prompt[-self.model.config.max_len :]
        rows = self._run(self.prompt)
        self._keep(0, rows[-1])
        with np.errstate(all="ignore"):  # logits that are not finite are refused where a token is chosen
            shifted = rows[:-1].astype(np.float64) - rows[:-1].max(axis=-1, keepdims=True, initial=-np.inf)
            totals = np.log(np.exp(shifted).sum(axis=-1))
            surprisal = float((totals - shifted[np.arange(len(window) - 1), window[1:]]).sum())
        self._predicted = len(window) - 1
        self.nodes[0] = replace(self.nodes[0], surprisal=surprisal)

    def _logits_at(self, number: int) -> Array:
        """The last logits (V,) at a node, read-only."""
        if number in self._logits:
            self._logits.move_to_end(number)
        else:
            self._keep(number, self._run(self.ids(number))[-1])
        return self._logits[number]

    def _keep(self, number: int, logits: Array) -> None:
        kept = logits.copy()
        kept.flags.writeable = False
        self._logits[number] = kept
        while len(self._logits) * kept.nbytes > KEPT_BYTES and len(self._logits) > 1:
            self._logits.popitem(last=False)

    @no_grad()
    def _run(self, ids: Sequence[int], trace: Tracer | None = None) -> Array:
        """Logits (n, V) of the positions that had to run, the last one among them, in the steps of `generate`.

        The prompt runs at one go and each later token by itself: in other portions the last bits would differ.
        `trace` hears the last of these portions.
        """
        last = self.model if trace is None else composed(self.model)
        if len(ids) > self.model.config.max_len:  # the window slides, so every position in it is new
            return np.asarray(last.forward(ids[-self.model.config.max_len :], trace).data[0])
        start = 0
        while start < min(len(self._held), len(ids) - 1) and self._held[start] == ids[start]:
            start += 1
        first = len(self.prompt)
        start = start if start >= first else 0
        self._cache.length, self._held = start, self._held[:start]
        portions = [ids[:first]] if start == 0 else []
        portions += [ids[i : i + 1] for i in range(max(start, first), len(ids))]
        for portion in portions[:-1]:
            self.model.forward(portion, cache=self._cache, start=len(self._held))
            self._held += portion
        logits = last.forward(portions[-1], trace, self._cache, len(self._held))
        self._held += portions[-1]
        return np.asarray(logits.data[0])


def _number(state: dict[str, Any]) -> float:
    """The number from 0 to 1 that is drawn in this random state."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    return float(rng.random())
