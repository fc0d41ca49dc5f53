"""The header row: the file and the position always, then as many facts as there is room for."""

from dataclasses import replace

import pytest

from glassllm.debug.commands import run
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.widgets.header import header_row

PALETTE = Palette()


def text(snapshot, width, activity="", name="tiny.npz") -> str:
    return "".join(segment.text for segment in header_row(name, snapshot, activity, width, PALETTE))


def test_forward_it_says_event_and_node(session):
    line = text(run(session, "28 next"), 160)
    assert line.startswith(" tiny.npz    Debug ")
    assert line.startswith(" tiny.npz    Debug   Train   Generate  ")
    facts = line.split("Generate")[1].split("   ")
    said = [fact.strip() for fact in facts if fact.strip()]
    assert said == [
        "forward 29/77", "node 67/175", f"loss {session.facts.loss:.4f}", "grad tracked", "f32", "12 tokens"
    ]  # fmt: skip


def test_in_a_traversal_it_says_which_and_counts_visits(session):
    run(session, "continue")
    assert "backward 2/77   visit 1/213" in text(run(session, "step"), 160)
    run(session, "last")
    assert "backward 77/77   visit 213/213" in text(session.snapshot(), 160)
    assert "backward #2 2/77   visit 1/213" in text(run(session, "backward"), 160)


def test_facts_leave_from_the_end_and_the_position_never(session):
    snapshot = run(session, "28 next")
    whole = ["forward 29/77", "node 67/175", "loss", "grad tracked", "f32", "12 tokens"]
    counts = []
    for width in range(60, 201):
        line = text(snapshot, width)
        shown = [fact in line for fact in whole]
        assert shown[0]
        assert shown == sorted(shown, reverse=True), line
        counts.append(sum(shown))
    assert counts[0] == 2
    assert counts[-1] == 6
    assert min(counts[100:]) == 6


@pytest.mark.parametrize(("loss", "words"), [(float("nan"), "loss NaN"), (float("inf"), "loss +Inf")])
def test_a_loss_that_is_no_number_is_named(session, loss, words):
    snapshot = run(session, "where")
    assert words in text(replace(snapshot, run=replace(snapshot.run, loss=loss)), 160)


def test_an_untracked_run_says_so(session):
    assert "grad not tracked" in text(run(session, "no_grad on"), 160)


def test_a_graph_without_events_counts_its_nodes(graph):
    line = text(run(graph, "2 step"), 160)
    assert "forward 3/5   node 3/5   loss −0.1608   grad tracked   f64" in line
    assert "tokens" not in line


def test_activity_stands_beside_the_position_and_alone_before_anything_is_open(session):
    assert "forward 1/77   train 3/10   node 1/175" in text(session.snapshot(), 160, "train 3/10")
    assert text(None, 60, "opening…").rstrip().endswith("opening…")


@pytest.mark.parametrize("name", ["tiny.npz", "日本語のモデル.npz", "a\x1b[31mb.npz", "n" * 300])
def test_rows_are_as_wide_as_asked(session, graph, name):
    snapshots = [None, session.snapshot(), run(session, "2 continue"), graph.snapshot()]
    for width in range(60, 201):
        for snapshot in snapshots:
            assert row_width(header_row(name, snapshot, "", width, PALETTE)) == width
            assert "\x1b" not in text(snapshot, width, name=name)
