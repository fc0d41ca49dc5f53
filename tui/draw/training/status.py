"""The Train screen's status line: what the run does, and which keys lead on; and what leaving it would lose."""

from glassllm.debug.snapshot import Said
from glassllm.train import Divergence, Trained
from tui.draw.numbers import count


def said(view: Trained) -> Said:
    if view.fault is not None:
        return astray_said(view.fault)
    if view.resumable:
        return resumable_said(view)
    mark = "▶ " if view.state == "training" else "‖ "
    if view.saving_fault:
        return unsaved_said(view, mark)
    return ((mark, "fwd"), (view.state, "bright"), (f"  {ahead(view)}", "muted"))


def unsaved_said(view: Trained, mark: str) -> Said:
    """That the run goes on though no file holds it, and what helps."""
    return ((mark, "fwd"), (view.state, "bright"), ("  not saved: ", "stop"), (reason(view.saving_fault), "text"),
            ("; ", "muted"), (":save PATH", "bright"), (" saves it elsewhere", "muted"))  # fmt: skip


def reason(fault: str) -> str:
    """`No space left on device` of `cannot be written: No space left on device`"""
    return fault.removeprefix("cannot be written: ")


def ahead(view: Trained) -> str:
    """What comes next, or what a person may do next."""
    every = view.settings.eval_every
    match view.state:
        case "not begun":
            return f"{view.corpus}, {count(view.settings.steps)} steps; space begins"
        case "paused":
            return f"after step {count(view.step)}; space goes on, s takes one, d looks at the last"
        case "done":
            return f"{view.saved_in} is written; space begins another run"
        case _ if view.tokens[1]:
            return f"validation every {every} steps; next in {every - view.step % every}"
        case _:
            return "no validation: short text"


def astray_said(fault: Divergence) -> Said:
    return (("! ", "stop"), (f"{fault.fault}: ", "bright"), (f"{fault.where} {fault.place}; ", "text"),
            ("d", "bright"), (" looks at this step, ", "muted"),
            ("space", "bright"), (" goes on", "muted"))  # fmt: skip


def resumable_said(view: Trained) -> Said:
    return (("‖ ", "fwd"), ("saved run", "bright"), (f"  {view.resumable}, step ", "muted"),
            (count(view.resumable_step), "text"), ("; ", "muted"), ("R", "bright"),
            (" goes on, ", "muted"), ("space", "bright"), (" begins anew", "muted"))  # fmt: skip


def unsaved(view: Trained) -> str:
    """What of the run no file holds, in a few words; empty where one holds all."""
    saved = view.saved or 0
    if view.step <= saved:
        return ""
    steps = f"a run of {count(view.step)} step{'s' * (view.step > 1)}"
    return f"{count(view.step - saved)} of {steps} not saved yet" if saved else f"{steps} is not saved"
