"""Generation one can look into: candidates and filters, a tree of continuations, the events of each token."""

from glassllm.model import NotFinite, Sampling

from .candidates import Candidate, Candidates, Stage, entropy
from .continuations import Continuations, Node
from .insight import Insight, Lens, look
from .playback import Moment
from .writer import Writer
from .written import Written

__all__ = [
    "Candidate",
    "Candidates",
    "Continuations",
    "Insight",
    "Lens",
    "Moment",
    "Node",
    "NotFinite",
    "Sampling",
    "Stage",
    "Writer",
    "Written",
    "entropy",
    "look",
]
