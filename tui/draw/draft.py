"""A tensor page while it is drawn: the canvas, what is gathered on the way, and the arrays there are to show."""

import numpy as np

from glassllm.debug.snapshot import Focus, Snapshot
from tui.draw import curves
from tui.draw.canvas import Canvas
from tui.draw.memo import once_per_array
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.plane import PanelState, Plane, plane_of
from tui.draw.scale import Codes, Scale, scale_of
from tui.draw.tensor_map import Shown, Spot

scale_once = once_per_array(scale_of)
counts_once = once_per_array(curves.counts_of)


class Draft:
    """A page being drawn: the canvas, and what is gathered on the way."""

    def __init__(self, snapshot: Snapshot, state: PanelState, width: int, height: int, palette: Palette):
        self.snapshot, self.state = snapshot, state
        self.focus: Focus = snapshot.focus
        self.canvas = Canvas(width, height, palette)
        self.palette = palette
        self.accent = "bwd" if snapshot.position.traversal > 0 else "fwd"
        self.plane: Plane | None = None
        self.scales: dict[str, Scale] = {}
        self.codes: dict[str, Codes] = {}
        self.spots: list[Spot] = []

    def settle(self, name: str, fresh: Scale) -> Scale:
        """The scale a map is drawn on: the one of the page before while the data stay in it."""
        kept = dict(self.state.kept).get(name)
        scale = kept if kept is not None and kept.keeps(fresh) else fresh
        self.scales[name] = scale
        return scale


def shown_value(draft: Draft) -> Shown:
    focus = draft.focus
    why = "" if focus.recorded else "□ not reached: no number here yet"
    return shown(draft, "value", focus.value, focus.masked, why)


def shown_gradient(draft: Draft) -> Shown:
    """The sum of the contributions so far, always on a scale with both signs."""
    focus = draft.focus
    if not focus.state.takes:
        return shown(draft, "gradient", None, None, "– takes no gradient")
    note = f"{focus.state.delivered} of {focus.state.edges} so far, not final"
    why = "○ not reached: no number here yet"
    return shown(draft, "gradient", focus.gradient, None, why, "" if focus.state.is_final else note, signed=True)


def shown(
    draft: Draft, name: str, array: Array | None, masked: Array | None, why_not: str, note: str = "",
    signed: bool | None = None,
) -> Shown:  # fmt: skip
    """An array and the scale it is drawn on: of the whole tensor or of its slice, kept while data stay in it."""
    absent = array is None or (name == "value" and bool(why_not))
    if array is None or absent:
        zeros = np.broadcast_to(np.zeros((), draft.focus.value.dtype), draft.focus.value.shape)
        return Shown(name, zeros, None, Scale("sequential", 1.0), why_not=why_not)
    if draft.state.scale == "slice" and array.ndim > 2:
        plane = plane_of(array, masked, draft.state)
        scale = scale_of(plane.values, plane.masked, signed)
    else:
        scale = draft.settle(name, scale_once(array, masked, signed))
    health = draft.snapshot.value_health if name == "value" else draft.snapshot.gradient_health
    return Shown(name, array, masked, scale, health, "", note)
