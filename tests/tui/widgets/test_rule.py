"""The rule rows: the formula in the direction of time, and the same with the cell's numbers."""

import re

import numpy as np
import pytest

from glassllm.debug.commands import run
from glassllm.debug.snapshot import Axis
from tui.draw import numbers
from tui.draw.formats import USUAL, parse
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.widgets.rule import brief, cell_words, rule_rows, shortened

PALETTE = Palette()


def lines(snapshot, cell, count=2, split=90, width=160, how=USUAL):
    rows = rule_rows(snapshot, cell, split, width, count, PALETTE, how)
    return ["".join(segment.text for segment in row).rstrip() for row in rows]


def test_forward_the_rule_stands_left_and_the_way_back_right(session):
    snapshot = run(session, "run-to", "blocks.1.attn.softmax")
    top, worked = lines(snapshot, (1, 8, 7))
    assert top.startswith(" softmax over ")
    assert "wᵢⱼ = exp(sᵢⱼ) / Σₖ exp(sᵢₖ)" in top[:90]
    assert top[90:].startswith("backward  ∂L/∂s")
    value = float(snapshot.focus.value[1, 8, 7])
    assert worked.startswith(" [1,8,7]  fox → small")
    assert re.search(r"= exp\(.*\) / .* = \+0\.\d{4}", worked[:90])
    assert f"= +{value:.4f}" in worked
    assert re.search(r"rank \d+ of 9", worked)
    assert worked[90:].split() == ["not", "reached", "○"]


def test_backward_they_change_places_and_the_value_is_still_said(session):
    run(session, "continue")
    snapshot = run(session, "run-to", "blocks.1.attn.softmax")
    top, worked = lines(snapshot, (1, 8, 7))
    assert "∂L/∂s" in top[:90]
    assert top[90:].startswith("forward   wᵢⱼ")
    gradient, value = worked[90:].split("value ")
    assert gradient.startswith(("          gradient +", "          gradient −"))
    assert value == f"+{snapshot.focus.value[1, 8, 7]:.4f}"
    assert "rank" not in worked


def test_formula_and_numbers_begin_in_the_same_column(session):
    snapshot = run(session, "run-to", "blocks.1.attn.softmax")
    top, worked = lines(snapshot, (1, 8, 7))
    assert top.index("wᵢⱼ =") == worked.index("= exp(") >= 23


def test_numbers_that_need_more_room_leave_the_others_the_end_of_the_row(session):
    run(session, "2 continue")
    snapshot = run(session, "run-back-to", "logits")
    for width, is_there in ((160, True), (118, False)):
        worked = lines(snapshot, (7, 62), 2, 80, width)[1]
        assert len(worked) <= width
        assert (f"value −{abs(snapshot.focus.value[7, 62]):.4f}" in worked) is is_there


def test_what_is_partial_or_not_reached_says_so_in_words(session):
    run(session, "continue")
    snapshot = run(session, "run-to", "blocks.3.ffn.down")
    partial = run(session, "select", "blocks.3.resid.attn")
    assert partial.focus.state.delivered < partial.focus.state.edges
    assert "so far" in lines(partial, (11, 0))[1]
    waiting = run(session, "select", "blocks.1.resid.attn")
    assert "not reached: no number here yet" in lines(waiting, (11, 0))[1]
    assert snapshot.position == waiting.position


def test_in_one_row_the_name_the_rule_and_the_numbers(session):
    snapshot = run(session, "run-to", "blocks.1.attn.softmax")
    (line,) = lines(snapshot, (1, 8, 7), 1, 31, 80)
    assert line.startswith(" softmax  wᵢⱼ = exp(sᵢⱼ) / Σₖ exp(sᵢₖ)  = exp(")


def test_a_scalar_has_numbers_and_no_coordinates(session):
    top, worked = lines(run(session, "run-to", "loss"), None)
    assert top.startswith(" cross_entropy")
    assert worked.startswith(" a scalar  ")
    assert f"= +{session.facts.loss:.4f}" in worked


def test_without_a_cell_there_is_only_the_rule(session):
    top, worked = lines(session.snapshot(), None)
    assert top.startswith(" embedding")
    assert worked == ""


@pytest.mark.parametrize(
    ("axes", "cell", "words"),
    [
        ((Axis("query", ("Once", " fox")), Axis("key", ("Once", " small"))), (1, 1), "fox → small"),
        ((Axis("head"), Axis("query", ("a", " b")), Axis("key", ("c", "d"))), (0, 1, 0), "b → c"),
        ((Axis("token", ("a", " b")), Axis("channel")), (1, 17), "b, channel 17"),
        ((Axis("row"), Axis("column")), (3, 4), "row 3, column 4"),
        ((Axis("axis 0"), Axis("axis 1")), (3, 4), ""),
        ((Axis("token", ("a", " b")), Axis("axis 1")), (1, 4), "b"),
        ((Axis("head"), Axis("token", ("a", " b")), Axis("channel")), (0, 1, 9), "b"),
        ((Axis("token", (" ", "b")),), (0,), " "),
        ((), (), ""),
    ],
)
def test_a_cell_in_words(session, axes, cell, words):
    focus = session.snapshot().focus
    assert (
        cell_words(type(focus)(**{f: getattr(focus, f) for f in focus.__slots__} | {"axes": axes}), cell) == words
    )


def test_rows_are_as_wide_as_asked_at_every_place(session, graph):
    for where in ("embed", "blocks.1.attn.rope_q", "blocks.1.attn.softmax", "logits", "loss", "E"):
        for phase in ("first", "last"):
            if phase == "last" and not session.tape.traversals:
                run(session, "2 continue")
            run(session, phase)
            snapshot = run(session, "select", where)
            cell = tuple(np.array(snapshot.focus.value.shape) - 1)
            for width in range(60, 201, 7):
                for count, split in ((1, 31), (2, width // 2), (2, 10)):
                    rows = rule_rows(snapshot, cell or None, split, width, count, PALETTE)
                    assert [row_width(row) for row in rows] == [width] * count
    for command in ("first", "2 continue"):
        assert row_width(rule_rows(run(graph, command), None, 40, 80, 2, PALETTE)[0]) == 80


@pytest.mark.parametrize("how", ["digits 7", "scientific 3", "hex"])
def test_numbers_and_value_are_in_the_form_asked_for(session, how):
    how = parse(how)
    run(session, "continue")
    snapshot = run(session, "run-to", "blocks.1.attn.softmax")
    focus, cell = snapshot.focus, (1, 8, 7)
    here, there = lines(snapshot, cell, 2, 90, 260, how)[1], lines(snapshot, cell, 2, 90, 260)[1]
    weight = numbers.formatted(focus.value[cell], how)
    assert f"= {weight} × ({numbers.formatted(focus.gradient[cell], how)} − " in here
    assert here.endswith(f"value {weight}") and weight not in there
    assert len(re.findall(r"0x[0-9a-f]{16}\b", here)) == 2 * (how.kind == "hex")  # the sum and what is sent


def test_numbers_too_long_for_the_row_leave_out_how_they_are_reached(session):
    snapshot = run(session, "run-to", "blocks.1.attn.softmax")
    cell, how = (1, 8, 7), parse("digits 17")
    value = numbers.formatted(snapshot.focus.value[cell], how)
    assert f"= … = {value}" in lines(snapshot, cell, 2, 40, 80, how)[1]
    assert re.search(rf"= exp\(.*\) / .* = {re.escape(value)}", lines(snapshot, cell, 2, 90, 160, how)[1])


@pytest.mark.parametrize(
    ("worked", "short"),
    [
        ("= +1.0 × +2.0 = +2.0", "= … = +2.0"),
        ("a gets +1.0 × +2.0 = +2.0   b gets +1.0 × +3.0 = +3.0", "a gets … = +2.0   b gets … = +3.0"),
        ("∂L/∂a[0,1] += +1.0 × +2.0 = +2.0", "∂L/∂a[0,1] += … = +2.0"),
        ("a sum of no terms sends nothing", "a sum of no terms sends nothing"),
    ],
)
def test_what_is_left_out(worked, short):
    assert shortened(worked, len(worked)) == worked
    assert shortened(worked, len(worked) - 1) == short


WORKED = "= exp(1.0000) / 2.0000 = +1.3591"
TWO = "a gets +1 × +2 = +2   b gets +1 × +3 = +3"


@pytest.mark.parametrize(
    ("worked", "room", "said"),
    [
        (WORKED, 40, WORKED),
        (WORKED, 31, "= … = +1.3591"),
        (WORKED, 12, "= +1.3591"),
        (WORKED, 8, ""),
        (TWO, 40, "a gets … = +2   b gets … = +3"),
        (TWO, 25, ""),  # one of two alone would be taken for the other
    ],
)
def test_one_row_has_whole_numbers_or_none(worked, room, said):
    assert brief(worked, room) == said


def test_no_number_is_cut_in_one_row(session):
    for place in ("logits", "blocks.1.attn.softmax", "blocks.0.norm.attn", "blocks.2.ffn.act"):
        snapshot = run(session, "select", place)
        cell = tuple(0 for _ in snapshot.focus.value.shape)
        for width in range(40, 161, 7):
            (row,) = lines(snapshot, cell, count=1, width=width)
            assert not row.endswith("…") or "=" not in row.rpartition("  ")[2]
