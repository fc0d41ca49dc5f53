"""Golden screens of one walk at three sizes, and numbers on them held against plain NumPy.

`pytest tests/looks --update-looks` writes the screens anew; read their diff before committing it.
"""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.looks.truth import Truth
from tests.tui.driving import command, enter, press, started, text
from tui import dump

FOLDER = Path(__file__).parent / "screens"
SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "tiny.npz"
NUMBER = r"([+−]\d+\.?\d*(?:e−?\d+)?)"


@dataclass(frozen=True)
class Place:
    """A stop of the walk: commands, then keys; afterwards the cells to read, and what each must be."""

    name: str
    commands: tuple[str, ...] = ()
    keys: str = ""
    cells: tuple[tuple[int, ...], ...] = ()
    truth: Callable[[Truth, tuple[int, ...]], float] = lambda truth, cell: 0.0
    what: str = "value"
    after: str = ""
    """Keys that lead to where the cells can be read, and on."""


PLACES = (
    Place("01-start", (), "", ((0, 0), (3, 17), (11, 63)), lambda truth, cell: truth.value("embed", None, cell)),
    Place(
        "02-softmax", ("run-to blocks.1.attn.softmax",), "", ((1, 8, 7), (0, 11, 2), (3, 5, 5)),
        lambda truth, cell: truth.value("attn.softmax", 1, cell),
    ),
    Place(
        "03-logits", ("run-to logits",), "", ((7, 42), (11, 1000), (0, 0)),
        lambda truth, cell: truth.value("logits", None, cell),
    ),
    Place("04-loss", ("run-to loss",), "", ((),), lambda truth, cell: truth.value("loss", None, cell)),
    Place(
        "05-backward", ("last", "2 next"), "", ((7, 62), (8, 179), (11, 175)),
        lambda truth, cell: truth.value("loss.grad", None, cell), "gradient",
    ),
    Place(
        "06-contributions", ("run-to blocks.1.resid.ffn", "select blocks.1.resid.attn"), "]",
        ((8, 3), (11, 40), (2, 17)), lambda truth, cell: truth.stream("resid.ffn", 1, cell), "gradient", "[",
    ),
    Place(
        "07-resid", ("run-to blocks.1.resid.attn",), "", ((8, 3), (11, 40), (2, 17)),
        lambda truth, cell: truth.stream("resid.attn", 1, cell), "gradient",
    ),
    Place(
        "08-softmax-gradient", ("run-to blocks.1.attn.softmax",), "", ((1, 8, 7), (0, 11, 2), (3, 5, 5)),
        lambda truth, cell: truth.attention_weight(1, cell), "gradient",
    ),
    Place(
        "09-leaf", ("last", "select E"), "", ((197, 3), (62, 40), (1000, 63)),
        lambda truth, cell: truth.parameter("E", cell), "gradient",
    ),
    Place("10-help", (), "?"),
)  # fmt: skip


@pytest.fixture(scope="session")
def truth() -> Truth:
    return Truth(SAMPLE)


@pytest.mark.parametrize("size", ["160x45", "120x36", "80x24"])
async def test_the_walk_looks_as_it_did_and_its_numbers_are_right(size, truth, request):
    columns, rows = map(int, size.split("x"))
    faults = []
    async with started(SAMPLE, (columns, rows)) as pilot:
        for place in PLACES:
            for line in place.commands:
                await command(pilot, line)
            await press(pilot, place.keys)
            shown = f"{dump.text(pilot.app)}\n{dump.codes(pilot.app)}"
            faults += differences(FOLDER / size / f"{place.name}.txt", shown, request)
            await press(pilot, place.after)
            for cell in place.cells:
                if cell:
                    await enter(pilot, f"@{','.join(map(str, cell))}")
                number = read(text(pilot), cell, place.what)
                expected = place.truth(truth, cell)
                if abs(value_of(number) - expected) > unit_of(number):
                    faults.append(f"{place.name} {cell}: the screen says {number}, float64 {expected:+.8e}")
    assert not faults, "\n".join(faults)


def differences(path: Path, shown: str, request) -> list[str]:
    """A diff against the golden screen, or the golden screen written anew."""
    if request.config.getoption("--update-looks"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding="utf-8")
        return []
    golden = path.read_text(encoding="utf-8") if path.exists() else ""
    name = f"{path.parent.name}/{path.name}"
    found = difflib.unified_diff(
        golden.splitlines(), shown.splitlines(), f"golden {name}", "now", lineterm="", n=1
    )
    return list(found)


# Reading numbers off the screen


def read(screen: str, cell: tuple[int, ...], what: str) -> str:
    """The number on the screen for a cell: from the panel's last row, else from the row under the formula."""
    place, drawn = (",".join(map(str, axes)) for axes in (cell, cell[-2:]))
    head = rf"^ \[{place}\]  .*?" if cell else "^ a scalar  .*?"
    own = rf"{head}gradient {NUMBER}", rf"{head}(?:= )?{NUMBER}(?: so far|  )"
    patterns = [
        rf"\[{drawn}\] [^ ].*?  {NUMBER}" if cell else r"(?:value|gradient)   (\d\.\d+)",
        *(own if what == "gradient" else [rf"{head}= {NUMBER}(?: {{3,}}|$)"]),
    ]
    found = [match[1] for pattern in patterns if (match := re.search(pattern, screen, re.MULTILINE))]
    assert found, f"no {what} of {cell} on the screen\n{screen}"
    return found[0]


def value_of(number: str) -> float:
    return float(number.replace("−", "-"))


def unit_of(number: str) -> float:
    """One unit in the last digit shown; a float32 has no more than seven."""
    mantissa, _, exponent = number.replace("−", "-").partition("e")
    decimals = len(mantissa.partition(".")[2])
    return max(10.0 ** (int(exponent or 0) - decimals), abs(value_of(number)) * 1e-6)


@pytest.mark.parametrize(
    ("number", "value", "unit"),
    [
        ("+0.6141", 0.6141, 1e-4),
        ("−2.25e−5", -2.25e-5, 1e-7),
        ("−12.5000", -12.5, 1e-4),
        ("0.6207512", 0.6207512, 6.2e-7),
    ],
)
def test_a_number_is_read_with_its_last_digit(number, value, unit):
    assert value_of(number) == value
    assert unit_of(number) == pytest.approx(unit, rel=0.01)
