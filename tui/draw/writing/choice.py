"""What is chosen on the Generate screen, and what follows from it for every pane."""

from dataclasses import dataclass

from glassllm.generation import Candidate, Written
from tui.draw.leaf_list import spaced
from tui.draw.numbers import Array
from tui.draw.text import clean


@dataclass(frozen=True, slots=True)
class Choice:
    """`rank` is the marked candidate's place in the list, from 0 (None: the token that comes next); `head` counts
    through all layers. `tab`: which pane stands where there is room for one; `asks`: the lens in the candidates'
    place."""

    rank: int | None = None
    head: int = 0
    tab: int = 0
    has_lens: bool = False


def name(view: Written, token: int | None) -> str:
    """A token as it is shown: its leading space visible, nothing in it that a terminal would obey."""
    return "" if token is None else clean(spaced(view.vocabulary[token])) or "␀"


def marked(view: Written, choice: Choice) -> Candidate | None:
    """The candidate the cursor is on."""
    if view.candidates is None or view.upcoming is None:
        return None
    if choice.rank is None:
        return view.candidates.of(view.upcoming)
    return view.candidates.of(int(view.candidates.order[choice.rank]))


def heads(view: Written) -> tuple[int, int]:
    """Layers, and heads in each."""
    return (0, 0) if view.attention is None else view.attention.shape[:2]


def layer_and_head(view: Written, choice: Choice) -> tuple[int, int]:
    """Which head is looked at, both from 0."""
    layers, each = heads(view)
    return divmod(choice.head % max(layers * each, 1), max(each, 1))


def weights(view: Written, choice: Choice) -> Array | None:
    """(m,) how much the chosen head looks at each token that the model sees."""
    if view.attention is None:
        return None
    layer, head = layer_and_head(view, choice)
    row: Array = view.attention[layer, head]
    return row


def is_finite(view: Written) -> bool:
    return view.candidates is not None
