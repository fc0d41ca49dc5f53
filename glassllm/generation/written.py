"""Written: what there is to see at a place in a tree of continuations, frozen."""

from collections.abc import Sequence
from dataclasses import dataclass

from glassllm.autograd.ops import Array
from glassllm.model import Sampling
from glassllm.tokenizer import EOS

from .candidates import Candidates
from .continuations import Node
from .insight import Lens
from .playback import Moment

GOAL = 40  # new tokens that a text is written on to, and once these are there, so many more


def goal_from(depth: int) -> int:
    """How many new tokens a text of so many is written on to: always some that are not there yet."""
    return GOAL * (depth // GOAL + 1)


@dataclass(frozen=True, eq=False)
class Written:
    """A place in the tree. What may follow is None where `fault` says that it can't be told.

    While the next token is played event by event, only what has been computed by then is there: `event` says how
    far it is, 0 that all of it is.
    """

    tokens: tuple[str, ...]  # texts of prompt and new tokens, with their leading spaces
    prompt: int  # how many of them are the prompt
    unseen: int  # how many at the start the model does not look at any more
    path: tuple[Node, ...]  # the new tokens
    vocabulary: Sequence[str]  # the text of each id
    sampling: Sampling
    seed: int
    candidates: Candidates | None
    upcoming: int | None  # the token that comes next
    how: str  # how it is chosen: "drawn", "greedy", or "by hand before"
    drawn: float | None  # the number from 0 to 1 that chooses it
    taken: tuple[int, ...]  # tokens gone on with from here before, in that order
    attention: Array | None  # (L, H, m) weights of the last position on each token the model sees; see `looked`
    lens: Lens | None  # what each layer would say comes next
    perplexity: float | None
    seconds: float | None  # a token takes, of late; None: none was computed yet
    max_len: int
    layers: int  # of the model
    heads: int  # in each of them
    branches: int  # places in the tree with more than one continuation
    fault: str = ""
    event: int = 0
    events: int = 0  # in all, of one token
    moments: tuple[Moment, ...] = ()  # of the next token, while it is played
    looked: int = 0  # layers whose attention counts: those of the others have not been computed yet

    @property
    def moment(self) -> Moment | None:
        """The event the playback is at."""
        return self.moments[self.event - 1] if self.event else None

    @property
    def is_waiting(self) -> bool:
        """Whether the playback has not come to the candidates yet."""
        return self.candidates is None and not self.fault

    @property
    def place(self) -> tuple[tuple[Node, ...], int]:
        """Where this is: the new tokens, and the event of the next."""
        return self.path, self.event

    @property
    def depth(self) -> int:
        """New tokens up to here."""
        return len(self.path)

    @property
    def goal(self) -> int:
        """New tokens that the text is written on to."""
        return goal_from(self.depth)

    @property
    def surprisal(self) -> float | None:
        """Mean −log p of the new tokens in nats; None without any."""
        return sum(node.surprisal for node in self.path) / len(self.path) if self.path else None

    def is_over(self, before: "Written") -> bool:
        """Whether going on from `before` led nowhere, or to the end of the text."""
        if before.path == self.path:
            return before.event == self.event
        return bool(self.path) and self.path[-1].token == EOS
