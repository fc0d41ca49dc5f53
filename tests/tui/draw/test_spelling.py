"""ASCII: our signs by their names, a stranger's characters as escapes, and cells that stay where they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.draw.palette import Palette
from tui.draw.spelling import in_signs, spelled
from tui.draw.text import Span, row_width, text_row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("wᵢⱼ = exp(sᵢⱼ) / Σₖ exp(sᵢₖ)", "w[i,j] = exp(s[i,j]) / sum_k exp(s[i,k])"),
        ("y = Σ x / n", "y = sum x / n"),
        ("∂L/∂x = g ⊙ p xᵖ⁻¹", "dL/dx = g * p x^(p-1)"),
        ("1 / (1 + e⁻ˣ)", "1 / (1 + e^-x)"),
        ("q·kᵀ / √16", "q.k^T / sqrt16"),
        ("×10⁻³", "x10^-3"),
        ("4×12×12", "4x12x12"),
        ("−.435  2 160", "-.435  2 160"),
        ("● 1/1   ◐ 1/2   ○   –", "@ 1/1   % 1/2   o   -"),
        ("▶ ◀ ▷ ▸ ▾ ■ □", "> < ) + - # ."),
        ("◆ ◇ ◈", "B b W"),
        ("✓ ✗ ~", "ok FAIL ~"),
        ("fox → small", "fox -> small"),
        ("head ‹2/4›   ‖g‖", "head <2/4>   |g|"),
        ("γ ε θ", "gamma eps theta"),
        ("computing…", "computing..."),
        ("attn.so…", "attn.so$"),
        ("…tn.softmax", "$tn.softmax"),
        ("from the 11…", "from the 11$"),
        ("12…", "12..."),
        ("= … = +2", "= ... = +2"),
        ("after …the", "after ...the"),
        ("computing…   esc stops", "computing...   esc stops"),
        ("·upon", ".upon"),
        ("café", r"caf\xe9"),
        ("漢字🦊", r"\u6f22\u5b57\U0001f98a"),
        ("␛[31m␊␡", r"\x1b[31m\n\x7f"),
    ],
)
def test_words(text, expected):
    assert spelled(text) == expected


def test_a_fault_is_no_product():
    assert spelled("×", is_fault=True) == "N" and spelled("× NaN") == "x NaN"
    assert spelled("▲ ▼", is_fault=True) == "^ v"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("╭──┬──╮", "+--+--+"), ("│  ┃", "|  |"), ("━━▶──", "==>--"), ("┏┛┳╂", "++++"),
        ("▁▂▃▄▅▆▇█", "_.::==##"), (" ░▒▓█", " :=*#"), ("▌", "|"), ("漢é", "???"),
        ("for commands…   ", "for commands... "), ("so… ┃", "so$ |"),
    ],
)  # fmt: skip
def test_signs(text, expected):
    assert in_signs(text) == expected


@given(st.text())
def test_everything_comes_to_ascii(text):
    assert spelled(text).isascii()
    assert in_signs(text).isascii()


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Mn", "Me", "Cf"))))
def test_signs_stay_in_their_cells(text):
    assert len(in_signs(text)) == cell_len(text) or text.isascii()


@given(st.text(max_size=30), st.integers(0, 40))
def test_a_row_is_spelled_before_it_is_measured(text, width):
    row = text_row([Span(text)], width, Palette(is_ascii=True))
    assert row_width(row) == width
    assert all(segment.text.rstrip("…").isascii() for segment in row)
