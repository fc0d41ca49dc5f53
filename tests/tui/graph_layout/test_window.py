"""What part of the picture is shown: a block stands still while one steps through it."""

import pytest

from tests.tui.fake_tape import flat, transformer
from tui.graph_layout.album import Album, Wish
from tui.graph_layout.window import Corner, beside, corner, entered, kept

TAPE = transformer()
ALBUM = Album(TAPE)


def open_block(view, layer=1, columns=48):
    return ALBUM.picture(Wish(view, frozenset([f"blocks.{layer}"]), columns))


def named(picture, name):
    return next(i for i, item in enumerate(picture.graph.items) if item.name == name)


@pytest.mark.parametrize(("view", "height"), [("layered", 32), ("rails", 21)])
def test_the_window_stays_while_stepping_inside_a_block(view, height):
    picture = open_block(view)
    inside = [i for i, item in enumerate(picture.graph.items) if item.group]
    corners = {corner(picture, i, Corner(3, 7), 50, height) for i in inside}
    assert len(corners) == 1
    first = named(picture, "blocks.0")
    assert corners.pop().top == (picture.chips[first][1] if view == "layered" else first)


def test_what_fits_is_shown_whole_with_its_axis_in_the_middle():
    layout = open_block("layered")
    at = corner(layout, 0, Corner(9, 9), 50, 100)
    assert at.top == 0 and layout.axis - at.left == 24


def test_a_window_lower_than_a_block_follows_inside_the_middle_third():
    layout, top = open_block("layered"), 0
    for i in range(len(layout.graph.items)):
        top = corner(layout, i, Corner(0, top), 50, 12).top
        assert 0 <= layout.chips[i][1] - top < 12


def test_a_picture_wider_than_the_window_is_panned_to_the_selection():
    album = Album(flat([(), *[(0,)] * 12, tuple(range(1, 13))]))
    layout = album.picture(Wish("layered", frozenset(), 30))
    assert layout.width > 30
    for i in range(len(layout.graph.items)):
        assert 0 <= layout.chips[i][0] - corner(layout, i, Corner(), 32, 9).left < 32


def test_kept_moves_no_farther_than_it_must():
    assert kept(100, 50, 40, 30) == 40
    assert kept(100, 50, 0, 30) == 31
    assert kept(100, 99, 0, 30) == 70
    assert kept(10, 9, 5, 30) == 0


def test_arrows_lead_to_the_nearest_chip():
    layout = open_block("layered")
    i = named(layout, "attn.k")
    names = {way: layout.graph.items[beside(layout, i, way)].name for way in ("up", "down", "left", "right")}
    assert names == {"up": "norm.attn", "down": "attn.rope_k", "left": "attn.q", "right": "attn.v"}
    assert beside(layout, 0, "up") == 0 and beside(layout, i + 1, "right") == i + 1
    drawn = open_block("rails")
    assert beside(drawn, 3, "down") == 4 and beside(drawn, 3, "right") == 3 and beside(drawn, 0, "up") == 0


def test_walking_down_enters_a_group_at_its_first_event_and_up_at_its_last():
    picture = open_block("layered")
    after, before = named(picture, "blocks.2–3"), named(picture, "blocks.0")
    paths = {event.row: event.path for event in TAPE.events}
    assert paths[entered(picture, after, "down")] == "blocks.2.norm.attn"
    assert paths[entered(picture, before, "up")] == "blocks.0.resid.ffn"


def test_ranks_are_offered_where_a_block_fits():
    assert ALBUM.layered_height(48) == 31
    assert Album(flat([(i - 1,) if i else () for i in range(10)])).layered_height(48) == 19
    assert Album(flat([(i - 1,) if i else () for i in range(1_000)])).layered_height(48) is None
