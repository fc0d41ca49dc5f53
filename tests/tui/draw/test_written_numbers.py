"""Numbers on the tensor panel: in every form that can be asked for, their common factor whole."""

import re

import numpy as np
import pytest

from tests.tui.draw.pages import normal, text_of
from tui.draw import numbers
from tui.draw.formats import parse
from tui.draw.palette import Palette
from tui.draw.plane import PanelState
from tui.draw.tensor_page import tensor_page
from tui.draw.text import row_width

PALETTE = Palette()
FORMS = ["digits 7", "digits 17", "scientific 3", "hex"]


@pytest.mark.parametrize("exponent", [-320, -300, -45, -12, -3, 5, 12, 300])
@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (3, 90), (90, 90), (30,), (2, 12)])
@pytest.mark.parametrize("size", [(74, 37), (49, 26), (49, 17), (48, 30), (40, 20)])
def test_the_factor_of_numbers_is_never_cut(snapshots, exponent, is_ascii, shape, size):
    values = np.linspace(-1, 1, np.prod(shape)).reshape(shape) * 10.0**exponent
    palette = Palette(is_ascii=is_ascii)
    state = PanelState(cell=tuple(n - 1 for n in shape))
    text = text_of(tensor_page(snapshots(values), state, *size, palette))
    found = re.findall(r"x10(\^-?\d+)(?!\S)" if is_ascii else r"×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?!\S)", text)
    assert text.count("x10" if is_ascii else "×10") == len(found)
    assert bool(found) or not re.search(r"[+−-]\d\d +[+−-]\d", text)
    for each in found:
        power = int(each.strip("^").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
        assert power <= exponent and (power >= exponent - 4 or exponent == -320)


@pytest.mark.parametrize("size", [(48, 18), (49, 24), (74, 37), (120, 36), (150, 45)], ids=str)
@pytest.mark.parametrize("tab", ["value", "gradient", "contributions"])
@pytest.mark.parametrize("how", FORMS)
@pytest.mark.parametrize("colors", ["truecolor", "none"])
@pytest.mark.parametrize("shape", [(12, 12), (12, 64), (64,), ()], ids=str)
def test_the_cell_is_written_in_full_in_every_form(snapshots, size, tab, how, colors, shape):
    gradient = np.asarray(normal(*shape) * 2)
    snapshot = snapshots(
        normal(*shape), gradient, edges=2, delivered=2, contributions=(np.asarray(gradient * 3), gradient)
    )
    state = PanelState(tab=tab, cell=(3,) * len(shape), format=parse(how))
    page = tensor_page(snapshot, state, *size, Palette(colors=colors))
    assert [row_width(row) for row in page.rows] == [size[0]] * size[1]
    sent = snapshot.focus.contributions[0].array
    shown = {"value": snapshot.focus.value, "gradient": gradient, "contributions": sent}[tab]
    if tab == "contributions" and not shape and size[0] < 70:
        return  # a scalar's norm is all there is
    assert numbers.formatted(shown[state.cell], state.format) in text_of(page)


def test_cells_without_ground_keep_numbers_that_fit_and_have_none_that_never_do(snapshots):
    flat, matrix = Palette(colors="none"), normal(12, 12)
    pages = {}
    for how in ("digits 4", "digits 1", "digits 7", "scientific 3", "hex"):
        state = PanelState(cell=(3, 3), format=parse(how))
        pages[how] = tensor_page(snapshots(matrix), state, 100, 40, flat)
    texts = {how: [span.text for row in page.rows for span in row] for how, page in pages.items()}
    tens = numbers.row_numbers(matrix.ravel())[0][3 * 12 + 3]
    assert all(tens in texts[how] for how in ("digits 4", "digits 7", "scientific 3"))
    assert tens not in texts["digits 1"] and tens not in texts["hex"]
    assert {how: page.spots[0].fit.size for how, page in pages.items()} == {
        "digits 4": "large", "digits 1": "large", "digits 7": "large", "scientific 3": "large", "hex": "medium",
    }  # fmt: skip
    assert f"0x{matrix[3, 3].view(np.uint32):08x}" in " ".join(texts["hex"])


def test_numbers_under_large_cells_are_in_the_form_asked_for(snapshots):
    matrix = normal(12, 12)
    page = tensor_page(snapshots(matrix), PanelState(cell=(3, 3), format=parse("digits 6")), 100, 40, PALETTE)
    assert page.spots[0].fit.size == "large"
    assert "  ".join(numbers.formatted(x, parse("digits 6")) for x in matrix[3, :2])[:9] in text_of(page)
    assert numbers.row_numbers(matrix[3])[1] not in text_of(page)
