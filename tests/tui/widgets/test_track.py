"""The track: the whole timeline in one row, and a click on a cell of it."""

import pytest

from glassllm.debug.commands import run
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.widgets.track import row_at, scale, track_row

PALETTE = Palette()


def text(snapshot, width) -> str:
    return "".join(segment.text for segment in track_row(snapshot, width, PALETTE))


def colors(snapshot, width, sign):
    return {s.style for s in track_row(snapshot, width, PALETTE) if sign in s.text}


@pytest.mark.parametrize(("width", "cells"), [(160, 77), (158, 77), (120, 39), (80, 39), (79, 39), (77, 26)])
def test_one_cell_a_moment_while_there_is_room_and_then_as_few_as_fit(width, cells):
    assert scale(77, width)[1] == cells
    assert 2 * cells + 1 <= width


def test_forward_what_is_done_is_heavy_and_the_rest_light(session):
    line = text(run(session, "28 next"), 160)
    assert line[1:-1].index("▶") == 1 + 28
    assert set(line[2:30]) == {"━", " ", "0", "1"}
    assert line[80 - 1] == "│"
    assert "━" not in line[31:]


def test_blocks_are_numbered_at_their_start_and_mirrored(session):
    line = text(session.snapshot(), 160)
    assert [line.index(f" {i} ") for i in range(1, 4)] == [2 + 1 + 18 * i for i in range(1, 4)]
    back = line[80:]
    assert [sign for sign in back if sign.isdigit()] == ["3", "2", "1", "0"]


def test_backward_the_whole_forward_half_is_done_and_time_runs_on_to_the_right(session):
    run(session, "continue")
    for events in (1, 20, 76):
        line = text(run(session, f"{events} next"), 160)
        run(session, "continue-back")
        run(session, "continue")
        assert "┃" in line
        assert "─" not in line[:79]
    last = text(run(session, "last"), 160)
    assert last.rstrip().endswith("▶")
    assert colors(session.snapshot(), 160, "┃") == {PALETTE.style("bwd", "bg")}


@pytest.mark.parametrize("width", [160, 120, 80, 77, 60])
@pytest.mark.parametrize("command", ["first", "continue", "last"])
def test_there_is_one_marker_at_every_width(session, width, command):
    run(session, "continue")
    run(session, "next")
    assert text(run(session, command), width).count("▶") == 1


@pytest.mark.parametrize("width", [200, 160, 120, 80, 60])
def test_a_click_on_the_marker_leads_where_it_stands(session, width):
    """Exactly with a cell a moment; else into the moments that share the cell."""
    per_cell, _ = scale(77, width)
    for order, event in enumerate(session.tape.events):
        snapshot = run(session, "run-to" if order else "first", *(event.path,) if order else ())
        row = row_at(snapshot, text(snapshot, width).index("▶"), width)
        assert session.tape.rows[row].event == order - order % per_cell


def test_a_click_on_the_way_back_selects_the_mirrored_moment(session):
    run(session, "continue")
    for _ in range(76):
        snapshot = run(session, "next")
        event = snapshot.tape.rows[snapshot.current].event
        assert row_at(snapshot, text(snapshot, 160).index("▶"), 160) == session.tape.events[event].row


def test_outside_and_on_the_bar_there_is_nothing_to_click(session):
    snapshot = session.snapshot()
    assert [x for x in range(160) if row_at(snapshot, x, 160) is None] == [0, 1, 79, 157, 158, 159]


def test_a_graph_without_events_has_its_nodes_on_the_track(graph):
    line = text(run(graph, "2 step"), 80)
    assert line.strip() == "━━▶──│─────"
    assert row_at(graph.snapshot(), line.index("▶"), 80) == graph.tape.forward[2]
    back = text(run(graph, "3 step"), 80)
    assert "┃" in back


def test_rows_are_as_wide_as_asked(session, graph):
    snapshots = [session.snapshot(), run(session, "2 continue"), graph.snapshot(), run(graph, "2 continue")]
    for width in range(60, 201):
        for snapshot in snapshots:
            assert row_width(track_row(snapshot, width, PALETTE)) == width
            for x in range(width):
                row_at(snapshot, x, width)
