"""The tensor panel at every size and for every kind of tensor: whole rows, the right numbers, the right words."""

from dataclasses import replace

import numpy as np
import pytest

from glassllm.debug.health import health_of
from tests.tui.draw.pages import normal, text_of
from tui.draw import numbers
from tui.draw import scale as codes_of
from tui.draw.palette import Palette
from tui.draw.plane import PanelState
from tui.draw.tensor_page import tensor_page
from tui.draw.tensor_words import health_lines
from tui.draw.text import row_width

PALETTE = Palette()
SIZES = [(30, 8), (48, 28), (49, 18), (60, 14), (70, 18), (74, 37), (110, 30), (120, 20), (150, 45)]
SHAPES = [(), (5,), (64,), (1000,), (12, 12), (12, 64), (12, 1024), (1024, 64), (4, 12, 12), (4, 12, 16)]
SHAPES += [(2, 3, 4, 5), (0, 3), (3, 0), (0,), (1, 1), (300, 2, 2)]
HEADS = ("head", "query", "key")


def causal(heads=4, n=12):
    """Attention weights: rows sum to 1, exactly 0 above the diagonal."""
    scores = np.where(np.tri(n, dtype=bool), normal(heads, n, n), -np.inf)
    weights = np.exp(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("tab", ["value", "gradient", "contributions"])
def test_every_row_is_whole(snapshots, size, shape, tab):
    gradient = normal(*shape)
    snapshot = snapshots(normal(*shape), gradient, edges=2, delivered=1, contributions=(gradient, None))
    page = tensor_page(snapshot, PanelState(tab=tab, cell=(1, 2)), *size, PALETTE)
    assert [row_width(row) for row in page.rows] == [size[0]] * size[1]


@pytest.mark.parametrize("size", [(48, 18), (74, 37), (120, 36)], ids=str)
@pytest.mark.parametrize("value", [np.zeros((0, 3), np.float32), np.full((2, 3), np.nan, np.float32)], ids=repr)
def test_where_there_are_no_numbers_there_are_no_moments(snapshots, size, value):
    snapshot = replace(snapshots(value), value_health=health_of(value))
    words = text_of(tensor_page(snapshot, PanelState(), *size, PALETTE)).split()
    for name in ("min", "mean", "max", "std"):
        assert words[words.index(name) + 1] == "–"


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize(
    "value",
    [
        np.full((12, 12), np.nan),
        np.full((3, 12, 12), np.inf),
        np.full((12, 64), -2.5),
        np.zeros((4, 4)),
        np.arange(12).reshape(3, 4),
        np.array([[True, False]]),
        np.array(np.nan),
        np.full((4, 4), 1e-320),
        np.full((4, 4), 1e308),
    ],
    ids=["nan", "inf", "constant", "zero", "integers", "truth", "scalar", "subnormal", "huge"],
)
def test_odd_values_are_drawn_too(snapshots, size, value):
    page = tensor_page(snapshots(value), PanelState(), *size, PALETTE)
    assert [row_width(row) for row in page.rows] == [size[0]] * size[1]


@pytest.mark.parametrize("colors", ["truecolor", "256"])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_text_is_the_same_on_every_ground(snapshots, theme, colors):
    palette = Palette(theme, colors)
    snapshot = snapshots(causal(), axes=HEADS)
    page = tensor_page(snapshot, PanelState(cell=(1, 8, 7)), 74, 37, palette)
    plain = tensor_page(snapshot, PanelState(cell=(1, 8, 7)), 74, 37, PALETTE)
    lines, expected = text_of(page).splitlines(), text_of(plain).splitlines()
    assert [line[:58] for line in lines[:34]] == [line[:58] for line in expected[:34]]  # thumbnails: ▀ by level


def test_a_wide_page_says_what_the_picture_says(snapshots):
    weights = causal()
    snapshot = snapshots(weights, axes=HEADS)
    page = tensor_page(snapshot, PanelState(cell=(1, 8, 7), focused=True), 74, 37, PALETTE)
    lines = [line.rstrip() for line in text_of(page).splitlines()]
    assert lines[0] == "▌blocks.1 · attn.softmax" + " " * 37 + "node 146/402"
    assert lines[1] == " value   gradient ○   contributions"
    assert lines[3].startswith(" 4×12×12 f32   min 0  mean .0833  max 1  std .")
    assert lines[4][17:] == "  − 0%  0 46%  + 54%   NaN 0  Inf 0"
    assert lines[5] == " head ‹2/4›   rows query   cols key   scale all heads"
    assert lines[7].startswith("        Once    a       there   a       fox     Pip")
    assert lines[8].startswith("            upon    time    was     small   named   .")
    assert lines[25].startswith("    fox▸")
    row = lines[33].split()
    assert row[0] == "fox"
    assert row[8] == f"{weights[1, 8, 7]:.2f}".removeprefix("0")
    assert row[10:13] == ["·", "·", "·"]


def test_a_narrow_page_has_statistics_beside_and_reads_out_the_cell(snapshots):
    weights = causal()
    page = tensor_page(snapshots(weights, axes=HEADS), PanelState(cell=(1, 8, 7)), 49, 18, PALETTE)
    lines = [line.rstrip() for line in text_of(page).splitlines()]
    assert lines[3] == " head ‹2/4›  key ·small         4×12×12      f32"
    assert lines[5].endswith("mean       .0833")
    assert lines[12][:7] == "   fox▸"
    assert lines[12][21:23] == "[]"
    order = 1 + int((weights[1, 8, :9] > weights[1, 8, 7]).sum())
    assert lines[17] == f" [8,7] fox → small  {weights[1, 8, 7]:+.4f}   rank {order} of 9"


def test_a_taller_narrow_page_has_the_other_slices_below(snapshots):
    page = tensor_page(snapshots(causal(), axes=HEADS), PanelState(cell=(1, 8, 7)), 48, 28, PALETTE)
    assert [spot.cell[0] for spot in page.spots if spot.cell] == [0, 2, 3]
    assert "▾" in text_of(page).splitlines()[5]


def test_value_and_gradient_stand_side_by_side_where_both_fit(snapshots):
    snapshot = snapshots(causal(), normal(4, 12, 12), HEADS, backward=True)
    page = tensor_page(snapshot, PanelState(cell=(1, 8, 7)), 150, 45, PALETTE)
    assert [name for name, _ in page.codes] == ["value", "gradient"]
    assert text_of(page).count("fox▸") == 2
    assert text_of(page).count("head ‹2/4›") == 2


@pytest.mark.parametrize(
    ("changes", "tab", "words"),
    [
        ({"recorded": False}, "value", "□ not reached: no number here yet"),
        ({}, "gradient", "○ not reached: no number here yet"),
        ({"takes": False}, "gradient", "– takes no gradient"),
        ({"counted": False}, "value", "counting…"),
    ],
)
@pytest.mark.parametrize("size", [(74, 37), (49, 18)])
def test_what_is_not_there_is_said_and_never_a_number(snapshots, changes, tab, words, size):
    page = tensor_page(snapshots(causal(), axes=HEADS, **changes), PanelState(tab=tab), *size, PALETTE)
    assert words in text_of(page)
    if "counted" not in changes:
        assert not page.codes
        assert ".0833" not in text_of(page)


def test_a_partial_gradient_says_so(snapshots):
    axes = ("query", "key")
    snapshot = snapshots(normal(12, 12), normal(12, 12), axes, edges=3, delivered=1, backward=True)
    for size, said in (((74, 37), "1 of 3 so far, not final"), ((49, 18), "+0.1257   1 of 3 so far")):
        text = text_of(tensor_page(snapshot, PanelState(tab="gradient"), *size, PALETTE))
        assert "gradient ◐ 1/3" in text
        assert said in text


def test_faults_and_masks_are_in_codes_and_words(snapshots):
    value = normal(4, 12, 12)
    value[1, 2, 3], value[1, 4, 5], value[1, 0, 1] = np.nan, np.inf, -np.inf
    masked = np.zeros(value.shape, bool)
    masked[1, 0, 1] = True
    page = tensor_page(snapshots(value, masked=masked, axes=HEADS), PanelState(cell=(1, 0, 0)), 74, 37, PALETTE)
    code = dict(page.codes)["value"].code
    top = 63
    assert (code[2, 3], code[4, 5], code[0, 1]) == (
        top + codes_of.NAN,
        top + codes_of.PLUS_INF,
        top + codes_of.MASKED,
    )
    text = text_of(page)
    assert " NaN 1 " in text and " Inf 1 " in text
    assert "masked 1" in text
    rows = text.splitlines()
    assert (rows[9 + 2 * 2][8 + 4 * 3 + 1], rows[9 + 2 * 4][8 + 4 * 5 + 1], rows[9][8 + 4 + 1]) == ("×", "▲", "·")


def test_the_scale_is_the_tensors_or_the_slices(snapshots):
    value = normal(4, 12, 12)
    value[0] *= 100
    shared = tensor_page(snapshots(value, axes=HEADS), PanelState(cell=(1, 0, 0)), 74, 37, PALETTE)
    own = tensor_page(snapshots(value, axes=HEADS), PanelState(cell=(1, 0, 0), scale="slice"), 74, 37, PALETTE)
    assert "scale all heads" in text_of(shared) and "scale this head" in text_of(own)
    assert np.ptp(dict(own.codes)["value"].code) > 3 * np.ptp(dict(shared.codes)["value"].code)


def test_a_scale_is_kept_while_data_stay_in_it(snapshots):
    gradient = normal(12, 12)
    first = tensor_page(snapshots(gradient, gradient), PanelState(tab="gradient"), 74, 37, PALETTE)
    kept = PanelState(tab="gradient", kept=first.scales)
    smaller = tensor_page(snapshots(gradient, gradient / 2), kept, 74, 37, PALETTE)
    larger = tensor_page(snapshots(gradient, gradient * 2), kept, 74, 37, PALETTE)
    assert smaller.scales == first.scales
    assert larger.scales != first.scales


@pytest.mark.parametrize("size", [(74, 37), (49, 18), (150, 45)])
@pytest.mark.parametrize("shape", [(12, 12), (4, 12, 12), (12, 64), (64,)], ids=str)
def test_a_click_on_the_cursor_is_the_cursor(snapshots, size, shape):
    state = PanelState(cell=tuple(min(7, n - 1) for n in shape))
    page = tensor_page(snapshots(normal(*shape)), state, *size, PALETTE)
    hits = {page.cell_at(x, y) for y in range(size[1]) for x in range(size[0])}
    assert page.cell in hits
    assert len(hits) > 12


def test_thumbnails_choose_slices_and_tabs_can_be_hit(snapshots):
    page = tensor_page(snapshots(causal(), axes=HEADS), PanelState(cell=(1, 8, 7)), 74, 37, PALETTE)
    hits = {page.cell_at(x, y) for y in range(37) for x in range(60, 74)}
    assert {(head, 8, 7) for head in range(4)} <= hits
    assert [page.tab_at(x, 1) for x in (2, 10, 25, 60)] == ["value", "gradient", "contributions", None]


@pytest.mark.parametrize(("shape", "most"), [((4, 12, 12), 8), ((12, 64), 9)])
@pytest.mark.parametrize("size", [(74, 37), (49, 18)])
def test_a_cursor_move_changes_few_rows(snapshots, shape, most, size):
    snapshot = snapshots(normal(*shape), axes=HEADS[-len(shape) :])
    state = PanelState(cell=(1, 5, 3)[-len(shape) :])
    before = tensor_page(snapshot, state, *size, PALETTE)
    for cell in ((1, 5, 4), (1, 6, 3)):
        after = tensor_page(snapshot, replace(state, cell=cell[-len(shape) :]), *size, PALETTE)
        changed = sum(a != b for a, b in zip(before.rows, after.rows, strict=True))
        assert 0 < changed <= most


def test_axes_can_be_chosen(snapshots):
    value = np.arange(24).reshape(2, 3, 4)
    page = tensor_page(snapshots(value), PanelState(cell=(1, 2, 3), axes=(2, 0)), 74, 37, PALETTE)
    assert page.plane.values.shape == (4, 2)
    assert "axis 1 ‹3/3›" in text_of(page)
    assert "rows axis 2   cols axis 0" in text_of(page)


def test_pooling_is_said_and_numbers_around_the_cursor_are_written(snapshots):
    value = normal(12, 1024)
    value[8, 500] = 9.0
    page = tensor_page(snapshots(value, axes=("token", "vocabulary")), PanelState(cell=(8, 500)), 74, 37, PALETTE)
    assert "16 entries a cell, largest |x|" in text_of(page)
    assert "▴ 500" in text_of(page)
    assert "+900" in text_of(page) and "×10⁻²" in text_of(page)


def test_a_scalar_is_written_in_full(snapshots):
    text = text_of(tensor_page(snapshots(np.float32(2.3183742)), PanelState(), 74, 37, PALETTE))
    assert "2.3183742" in text


def test_names_from_a_file_reach_the_terminal_clean(snapshots):
    snapshot = snapshots(normal(3, 3))
    snapshot = replace(snapshot, focus=replace(snapshot.focus, title="W\x1b[2J\x07"))
    text = text_of(tensor_page(snapshot, PanelState(), 49, 18, PALETTE))
    assert "\x1b" not in text and "\x07" not in text


def test_contributions_name_senders_norms_shares_and_the_cell(snapshots):
    skip, branch = np.full((12, 64), 3.0), np.full((12, 64), 1.0)
    snapshot = snapshots(
        normal(12, 64), skip + branch, ("token", "channel"), edges=3, contributions=(skip, branch, None),
        delivered=2, backward=True,
    )  # fmt: skip
    page = tensor_page(snapshot, PanelState(tab="contributions", cell=(8, 17)), 74, 37, PALETTE)
    lines = [line.rstrip() for line in text_of(page).splitlines()]
    assert "waits for 1 of 3 contributions; the sum is not final" in lines[3]
    assert lines[6].split()[:5] == ["●", "norm.ffn", "op0", "through", "way"]
    assert "75%" in lines[6] and lines[6].endswith(" 3")
    assert "25%" in lines[7] and lines[7].endswith(" 1")
    assert lines[8].startswith(" ○") and lines[8].endswith("not reached")
    assert any("sum so far ◐ 2/3" in line and line.endswith("not final") for line in lines)
    assert [name for name, _ in page.codes][-1] == "sum so far"


def test_narrow_contributions_put_the_value_beside_the_map(snapshots):
    first = normal(12, 64)
    snapshot = snapshots(
        normal(12, 64),
        first,
        ("token", "channel"),
        edges=2,
        contributions=(first, None),
        delivered=1,
        backward=True,
    )
    page = tensor_page(snapshot, PanelState(tab="contributions", cell=(8, 17)), 49, 18, PALETTE)
    lines = [line.rstrip() for line in text_of(page).splitlines()]
    assert lines[2].startswith(" ● norm.ffn op0  through way 0") and "‖g‖ 2" in lines[2]
    cursor = next(line for line in lines if "fox▸" in line)
    assert cursor.split()[-1] == numbers.stat(first[8, 17], 2)
    assert any(line.startswith(" ○ norm.ffn op1") for line in lines)
    assert any(line.startswith(" ◐ sum so far  1 of 2, not final") for line in lines)


def test_statistics_in_lines_are_never_cut():
    health = health_of(normal(3, 4))
    for width in range(24, 90):
        lines = health_lines(normal(3, 4), health, width)
        assert max(sum(len(span.text) for span in line) for line in lines) <= width
        assert " ".join("".join(span.text for span in line) for line in lines).split()[-2:] == ["Inf", "0"]


@pytest.mark.parametrize("width", [30, 49, 74])
def test_of_a_scalar_the_shape_is_said_where_there_is_no_room_for_more(snapshots, width):
    lines = text_of(tensor_page(snapshots(np.float64(0.123456)), PanelState(), width, 24, PALETTE)).splitlines()
    assert lines[3].startswith(" () f64 ") and "…" not in lines[3]
    assert ("std 0" in lines[3]) == (width > 30)
