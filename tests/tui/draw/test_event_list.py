"""The event list: what is folded, which lines are shown, and what each says of its moment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassllm import Tensor
from glassllm.debug.commands import run
from glassllm.debug.session import Session
from tui.draw.event_list import head_row, line_of, line_row, lines_of, window
from tui.draw.palette import Palette
from tui.draw.text import row_width

PALETTE = Palette()


def folds(tape, *layers):
    return [line.name for line in lines_of(tape, frozenset(layers)) if not line.depth]


def text(row) -> str:
    return "".join(segment.text for segment in row)


def drawn(snapshot, step, layer, width=34):
    """The line of one event, as text."""
    lines = lines_of(snapshot.tape, frozenset() if layer is None else frozenset([layer]))
    row = next(event.row for event in snapshot.tape.events if (event.step, event.layer) == (step, layer))
    line = lines[line_of(snapshot.tape, lines, row)]
    return text(line_row(snapshot, line, snapshot.selection == row, width, PALETTE))


# Folding


@pytest.mark.parametrize(
    ("layers", "middle"),
    [
        ((), ["blocks.0–3"]),
        ((0,), ["blocks.0", "blocks.1–3"]),
        ((1,), ["blocks.0", "blocks.1", "blocks.2–3"]),
        ((3,), ["blocks.0–2", "blocks.3"]),
        ((0, 1, 2, 3), ["blocks.0", "blocks.1", "blocks.2", "blocks.3"]),
    ],
)
def test_neighbours_that_are_folded_share_a_line(session, layers, middle):
    assert folds(session.tape, *layers) == ["embed", *middle, "norm.final", "logits", "loss", "loss.grad"]


def test_every_moment_is_on_one_line_or_in_one_fold(session):
    lines = lines_of(session.tape, frozenset([1]))
    assert sum(line.events for line in lines if not line.is_open) == len(session.tape.events) == 77
    assert [line.events for line in lines if line.layers] == [18, 18, 36]
    assert [line.name for line in lines if line.depth][:2] == ["norm.attn", "attn.q"]


def test_a_fold_shows_the_state_of_its_last_moment(session):
    fold = lines_of(session.tape, frozenset([1]))[1]
    assert session.tape.events[18].path == "blocks.0.resid.ffn"
    assert fold.row == session.tape.events[18].row


@pytest.mark.parametrize("layers", [(), (1,), (0, 1, 2, 3)])
def test_a_row_is_found_on_its_line_or_in_its_fold(session, layers):
    lines = lines_of(session.tape, frozenset(layers))
    for event in session.tape.events:
        line = lines[line_of(session.tape, lines, event.row)]
        assert not line.is_open
        assert event.layer in line.layers if line.layers else line.row == event.row


def test_without_events_every_op_has_a_line(graph):
    lines = lines_of(graph.tape, frozenset())
    assert [line.name for line in lines] == ["mul 1", "add 2", "exp 3", "mul 4", "tsum 5"]
    assert [line_of(graph.tape, lines, line.row) for line in lines] == [0, 1, 2, 3, 4]


# The window


@settings(deadline=None)
@given(st.integers(1, 500), st.data())
def test_the_window_holds_the_current_line_in_its_middle_third(count, data):
    current = data.draw(st.integers(0, count - 1))
    top, height = data.draw(st.integers(0, count)), data.draw(st.integers(3, 60))
    first = window(count, current, top, height)
    assert 0 <= first <= max(0, count - height)
    assert first <= current < first + height
    is_inside = height // 3 <= current - first <= height - 1 - height // 3
    assert is_inside or first in (0, max(0, count - height))


def test_a_step_inside_the_middle_third_does_not_scroll():
    assert window(100, 31, 20, 30) == window(100, 38, 20, 30) == 20
    assert window(100, 40, 20, 30) == 21
    assert window(100, 29, 20, 30) == 19


# One line


def test_what_is_not_recorded_yet_is_an_empty_square(session):
    snapshot = run(session, "28 next")
    assert drawn(snapshot, "attn.softmax", 1).rstrip().endswith("4×12×12 ■ ○")
    assert drawn(snapshot, "attn.mix", 1) == "  ▶   attn.mix       4×12×16 ■ ○  "
    assert drawn(snapshot, "attn.out", 1) == "      attn.out         12×64 □ ○  "
    assert drawn(snapshot, "loss.grad", None) == "    loss.grad        12×1024 □ –  "


def test_the_circle_says_how_far_the_gradient_is(session):
    run(session, "continue")
    snapshot = run(session, "run-to", "blocks.3.ffn.down")
    assert snapshot.position.traversal == 1
    circles = [drawn(snapshot, step, 3)[-3] for step in ("resid.ffn", "ffn.down", "resid.attn", "norm.ffn")]
    assert circles == ["●", "●", "◐", "○"]
    assert drawn(snapshot, "loss.grad", None)[-3] == "–"


@pytest.mark.parametrize(
    ("commands", "marker"),
    [(["28 next"], "▶"), (["28 next", "select blocks.1.attn.softmax"], "▷"), (["continue", "3 next"], "◀")],
)
def test_the_marker_says_how_the_line_stands_to_the_position(session, commands, marker):
    for command in commands:
        snapshot = run(session, command)
    event = snapshot.tape.events[snapshot.tape.rows[snapshot.selection].event]
    assert drawn(snapshot, event.step, event.layer)[2] == marker


def test_on_the_way_to_a_moment_its_line_has_the_marker(session):
    assert drawn(run(session, "step"), "norm.attn", 0) == "  ▶   norm.attn        12×64 □ ○  "
    run(session, "2 continue")
    last = run(session, "last")
    assert last.tape.rows[last.current].name == "E"
    assert drawn(last, "embed", None)[2] == "◀"


def test_folds_and_open_blocks_say_so_and_count(session):
    snapshot = run(session, "28 next")
    folded = lines_of(snapshot.tape, frozenset([1]))
    lines = [text(line_row(snapshot, line, False, 34, PALETTE)) for line in folded]
    assert "  ▸ blocks.0 ×18             ■ ○  " in lines
    assert "  ▸ blocks.2–3 ×36           □ ○  " in lines
    assert lines[2].rstrip() == "  ▾ blocks.1"


def test_a_name_too_long_keeps_its_tail(session):
    snapshot = run(session, "28 next")
    assert drawn(snapshot, "attn.softmax", 1, 26)[:18].strip().startswith("…")
    assert "softmax 4×12×12" in drawn(snapshot, "attn.softmax", 1, 28)


@pytest.mark.parametrize(("value", "sign"), [(np.nan, "×"), (np.inf, "▲"), (1.0, " ")])
def test_a_fault_is_a_sign_in_the_last_column_and_health_is_silence(value, sign):
    session = Session.of(Tensor(np.array([value, 2.0]), requires_grad=True) * 2.0)
    snapshot = session.snapshot()
    row = line_row(snapshot, lines_of(snapshot.tape, frozenset())[0], False, 34, PALETTE)
    assert text(row)[-1] == sign
    assert (row[-1].style == PALETTE.style("nanfg", "nan")) == (sign != " ")


@pytest.mark.parametrize("command", ["first", "28 next", "select E", "continue"])
def test_rows_are_as_wide_as_asked(session, graph, command):
    snapshots = [run(session, command), graph.snapshot()]
    for width in (24, 30, 31, 32, 34, *range(60, 201)):
        assert row_width(head_row("event", width, PALETTE)) == width
        assert text(head_row("op", width, PALETTE)).split() == ["op", "shape", "v", "∂"]
        for snapshot in snapshots:
            for line in lines_of(snapshot.tape, frozenset([1])):
                for selected in (False, True):
                    assert row_width(line_row(snapshot, line, selected, width, PALETTE)) == width
