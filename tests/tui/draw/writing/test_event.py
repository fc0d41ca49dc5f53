"""A token's events on the board: numbers are those of the moment, and nothing shows before it is computed."""

import re

import numpy as np
import pytest

from glassllm import Config, GlassLM
from glassllm.generation import Writer
from tests.tui.draw import boards
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import cut, row_width
from tui.draw.writing import page, timeline
from tui.draw.writing.choice import Choice, marked, name
from tui.draw.writing.event import event_pane
from tui.draw.writing.plane import axes_words, part_of, wrapped
from tui.draw.writing.rule import rule
from tui.draw.writing.spots import Spot, spot_at
from tui.draw.writing.worked import SUMS, WORKED, worked


@pytest.fixture(scope="module")
def played(tiny):
    """The views at all events of the first token, and at those of one behind it."""
    writer = Writer(tiny)
    return {count: views(writer, count) for count in (0, 5)}


def views(writer, count):
    writer.leave_events()
    writer.next(count)
    found = []
    for event in range(1, 78):
        writer.go_to_event(event)
        found.append(writer.view())
    return found


@pytest.mark.parametrize("palette", boards.PALETTES, ids=boards.name)
@pytest.mark.parametrize("size", boards.SIZES)
def test_all_rows_fill_the_board_at_every_event(played, size, palette):
    width, height = size
    for view in [view for each in played.values() for view in each][::5]:
        for choice in (Choice(), Choice(2, 7, 1, True)):
            rows = page.board(view, choice, width, height, palette)
            assert [row_width(row) for row in rows] == [width] * height
            assert row_width(timeline.track(view, "playing", 4, width, palette)) == width
            assert [row_width(row) for row in rule(view, choice, width, 2, palette)] == [width] * 2


@pytest.mark.parametrize("width", [64, 34])
def test_the_event_is_named_with_its_rule_its_shape_and_its_numbers(played, width):
    for view in played[5][:75]:
        moment = view.moment
        pane = boards.text(event_pane(view, Choice(), width, 21, Palette()).rows())
        assert moment.scope.removeprefix("blocks.") in pane and moment.equation[:30] in pane
        assert numbers.shape(moment.shape) in pane.splitlines()[0]
        assert " ".join(re.split(r"\s+", pane)).find(moment.meaning) > 0
        assert f"max {numbers.stat(float(moment.value.max()))}" in pane
        assert cut(axes_words(moment), width - 2) in pane or re.search(" in a cell|[0-9] to [0-9]", pane)


def test_all_values_are_written_where_they_fit_else_the_largest(played):
    softmax = played[5][9]
    row = softmax.moment.value[1, -1]
    pane = boards.text(event_pane(softmax, Choice(head=1), 64, 22, Palette()).rows())
    texts, _ = numbers.row_numbers(row)
    assert "head 2 of 4 " in pane
    assert all(written in pane for written in texts)
    act = played[5][16]
    pane = boards.text(event_pane(act, Choice(), 64, 21, Palette()).rows())
    largest = int(np.abs(act.moment.value[0]).argmax())
    assert "largest" in pane and re.search(rf" {largest} +[+−]\d", pane)


def test_a_value_is_looked_at_where_it_chooses_the_token(played):
    """With one position that ran: all heads, or its row; with a whole prompt one head of all positions."""
    for count, rows in ((0, len(played[0][0].tokens)), (5, 1)):
        for view in played[count][:75]:
            value, part = view.moment.value, part_of(view, Choice(head=3), view.moment, 50)
            last = value[-1] if value.ndim == 2 else value[len(value) - 1, -1]
            assert np.array_equal(part.values, last)
            assert len(part.rows) >= len(part.plane.values) or part.chosen is None
            if value.ndim == 3:
                assert len(part.plane.values) == (rows if rows > 1 else len(value))
    assert wrapped(np.arange(10), 8).values.shape == (2, 8)
    assert wrapped(np.arange(10), 8).outside[1].tolist() == [False] * 2 + [True] * 6


def test_nothing_shows_before_it_is_computed(played):
    whole = played[5][76]
    likeliest = name(whole, int(whole.candidates.order[0]))
    for view in played[5]:
        board = boards.text(page.board(view, Choice(), 160, 37, Palette()))
        steps = [moment.step for moment in view.moments[: view.event]]
        assert ("candidates come with probs, event 76 of 77" in board) == ("probs" not in steps)
        assert ("1\u2009024 candidates" in board) == ("probs" in steps)
        assert ("falls in [" in board) == ("sample" in steps)
        assert board.count("□ read off resid.ffn") == 4 - steps.count("resid.ffn")
        assert board.count(" ·" * 16) >= 4 * (4 - steps.count("attn.softmax"))
        assert ("□ " in board.splitlines()[4]) == (steps[-1] != "sample") or likeliest in board.splitlines()[4]


def test_the_mark_is_on_the_likeliest_until_one_is_drawn(played):
    probs, sample = played[0][75:77]
    assert marked(probs, Choice()).rank == 1 and marked(sample, Choice()).token == sample.upcoming
    assert marked(probs, Choice(rank=3)).rank == 4 and marked(played[0][74], Choice(rank=3)) is None


@pytest.mark.parametrize("count", [0, 5])
def test_a_cell_worked_out_is_the_cell(played, count):
    """The terms on the screen make the value on the screen, which is that of the event."""
    seen = set()
    functions = {"exp": np.exp, "silu": lambda x: x / (1 + np.exp(-x)), "sqrt": np.sqrt}
    for view in played[count][:75]:
        moment = view.moment
        if moment.step in WORKED:
            place, terms, value = WORKED[moment.step](view, Choice(head=2), moment)
            terms = terms.replace("−", "-").replace("·", "*").replace("√", "sqrt")
            terms = re.sub(r"sqrt(\d+)", r"sqrt(\1)", terms)
            assert value in moment.value.astype(float)
            assert eval(terms, functions) == pytest.approx(value, abs=2e-3, rel=2e-3), (place, terms)
            seen.add(moment.step)
        else:
            said = "".join(span.text for span in worked(view, Choice(), moment))
            assert said and ("is a sum of " in said) == (moment.step in SUMS)
            if moment.step in ("ffn.down", "attn.mix", "logits"):
                assert f"{view.moments[view.event - 2].shape[-1]} products" in said
    assert seen == set(WORKED)


@pytest.mark.parametrize("width", [160, 120, 80])
def test_the_track_has_the_events_of_the_token_and_where_each_block_begins(played, width):
    for view in played[5]:
        row = boards.text([timeline.track(view, "paused", 4, width, Palette())])
        assert row.count("▶") == 1 and "events/s" in row
    if width > 100:
        at = [boards.text([timeline.track(view, "paused", 4, width, Palette())]).index("▶") for view in played[5]]
        assert at == list(range(at[0], at[0] + 77))
    row = boards.text([timeline.track(played[5][75], "paused", 4, width, Palette())])
    assert re.findall(r" (\d) ", row)[:4] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("size", boards.SIZES)
def test_what_is_pointed_at_is_what_is_written_there(played, size):
    width, height = size
    view = played[5][76]
    for choice in (Choice(), Choice(tab=1)):
        panes = page.panes(view, choice, width, height, Palette())
        rows = boards.text(page.board(view, choice, width, height, Palette())).splitlines()
        for left, top, pane in panes:
            for spot in pane.spots:
                assert spot_at(panes, left + spot.x, top + spot.y) == spot
                shown = rows[top + spot.y][left + spot.x : left + spot.x + spot.width]
                assert expected(view, spot) in shown
        assert spot_at(panes, 0, 0) is None


def expected(view, spot: Spot):
    if spot.what == "head":
        return str(spot.number % view.heads + 1)
    if spot.what == "candidate":
        return name(view, spot.number)[:8]
    return (view.tokens[spot.number] if spot.number < len(view.tokens) else view.vocabulary[view.upcoming]).strip()


def test_a_forward_that_goes_wrong_can_be_played_to_where_it_does():
    model = GlassLM(Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8))
    model.blocks[0].ffn.W2.data[:] = np.nan
    with np.errstate(all="ignore"):
        writer = Writer(model, [1, 2])
        seen = {}
        for event in range(1, len(writer.scopes()) + 1):
            writer.go_to_event(event)
            view = writer.view()
            for width, height in boards.SIZES:
                rows = page.board(view, Choice(), width, height, Palette())
                assert [row_width(row) for row in rows] == [width] * height
            seen[view.moment.step] = boards.text(page.board(view, Choice(), 160, 37, Palette()))
    assert "NaN" not in seen["ffn.act"] and "× 8 NaN" in seen["ffn.down"]
    assert "hold NaN or Inf" in seen["logits"]
