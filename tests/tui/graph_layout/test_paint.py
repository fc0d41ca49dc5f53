"""The graph in the state of a snapshot: what each sign, weight and colour says, forward and on the way back."""

import pytest

from tests.tui.fake_tape import back_to, flat, forward_to, row_at, snapshot, transformer
from tui.draw.palette import Palette
from tui.graph_layout import AHEAD, DONE, LIT, PART
from tui.graph_layout.album import Album, Wish
from tui.graph_layout.captions import facts, legend
from tui.graph_layout.cells import GLYPHS, Cell
from tui.graph_layout.paint import Moment, Piece, composed, layered_rows, rails_rows

PALETTE = Palette()
TAPE = transformer()
ALBUM = Album(TAPE)
SOFTMAX = row_at(TAPE, "blocks.1.attn.softmax")


def moment(at, selection=None, view="layered"):
    picture = ALBUM.picture(Wish(view, frozenset(["blocks.1"]), 48))
    return picture, Moment(picture.graph, snapshot(TAPE, at, selection), PALETTE)


def drawn(at, selection=None, view="layered", width=50):
    picture, now = moment(at, selection, view)
    if view == "rails":
        return rails_rows(picture, now, 0, len(picture.graph.items), width)
    return layered_rows(picture, now, -5, 0, width, picture.height)


def text(row):
    return "".join(segment.text for segment in row)


def line(rows, word):
    return next(row for row in rows if word in text(row))


def style_of(row, word):
    return next(segment.style for segment in row if word in segment.text)


def edge_state(now, source, target):
    graph = now.graph
    names = {(graph.items[e.source].name, graph.items[e.target].name): i for i, e in enumerate(graph.edges)}
    return now.states[names[source, target]]


def test_forward_shows_what_was_read_what_has_passed_and_what_lies_ahead():
    _, now = moment(forward_to(TAPE, SOFTMAX))
    assert edge_state(now, "attn.mask", "attn.softmax") == LIT
    assert edge_state(now, "attn.q", "attn.rope_q") == DONE
    assert edge_state(now, "attn.v", "attn.mix") == AHEAD


def test_the_way_back_shows_what_was_carried_wholly_or_in_part():
    norm = row_at(TAPE, "blocks.1.norm.attn")
    div = norm - 2  # with a leaf between
    _, now = moment(back_to(TAPE, SOFTMAX))
    assert edge_state(now, "attn.softmax", "attn.mix") == LIT
    assert edge_state(now, "attn.mask", "attn.softmax") == AHEAD
    _, later = moment(back_to(TAPE, div))
    assert edge_state(later, "blocks.0", "norm.attn") == AHEAD
    _, last = moment(back_to(TAPE, div - 1))
    assert edge_state(last, "blocks.0", "norm.attn") == PART


def test_the_current_chip_is_solid_the_others_raised_and_what_is_not_recorded_faint():
    rows = drawn(forward_to(TAPE, SOFTMAX))
    assert style_of(line(rows, "softmax"), "softmax") == PALETTE.style("bg", "fwd", bold=True)
    assert style_of(line(rows, " mask "), "mask") == PALETTE.style("text", "raised")
    assert style_of(line(rows, "down"), "down") == PALETTE.style("faint", "raised")
    rows = drawn(back_to(TAPE, SOFTMAX))
    assert style_of(line(rows, "softmax"), "softmax") == PALETTE.style("bg", "bwd", bold=True)


def test_chips_say_on_the_way_back_how_far_their_gradient_is():
    rows = drawn(back_to(TAPE, SOFTMAX))
    assert " ▸ blocks.0 ×18 ◐ 1/4 ━" in text(rows[2])
    assert "mix ●" in text(line(rows, " mix ")) and "scores ○" in text(line(rows, "scores"))
    assert text(line(rows, "loss.grad")).strip() == "loss.grad –"
    assert not any(sign in text(row) for row in drawn(forward_to(TAPE, SOFTMAX)) for sign in "●○◐")


def test_the_fork_under_a_chip_is_heavy_where_it_has_carried():
    up = row_at(TAPE, "blocks.1.ffn.up")
    at = back_to(TAPE, up)
    after = type(at)(1, at.place + 1)  # up has sent, gate has not
    rows = [text(row) for row in drawn(after)]
    below = next(i for i, row in enumerate(rows) if "norm.ffn" in row) + 1
    assert rows[below].strip().startswith("╭──────┺━━━━━━┓")


def test_a_selection_elsewhere_is_marked_and_the_current_one_is_not():
    mask = row_at(TAPE, "blocks.1.attn.mask")
    rows = drawn(forward_to(TAPE, SOFTMAX), mask)
    assert "▷  mask" in text(line(rows, " mask "))
    assert not any("▷" in text(row) for row in drawn(forward_to(TAPE, SOFTMAX)))


@pytest.mark.parametrize("width", [20, 38, 50, 60])
@pytest.mark.parametrize("view", ["layered", "rails"])
def test_rows_are_as_wide_as_the_panel(view, width):
    for at in (forward_to(TAPE, SOFTMAX), back_to(TAPE, SOFTMAX)):
        assert all(len(text(row)) == width for row in drawn(at, view=view, width=width))


def test_a_line_of_the_rails_says_what_the_event_does():
    rows = drawn(forward_to(TAPE, SOFTMAX), view="rails")
    said = {text(row)[18:30].strip(): text(row)[31:46].strip() for row in rows}
    assert said["blocks.0"] == "×18 · 12×64" and said["embed"] == "E 1024×64"
    assert said["norm.attn"] == "γ 64" and said["attn.q"] == "W_Q 64×64"
    assert said["attn.scores"] == "q·kᵀ / √16" and said["attn.mask"] == "j > i → −∞"
    assert said["attn.softmax"] == "4×12×12" and said["ffn.act"] == "silu(gate) ⊙ up"
    row = line(rows, "attn.softmax")
    assert "▶" in text(row) and style_of(row, "attn.softmax") == PALETTE.style("bright", "select", bold=True)
    assert "□" in text(line(rows, "attn.mix")) and "■" in text(line(rows, "attn.mask"))


def test_narrow_rails_keep_lanes_names_and_gradients():
    row = text(line(drawn(back_to(TAPE, SOFTMAX), view="rails", width=38), "attn.softmax"))
    assert row.rstrip() == "    ┃  ┃  ◀       attn.softmax     ●"


def test_the_facts_name_neighbours_and_what_is_kept():
    _, now = moment(forward_to(TAPE, SOFTMAX))
    assert [text(row).rstrip() for row in facts(now, 50)] == [
        " fed by        attn.mask  4×12×12",
        " feeds into    attn.mix  1 consumer",
        " saves for ∂   its own output  2.3 kB",
    ]
    _, now = moment(forward_to(TAPE, SOFTMAX), row_at(TAPE, "blocks.1.attn.mix"))
    fed = [text(facts(now, width)[0]).rstrip() for width in (60, 38, 31)]
    assert fed == [
        " fed by        attn.softmax  4×12×12  attn.v  2×12×16",
        " fed by        attn.softmax  attn.v",
        " fed by        attn.softmax  …",
    ]


def test_the_legend_says_where_u_and_d_lead_then_what_signs_mean():
    _, now = moment(forward_to(TAPE, SOFTMAX))
    assert text(legend(now, 50)).strip() == "u attn.mask   d attn.mix"
    _, now = moment(back_to(TAPE, SOFTMAX))
    assert text(legend(now, 50)).strip() == "○ not reached  ◐ k of n  ● final  ━ carried"
    assert text(legend(now, 38)).strip() == "○ not reached  ◐ k of n  ● final"


def test_unrelated_lines_cross_under_the_upright_one_and_related_ones_join():
    assert Cell(0, (0,), (1,), (0,), (1,)).glyph([DONE, DONE]) == ("│", DONE)
    assert Cell(0, (0, 1), (1,), (0,), ()).glyph([DONE, LIT]) == ("┡", LIT)
    assert len(set(GLYPHS)) == 81


def test_words_are_laid_over_lines_and_cropped_at_both_ends():
    ground, over = PALETTE.style(), PALETTE.style("bright")
    row = composed([Piece(-2, "abcd", ground), Piece(1, "日本", over), Piece(8, "xyz", over)], 9, ground)
    assert text(row) == "c日本   x"


def test_a_scripts_chips_name_the_leaves_they_use():
    album = Album(flat([(), (0,), (0, 1)]))
    layout = album.picture(Wish("layered", frozenset(), 48))
    assert layout.labels == ("op0 input 1", "op1", "op2")


@pytest.mark.parametrize("colors", ["16", "none"])
def test_where_no_ground_is_painted_chips_have_brackets_and_the_current_one_is_reversed(colors):
    picture = ALBUM.picture(Wish("layered", frozenset(["blocks.1"]), 48))
    now = Moment(picture.graph, snapshot(TAPE, back_to(TAPE, SOFTMAX), None), Palette("dark", colors))
    rows = layered_rows(picture, now, -5, 0, 50, picture.height)
    assert "[mask ○]" in text(line(rows, "mask")) and "[mix ●]" in text(line(rows, "mix"))
    current = line(rows, "softmax")
    assert " softmax ● " in text(current) and "[softmax" not in text(current)
    assert style_of(current, "softmax").reverse and not style_of(line(rows, "mask"), "mask").reverse
    lit = next(segment for segment in line(rows, "━") if "━" in segment.text)
    assert (lit.style.color is not None) == (colors == "16")


def test_in_ascii_a_rule_is_spelled_before_it_is_cut():
    picture = ALBUM.picture(Wish("rails", frozenset(["blocks.1"]), 0))
    now = Moment(picture.graph, snapshot(TAPE, forward_to(TAPE, SOFTMAX), None), Palette(is_ascii=True))
    rows = rails_rows(picture, now, 0, len(picture.graph.items), 60)
    assert "j > i -> -inf" in text(line(rows, "attn.mask"))
