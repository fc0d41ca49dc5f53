"""How a row is shown that its user has written into since the run used it."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.debug import record
from glassllm.debug.commands import run
from glassllm.debug.session import Session, drain
from tui.draw.event_list import line_row, lines_of
from tui.draw.leaf_list import leaf_rows
from tui.draw.palette import Palette
from tui.draw.parameters import parameters
from tui.draw.plane import PanelState
from tui.draw.tensor_page import tensor_page

PALETTE = Palette()


def text(row) -> str:
    return "".join(segment.text for segment in row)


def title(snapshot, width=100) -> str:
    return text(tensor_page(snapshot, PanelState(), width, 30, PALETTE).rows[0])


@pytest.fixture
def written():
    """A session on (w·v + u).sum(), of whose leaves `w` was written into since, and `u` put on another array."""
    w, v, u = (Tensor(np.ones(3), requires_grad=True) for _ in range(3))
    with record({"w": w, "v": v, "u": u}) as tape:
        made = w * v
        made = made + u
        made.sum()
    w.data[1] = 7
    u.data = np.zeros(3)
    return Session.of(tape)


def test_names_of_what_was_written_in_place_are_marked_once_statistics_are_taken(written):
    before = run(written, "3 continue")
    drain(written.statistics())
    after = written.snapshot()
    assert [each.name for each in parameters(before)] == ["~w", "v", "u"], "the tape is one and the same"
    rows = [text(row) for row in leaf_rows(after, 5, 40, PALETTE)]
    assert [row[:5].strip() for row in rows[1:]] == ["● ~w", "● v", "● u"]


def test_a_leaf_is_looked_at_when_it_is_selected(written):
    assert title(run(written, "select w")).startswith(
        " ~w  ▷ selected, not current  stale: written in place since"
    )
    assert title(run(written, "select v")).split()[0] == "v"


def test_an_op_s_result_is_marked_in_the_list_too():
    x = Tensor(np.ones(2), requires_grad=True)
    y = Tensor(np.ones(2), (x,), lambda g: (g,))
    session = Session.of(y * 2)
    y.data[0] = 5
    drain(session.statistics())
    snapshot = session.snapshot()
    rows = [text(line_row(snapshot, line, False, 34, PALETTE)) for line in lines_of(snapshot.tape, frozenset())]
    assert [row[4:11].split()[0] for row in rows] == ["~custom", "mul"]


@pytest.mark.parametrize(("staleness", "words"), [
    ("since", "written in place since "),
    ("between", "as the run used it first "),
    ("lost", "not as the run used it "),
])  # fmt: skip
def test_the_title_says_what_is_shown(snapshots, staleness, words):
    shown = title(snapshots(np.ones((2, 2)), staleness=staleness))
    assert shown.startswith(" ~blocks.1 · attn.softmax  stale: " + words)


def test_a_small_panel_says_at_least_that_it_is_stale(snapshots):
    assert title(snapshots(np.ones((2, 2)), staleness="between"), 49).startswith(
        " ~blocks.1 · attn.softmax  stale"
    )
