"""Signs: the shape says what a thing is, the filling says how far it is."""

from glassllm.debug.snapshot import GradientState, Staleness

RECORDED, NOT_YET = "■", "□"
FORWARD, BACKWARD, SELECTED = "▶", "◀", "▷"
FOLDED, OPEN = "▸", "▾"
STALE = "~"


def marked(name: str, staleness: Staleness) -> str:
    """The name of a row, `~` before it where its user has written into its array since."""
    return f"{STALE}{name}" if staleness else name


def gradient_glyph(state: GradientState) -> tuple[str, str]:
    """The sign of a gradient's state and the colour token it has."""
    return state.sign, "bwd" if state.takes and state.delivered else "faint"


def of_edges(state: GradientState) -> str:
    """`1/2`: contributions delivered of all; empty where there are none."""
    return f"{state.delivered}/{state.edges}" if state.takes and state.edges else ""
