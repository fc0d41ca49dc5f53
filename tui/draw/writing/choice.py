"""What is chosen on the Generate screen, how that changes, and what follows from it for every pane and command."""

from dataclasses import dataclass, replace

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


def moved(view: Written, choice: Choice, by: int) -> Choice:
    """The mark so many candidates further down; the ends hold."""
    here = marked(view, choice)
    if here is None or view.candidates is None:
        return choice
    return replace(choice, rank=max(0, min(here.rank - 1 + by, len(view.candidates.order) - 1)))


def marking(view: Written, choice: Choice, token: int) -> Choice:
    """The mark on this candidate."""
    return choice if view.candidates is None else replace(choice, rank=view.candidates.of(token).rank - 1)


def turned(view: Written, choice: Choice, by: int) -> Choice:
    """So many heads on, round through all layers."""
    return replace(choice, head=(choice.head + by) % (view.layers * view.heads))


def kept(before: Written | None, view: Written, choice: Choice) -> Choice:
    """What stays chosen when a view follows another: the mark at the same place, and the head.

    At first it is one of the last layer, which decides; while attention's weights are played it is in their layer.
    """
    if before is None:
        choice = replace(choice, head=(view.layers - 1) * view.heads)
    elif before.place != view.place:
        choice = replace(choice, rank=None)
    moment = view.moment
    if moment is not None and moment.step == "attn.softmax":
        choice = replace(choice, head=(moment.layer or 0) * view.heads + head_in_layer(view, choice))
    return choice


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


# The commands that keys and clicks make of it; empty where there is nothing to do


def taking(view: Written, choice: Choice) -> str:
    """Go on with the marked candidate; before there are candidates, on to them."""
    if (found := marked(view, choice)) is not None:
        return "next" if found.token == view.upcoming else f"take {found.token}"
    return "event-at probs" if view.is_waiting else ""


def going_to(view: Written, choice: Choice, number: int) -> str:
    """To where this token of the text was taken, no further than the prompt; of the one behind it, take it."""
    if number >= len(view.tokens):
        return taking(view, choice)
    back = len(view.tokens) - 1 - max(number, view.prompt - 1)
    return f"back {back}" if back > 0 else ""
