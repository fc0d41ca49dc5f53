"""Tables for people: nothing cut in a pipe, nothing of a stranger's taken for markup or sent to the terminal."""

import io
import re
import sys
from copy import deepcopy

import pytest

from tui.report import heading, rendered, summary

STATS = {
    "min": -0.5, "mean": 0.0833, "max": 2.0, "std": "NaN", "norm": 12.5,
    "negative": 1, "zero": 0, "positive": 2160, "nan": 3, "inf": 0, "masked": 0, "subnormal": 0,
}  # fmt: skip
DATA = {
    "name": "tiny.npz",
    "tokens": ["Once", " upon", "\n"],
    "ids": [1, 2, 3],
    "targets": [2, 3, 4],
    "dtype": "float32",
    "tracked": True,
    "fused": False,
    "notes": [],
    "loss": 2.31841,
    "root": "loss",
    "counts": {"events": 77, "nodes": 402, "parameters": 38, "weights": 245824, "nan": 0, "inf": 0},
    "events": [{"id": "embed", "path": "embed", "layer": None, "shape": [3, 64], "stats": STATS}],
    "gradients": [
        {"name": "E", "parameter": True, "shape": [9, 64], "norm": 30.4, "grad_norm": 0.159, "grad_stats": STATS},
        {"name": "G", "parameter": True, "shape": [9], "norm": 1.0, "grad_norm": None, "grad_stats": None},
    ],
}


@pytest.fixture
def data():
    return deepcopy(DATA)


@pytest.fixture
def terminal(monkeypatch):
    """Makes stdout a terminal of that many columns."""

    def make(columns):
        screen = io.StringIO()
        screen.isatty = lambda: True
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setenv("COLUMNS", str(columns))

    return make


def lines(data):
    return rendered(data).splitlines()


def test_the_sum_of_it_is_the_last_line(data):
    last = "tiny.npz   loss 2.3184   77 events   402 nodes   38 parameters   NaN 0   Inf 0"
    assert summary(data) == last == lines(data)[-1]


@pytest.mark.parametrize(("loss", "said"), [(None, "no loss"), ("NaN", "loss NaN"), ("Infinity", "loss +Inf")])
def test_a_loss_that_is_no_number(data, loss, said):
    data["loss"] = loss
    assert summary(data).split("   ")[1] == said


def test_the_first_lines_say_what_was_run(data):
    assert heading(data) == "tiny.npz   f32   3 tokens   245\u2009824 weights"
    assert lines(data)[:2] == [heading(data), "Once upon␊"]


def test_events_and_leaves_have_their_numbers(data):
    event = next(line for line in lines(data) if line.startswith("embed"))
    moments, kinds = ["−.500", ".0833", "2", "NaN", "12.5"], ["1", "0", "2\u2009160", "3", "0", "0", "0"]
    assert re.split(" +", event) == ["embed", "3×64", *moments, *kinds]
    unreached = next(line for line in lines(data) if line.startswith("G "))
    assert unreached.split() == ["G", "9", "1", *"–" * 7]


def test_untracked_runs_say_so(data):
    data["tracked"] = False
    assert "not tracked: no gradients" in lines(data)


def test_notes_are_shown(data):
    data["notes"] = ["one token has no next one: no loss"]
    assert data["notes"][0] in lines(data)


HOSTILE = "[bold]x[/] \x1b[31mred\x07 \u202egnp"


def test_strangers_words_are_shown_and_not_obeyed(data):
    data["name"] = data["gradients"][0]["name"] = data["events"][0]["path"] = data["root"] = HOSTILE
    data["tokens"], data["notes"] = [HOSTILE], [HOSTILE]
    text = rendered(data)
    assert text.count("[bold]x[/] ␛[31mred␇ �gnp") == 7
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_a_pipe_gets_every_name_whole(data):
    name = "blocks.0." + "very.long.name." * 20
    data["events"][0]["path"] = data["gradients"][0]["name"] = name
    assert sum(line.startswith(name) for line in lines(data)) == 2
    assert not any("…" in line for line in lines(data))


def test_a_pipe_gets_no_escape_codes(data):
    assert "\x1b" not in rendered(data)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_terminal_is_never_overrun(data, terminal, columns):
    terminal(columns)
    text = rendered(data)
    for sequence in ("\x1b[1;31m", "\x1b[1m", "\x1b[0m"):
        text = text.replace(sequence, "")
    assert "\x1b" not in text and max(map(len, text.splitlines())) <= max(columns, len(summary(data)))
    assert ("subnormal" in text) == (columns == 200)


def test_faults_have_a_colour_unless_colours_are_off(data, terminal, monkeypatch):
    terminal(200)
    assert "\x1b[1;31m" in rendered(data)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in rendered(data)


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_on_a_terminal_columns_are_left_out_and_no_name_is_parted(data, terminal, columns):
    data["events"][0]["path"] = event = "blocks.0.attn.softmax"
    data["gradients"][0]["name"] = leaf = "blocks.0.norm1.gamma"
    terminal(columns)
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in lines(data)]
    rows = {line.split()[0]: line for line in bare if line}
    assert event in rows and leaf in rows
    assert max(map(len, rows.values())) <= max(columns, len(summary(data)))
    assert "…" not in "".join(rows.values())
    heads = re.split(r"  +", rows["leaf"])
    assert ("min" in heads) == ("max" in heads)
    assert ("min" in heads) == (columns >= 100)
    assert {"shape", "grad norm", "NaN", "Inf"} <= set(heads)


def test_numbers_stand_with_their_points_below_each_other(data):
    wide = {**STATS, "min": -1.34, "max": 0.401}
    data["events"].append({"id": "loss", "path": "loss", "layer": None, "shape": [3], "stats": wide})
    first, second = (line for line in lines(data) if line.startswith(("embed", "loss  ")))
    for here, there in (("−.5", "−1.34"), ("2", ".401")):
        assert first.index(here) + len(here.split(".")[0]) == second.index(there) + len(there.split(".")[0])


def test_a_name_too_long_for_a_terminal_goes_on_below(data, terminal):
    data["events"][0]["path"] = name = "name." * 30
    terminal(60)
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines(data)]
    start = next(i for i, line in enumerate(bare) if line.startswith("name."))
    parts = [line.split()[0] for line in bare[start : bare.index("", start)]]
    assert len(parts) > 1 and "".join(parts) == name
