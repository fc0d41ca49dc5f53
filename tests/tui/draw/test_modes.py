"""Every drawing function in the modes without grounds and in ASCII, at the sizes that count: whole rows."""

from itertools import product

import numpy as np
import pytest

from tui.draw import curves
from tui.draw.palette import Palette
from tui.draw.plane import PanelState
from tui.draw.scale import Scale
from tui.draw.spelling import in_signs
from tui.draw.tensor_page import tensor_page
from tui.draw.text import row_width

NONE, ANSI, ASCII = Palette("dark", "none"), Palette("light", "16"), Palette("dark", "256", is_ascii=True)
BARE = Palette("dark", "none", is_ascii=True)
MODES = {"none": NONE, "16": ANSI, "ascii": ASCII, "bare": BARE}
SIZES = [(49, 18), (60, 14), (74, 37), (150, 45)]
SHAPES = [(), (5,), (1000,), (12, 12), (12, 64), (1024, 64), (4, 12, 12), (0, 3), (300, 2, 2)]
SIGNED = Scale("diverging", 1.0)
every_mode = pytest.mark.parametrize("palette", MODES.values(), ids=MODES)


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def text_of(rows):
    return ["".join(segment.text for segment in row) for row in rows]


@every_mode
@pytest.mark.parametrize("tab", ["value", "gradient", "contributions"])
def test_every_page_is_whole(snapshots, palette, tab):
    for size, shape in product(SIZES, SHAPES):
        gradient = normal(*shape)
        snapshot = snapshots(normal(*shape), gradient, edges=2, delivered=1, contributions=(gradient, None))
        page = tensor_page(snapshot, PanelState(tab=tab, cell=(1, 2)), *size, palette)
        assert [row_width(row) for row in page.rows] == [size[0]] * size[1], (size, shape)
        if palette.is_flat:
            assert all(segment.style.bgcolor is None for row in page.rows for segment in row)


@every_mode
def test_a_click_finds_the_cell_that_is_drawn_there(snapshots, palette):
    """Where small cells are pooled or stacked, one of those drawn together."""
    for shape, size in product([(12, 12), (12, 64), (4, 12, 16)], [(49, 18), (74, 37)]):
        page = tensor_page(snapshots(normal(*shape)), PanelState(cell=(0,) * len(shape)), *size, palette)
        spot = page.spots[0]
        for y, x in product(range(spot.fit.lines), range(spot.fit.width)):
            *_, row, column = page.cell_at(spot.x + x, spot.y + y)
            shown = spot.fit.place(row, column)
            assert spot.fit.line(shown[0]) <= y < spot.fit.line(shown[0]) + 2


def test_each_large_cell_has_its_number_and_the_factor_stands_below(snapshots):
    values = np.array([[0.093, -0.002], [0.0, -0.031]], np.float32)
    page = tensor_page(snapshots(values, axes=("query", "key")), PanelState(cell=(0, 0)), 74, 37, NONE)
    lines = [line.rstrip() for line in text_of(page.rows)]
    top = next(i for i, line in enumerate(lines) if "Once▸" in line)
    assert [line.split() for line in lines[top : top + 5]] == [
        ["Once▸+█+◂−"], ["+93", "−2"], ["upon", "·", "−░░"], ["−31"], ["×10⁻³"],
    ]  # fmt: skip


def test_thumbnails_keep_their_shape_where_cells_cannot_be_stacked(snapshots):
    tinted, flat = (
        tensor_page(snapshots(normal(4, 12, 12)), PanelState(cell=(0, 0, 0)), 74, 37, palette)
        for palette in (Palette(), NONE)
    )
    assert [(s.x, s.y, s.fit.width, s.fit.lines) for s in tinted.spots[1:]] == [
        (s.x, s.y, s.fit.width, s.fit.lines) for s in flat.spots[1:]
    ]


@pytest.mark.parametrize(
    ("palette", "ramp", "shares"),
    [(NONE, "█▓▓▒▒░    ░▒▒▓▓█", "▓▓▓▓░░░░████████"), (BARE, "#**==:    :==**#", "****::::########")],
    ids=["none", "bare"],
)
def test_ramp_and_shares_are_told_by_shades(palette, ramp, shares):
    drawn = text_of([curves.ramp_row(SIGNED, palette), curves.share_row(1, 1, 2, palette)])
    drawn = [in_signs(row) for row in drawn] if palette.is_ascii else drawn
    assert drawn == [ramp, shares]


def test_the_negative_half_of_a_legend_is_lined_without_colour_and_coloured_with_16():
    for palette, is_lined in ((NONE, [True] * 8 + [None] * 8), (ANSI, [None] * 16)):
        row = curves.ramp_row(SIGNED, palette)
        assert [segment.style.underline for segment in row] == is_lined
    assert {segment.style.color.name for segment in curves.ramp_row(SIGNED, ANSI)} == {"cyan", "yellow"}


def test_nan_and_inf_are_reversed_signs(snapshots):
    array = np.full((2, 2), np.nan)
    array[0, 0] = np.inf
    for palette, signs in ((NONE, {"▲", "×"}), (BARE, {"^", "N"})):
        page = tensor_page(snapshots(array), PanelState(cell=(1, 1)), 74, 37, palette)
        solid = {s.text.strip() for row in page.rows for s in row if s.style.reverse}
        assert signs <= solid
