"""What stands under the event list: the leaves of a traversal, and the likeliest next tokens."""

from math import inf, nan

import numpy as np
import pytest

from glassllm.debug.commands import run
from glassllm.debug.snapshot import GradientState
from tui.draw import glyphs
from tui.draw.leaf_list import BAR, bar, grouped, leaf_rows, next_token_rows, norm, spaced
from tui.draw.palette import Palette
from tui.draw.text import row_width

PALETTE = Palette()


def text(row) -> str:
    return "".join(segment.text for segment in row)


def states(snapshot):
    return {leaf: snapshot.tape.gradient_state(leaf, snapshot.position) for leaf in snapshot.tape.leaves}


@pytest.mark.parametrize(
    ("state", "glyph", "edges"),
    [
        (GradientState(False, 0, 0), "–", ""),
        (GradientState(True, 0, 2), "○", "0/2"),
        (GradientState(True, 1, 2), "◐", "1/2"),
        (GradientState(True, 2, 2), "●", "2/2"),
    ],
)
def test_the_shape_of_a_gradients_state(state, glyph, edges):
    assert glyphs.gradient_glyph(state)[0] == glyph
    assert glyphs.of_edges(state) == edges


@pytest.mark.parametrize("block", [3, 2, 1, 0])
def test_every_leaf_is_in_one_group_and_a_final_block_is_one(session, block):
    run(session, "continue")
    snapshot = run(session, "run-to", f"blocks.{block}.ffn.up")
    groups = grouped(snapshot, states(snapshot))
    assert sorted(leaf for _, leaves, _ in groups for leaf in leaves) == sorted(snapshot.tape.leaves)
    names = [name for name, _, _ in groups]
    assert names[:2] == ["E  tied", "norm_f.gamma"]
    assert [name for name in names if name.endswith("  9")] == [f"blocks.{i}  9" for i in range(3, block, -1)]
    assert f"b.{block} W3 W2" in names


def test_a_tied_leaf_says_how_many_contributions_came_and_waiting_blocks_come_last(session):
    run(session, "continue")
    snapshot = run(session, "run-to", "blocks.1.attn.mix")
    rows = [text(row) for row in leaf_rows(snapshot, 9, 34, PALETTE)]
    assert rows[0].split() == ["leaf", "gradients", "‖g‖", str(2 + 9 + 9 + 5), "of", "38"]
    assert rows[1].startswith(" ◐ E  tied  1/2")
    assert rows[2].startswith(" ● norm_f.gamma")
    assert [row.split("not")[0].strip() for row in rows[-2:]] == ["○ b.1 γ W_Q W_K W_V", "○ blocks.0"]
    assert all(row.rstrip().endswith("not reached") for row in rows[-2:])


def test_the_norm_of_a_group_is_that_of_all_its_gradients_together(session):
    snapshot = run(session, "2 continue")
    tape = snapshot.tape
    leaves = [leaf for leaf in tape.leaves if tape.rows[leaf].name.startswith("blocks.2.")]
    gradients = [session.tape.gradient(leaf, snapshot.position).ravel() for leaf in leaves]
    assert norm(snapshot, leaves) == pytest.approx(np.linalg.norm(np.concatenate(gradients)), rel=1e-6)
    assert norm(run(session, "first"), leaves) is None


def test_the_norm_of_huge_gradients_does_not_overflow(monkeypatch, session):
    snapshot = run(session, "2 continue")
    monkeypatch.setattr(type(snapshot.tape), "gradient_norm", lambda tape, leaf, at: (3e300, 4e300)[leaf])
    assert norm(snapshot, [0, 1]) == pytest.approx(5e300)


@pytest.mark.parametrize("height", [5, 9])
def test_gradients_that_are_not_finite_leave_the_bars_of_others_as_they_are(monkeypatch, session, height):
    snapshot = run(session, "3 continue")
    rows = snapshot.tape.rows
    embedding, gain = [leaf for leaf in snapshot.tape.leaves if rows[leaf].name in ("E", "norm_f.gamma")]

    def bars(of_embedding, of_gain):
        sizes = {embedding: of_embedding, gain: of_gain}
        monkeypatch.setattr(type(snapshot.tape), "gradient_norm", lambda tape, i, at: sizes.get(i, 1 / (i + 1)))
        return [text(row)[-BAR - 1 :] for row in leaf_rows(snapshot, height, 34, PALETTE)[1:]]

    broken, others = bars(inf, nan), bars(0.0, 0.0)
    assert broken[2:] == others[2:]
    assert broken[0].count("━") == BAR


@pytest.mark.parametrize(
    ("size", "largest", "cells"),
    [
        (1.0, 1.0, BAR),
        (0.1, 1.0, BAR - 2),
        (1e-9, 1.0, 1),
        (0.0, 1.0, 0),
        (0.0, 0.0, 0),
        (5e-324, 1e300, 1),
        (inf, 1.0, BAR),
        (inf, 0.0, BAR),
        (nan, 1.0, 0),
    ],
)
def test_a_bar_loses_two_cells_for_every_tenth(size, largest, cells):
    assert bar(size, largest) == cells


def test_the_token_that_really_follows_is_marked():
    rows = next_token_rows(" fox", [(" named", 0.75), (" ran", 0.25), ("x" * 30, 1e-7)], " named", 34, PALETTE)
    lines = [text(row) for row in rows]
    assert lines[0].split() == ["next", "token", "after", "·fox", "p"]
    assert lines[1].startswith(" ▸ ·named     ━━━━━━━━━───") and lines[1].endswith(".750 ")
    assert lines[2].startswith("   ·ran       ━━━─") and lines[2].endswith(".250 ")
    assert lines[3].startswith("   xxxxxxxxx… ──") and lines[3].endswith("<.001 ")


@pytest.mark.parametrize(("token", "shown"), [(" fox", "·fox"), ("▁fox", "·fox"), ("fox", "fox"), ("", "")])
def test_a_leading_space_is_made_visible(token, shown):
    assert spaced(token) == shown


@pytest.mark.parametrize("width", [28, 30, 32, 34, 60, 80, 120, 160, 200])
def test_rows_are_as_wide_as_asked(session, graph, width):
    run(session, "continue")
    snapshots = [run(session, "run-to", "blocks.1.attn.mix"), run(session, "last"), run(graph, "2 continue")]
    for snapshot in snapshots:
        for height in (2, 7, 20):
            rows = leaf_rows(snapshot, height, width, PALETTE)
            assert len(rows) <= height
            assert {row_width(row) for row in rows} == {width}
    rows = next_token_rows("日本", [("日本語日本語日本", 0.5), ("\x1b[0m", 0.5)], None, width, PALETTE)
    assert {row_width(row) for row in rows} == {width}
