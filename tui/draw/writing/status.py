"""The Generate screen's status line: what was chosen last, or which event is played."""

from glassllm.debug.snapshot import Said
from glassllm.generation import Moment, Written
from glassllm.tokenizer import SPECIALS, UNK
from tui.draw import numbers

from .choice import name


def said(view: Written) -> Said:
    if view.fault:
        return ((view.fault, "stop"), ("   d", "bright"), (" shows where, in Debug", "muted"))
    if view.moment is not None:
        return event_said(view, view.moment)
    return token_said(view) if view.path else prompt_said(view)


def prompt_said(view: Written) -> Said:
    noun = "token" if view.prompt == 1 else "tokens"
    unknown = view.tokens[: view.prompt].count(SPECIALS[UNK])
    of_them = f", {unknown} unknown to the model" if unknown else ""
    return (("▶ ", "fwd"), ("the prompt", "bright"), (f"  {view.prompt} {noun}", "muted"),
            (of_them, "text"), ("; ", "muted"), ("n", "bright"), (" writes the next, ", "muted"),
            ("i", "bright"), (" goes through its events, ", "muted"),
            ("c", "bright"), (f" writes {view.goal}", "muted"))  # fmt: skip


def token_said(view: Written) -> Said:
    node = view.path[-1]
    kept = f" with p {numbers.stat(node.probability)}" if node.how == "drawn" else ""
    noun = "fork" if view.branches == 1 else "forks"
    forks = f"   {view.branches} {noun} in the tree" if view.branches else ""
    return (("▶ ", "fwd"), (f"token {view.depth}", "bright"), (f"  {name(view, node.token)}", "text"),
            (f"  {node.how}{kept}{forks}", "muted"))  # fmt: skip


def event_said(view: Written, moment: Moment) -> Said:
    return (("▶ ", "fwd"), (f"event {moment.number}", "bright"), (f" of token {view.depth + 1}  ", "muted"),
            (moment.scope, "text"), (f"  {moment.meaning}", "muted"))  # fmt: skip
