"""Generation one can look into: candidates and filters, a tree of continuations, what layers say and look at."""

from glassllm.model import NotFinite, Sampling

from .candidates import Candidate, Candidates, Stage, entropy
from .continuations import Continuations, Node
from .insight import Insight, Lens, look
from .writer import Writer, Written

__all__ = [
    "Candidate",
    "Candidates",
    "Continuations",
    "Insight",
    "Lens",
    "Node",
    "NotFinite",
    "Sampling",
    "Stage",
    "Writer",
    "Written",
    "entropy",
    "look",
]
