"""What is chosen on the Generate screen, and what follows from it for every pane."""

from dataclasses import dataclass

from glassllm.generation import Candidate, Written
from tui.draw.leaf_list import spaced
from tui.draw.numbers import Array
from tui.draw.text import clean


@dataclass(frozen=True, slots=True)
class Choice:
    """`rank` is the marked candidate's place in the list, from 0; None: the token that comes next, or the
    likeliest as long as none is drawn. `head` counts through all layers. `tab`: which pane stands where there is
    room for one; `has_lens`: the lens in the candidates' place.
    """

    rank: int | None = None
    head: int = 0
    tab: int = 0
    has_lens: bool = False


def name(view: Written, token: int | None) -> str:
    """A token as it is shown: its leading space visible, nothing in it that a terminal would obey."""
    return "" if token is None else clean(spaced(view.vocabulary[token])) or "␀"


def marked(view: Written, choice: Choice) -> Candidate | None:
    """The candidate the cursor is on."""
    if view.candidates is None:
        return None
    if choice.rank is None and view.upcoming is not None:
        return view.candidates.of(view.upcoming)
    return view.candidates.of(int(view.candidates.order[choice.rank or 0]))


def layer_and_head(view: Written, choice: Choice) -> tuple[int, int]:
    """Which head is looked at, both from 0."""
    return divmod(choice.head % (view.layers * view.heads), view.heads)


def head_in_layer(view: Written, choice: Choice) -> int:
    """The same head, whatever its layer."""
    return layer_and_head(view, choice)[1]


def weights(view: Written, choice: Choice) -> Array | None:
    """(m,) how much the chosen head looks at each token that the model sees; None before that is computed."""
    layer, head = layer_and_head(view, choice)
    if view.attention is None or layer >= view.looked:
        return None
    row: Array = view.attention[layer, head]
    return row
