"""Hand-made snapshots: one tensor in focus, no engine behind it."""

from types import SimpleNamespace

import numpy as np
import pytest

from glassllm.debug.health import health_of
from glassllm.debug.snapshot import (
    Axis,
    Contribution,
    Focus,
    GradientState,
    Position,
    Row,
    RunFacts,
    Snapshot,
)

WORDS = ("Once", " upon", " a", " time", " there", " was", " a", " small", " fox", " named", " Pip", ".")
RUN = RunFacts("tiny", WORDS, (), (), (), "float32", True, False, None, 77, 402, 100)


def snapshot_of(
    value,
    gradient=None,
    axes=None,
    masked=None,
    edges=1,
    delivered=None,
    contributions=(),
    takes=True,
    recorded=True,
    backward=False,
    counted=True,
    staleness="",
):
    """A snapshot of one node with this value; axes named `query`, `key` and `token` are labelled with words."""
    value = np.asarray(value)
    names = axes or tuple(f"axis {i}" for i in range(value.ndim))
    made = tuple(
        Axis(name, WORDS[:size] if name in ("query", "key", "token") else None)
        for name, size in zip(names, value.shape, strict=True)
    )
    if delivered is None:
        delivered = edges if gradient is not None else 0
    row = Row(0, "node", "softmax", "blocks.1.attn.softmax", value, number=146, event=0)
    consumers = [Row(i + 1, "node", f"op{i}", "blocks.1.norm.ffn", value) for i in range(len(contributions))]
    sent = tuple(
        Contribution(i + 1, 0, f"through way {i}", each, None if each is None else 200 + i)
        for i, each in enumerate(contributions)
    )
    focus = Focus(
        row, "blocks.1 · attn.softmax", made, value, masked, GradientState(takes, delivered, edges),
        gradient, sent, (), recorded, True,
    )  # fmt: skip
    tape = SimpleNamespace(
        rows=[row, *consumers], events=[SimpleNamespace(step="attn.softmax")], staleness=lambda _: staleness
    )
    health = health_of(value, masked) if counted and value.size else None
    gradient_health = health_of(gradient) if counted and gradient is not None and gradient.size else None
    return Snapshot(
        1, RUN, Position(1, 3) if backward else Position(0, 28), 0, 0, (), tape, focus, health, gradient_health
    )


@pytest.fixture
def snapshots():
    """The function that makes them."""
    return snapshot_of
