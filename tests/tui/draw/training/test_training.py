"""The Train screen's board: rows as wide as asked at any size, in every state of a run."""

import math
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.train import Trained, Training
from tests.tui.draw import boards
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.draw.training import page, timeline
from tui.draw.training.page import Look
from tui.draw.training.rule import rule
from tui.draw.training.sample import amount, wrapped, written
from tui.draw.training.updates import groups, is_astray, log_ratio, percent, spoken, trend_text

WORDS = "a small fox saw a red ball and a big owl saw the small fox. "


@pytest.fixture(scope="module")
def views(tmp_path_factory) -> dict[str, Trained]:
    """A run in each of its states."""
    folder = tmp_path_factory.mktemp("run")
    path = folder / "words.txt"
    path.write_text(WORDS * 40, encoding="utf-8")
    tokenizer = Tokenizer.train(WORDS * 10, 40)
    model = GlassLM(Config(vocab_size=tokenizer.vocab_size, d_model=8, n_layers=2, n_heads=2, max_len=16))
    model.tokenizer = tokenizer
    training = Training(model, path, folder, "small", clock=count(0, 0.01).__next__)
    training.set(steps=12, batch_size=2, seq_len=8, warmup=2, eval_every=4)
    found = {"not begun": training.view()}
    for _ in training.running(5):
        pass
    found["paused"] = training.view()
    for _ in training.running():
        pass
    found["done"] = training.view()
    training.set(lr=10.0, warmup=0, steps=300, weight_decay=10.0)
    with np.errstate(all="ignore"):
        for _ in training.running():
            pass
    found["astray"] = training.view()
    assert {name: view.state for name, view in found.items()} == {name: name for name in found}
    model.named_parameters()["blocks.1.ffn.W1"].data[0, 0] = np.nan
    training.leave()
    training.set(lr=0.01, fresh=False)
    for _ in training.running():
        pass
    found["astray at once"] = training.view()
    report = found["paused"].report
    for name, value in (("NaN", math.nan), ("Inf", math.inf)):
        found[f"astray by {name}"] = replace(
            found["paused"], report=replace(report, loss=value, grad_norm=value, fault=training.view().fault)
        )
    return found


@pytest.mark.parametrize("palette", boards.PALETTES, ids=boards.name)
@pytest.mark.parametrize("size", boards.SIZES)
def test_all_rows_fill_the_board(views, size, palette):
    width, height = size
    for view in views.values():
        for look in (Look(), Look(5, True, 1), Look(3, False, 2), Look(0, False, 3)):
            rows = page.board(view, look, width, height, palette)
            assert [row_width(row) for row in rows] == [width] * height
        assert row_width(timeline.track(view, width, palette)) == width
        assert all(row_width(row) == width for row in rule(view, width, 2, palette))


def test_what_is_shown_is_the_run_s(views):
    view = views["paused"]
    screen = boards.text(page.board(view, Look(), 160, 37, Palette()))
    assert f"val   {view.curves['val_loss'][1, -1]:.3f}" in screen
    assert f"train {view.report.loss:.3f}" in screen
    assert f"unigram {view.unigram:.3f}" in screen
    for group in groups(view):
        assert f"{log_ratio(view, group):.2f}".replace("-", "−") in screen
    assert groups(view)[0] == "E"


def test_a_run_gone_astray_says_where_to_look(views):
    fault = views["astray"].fault
    screen = boards.text(page.board(views["astray"], Look(), 160, 37, Palette()))
    assert fault.fault in screen
    assert fault.place in screen


def test_a_loss_that_is_none_from_the_start_is_named(views):
    view = views["astray at once"]
    screen = boards.text(page.board(view, Look(), 160, 37, Palette()))
    assert (view.step, view.fault.fault, view.fault.place) == (1, "the loss is NaN", "blocks.1.ffn.W1")
    assert "the loss is NaN" in screen and "now NaN" in screen and "no step taken" not in screen
    assert "".join(span.text for span in timeline.facts(view, 80)[1]) == "loss NaN"


def test_before_a_run_the_settings_are_seen_at_every_size_with_two_columns(views):
    for width, height in ((160, 37), (120, 29), (80, 18)):
        assert "batch_size" in boards.text(page.board(views["not begun"], Look(), width, height, Palette()))


@pytest.mark.parametrize(("value", "astray"), [(-4.5, False), (-2.5, False), (-4.6, True), (-2.4, True)])
def test_where_a_group_is_astray(value, astray):
    assert is_astray(value) is astray


@pytest.mark.parametrize(("colors", "has_sign"), [("truecolor", False), ("16", True), ("none", True)])
def test_validation_has_a_sign_of_its_own_where_colour_cannot_tell_it(views, colors, has_sign):
    rows = boards.text(page.board(views["done"], Look(), 160, 37, Palette(colors=colors))).splitlines()
    left = [row[8:96] for row in rows[2:18]]
    points = sum(row.count("o ") + row.rstrip().endswith("o") for row in left)
    assert ("o val" in "\n".join(left)) is has_sign
    assert (points > 1) is has_sign


@pytest.mark.parametrize(
    ("x", "said"), [(0.452, "0.45%"), (12, "12%"), (100, "100%"), (9938.4, "9\u2009938%"), (2e-7, "2e−07%")]
)
def test_a_step_is_a_percentage_of_the_weight(x, said):
    assert percent(x) == said


def test_a_trend_rises_where_values_rise():
    assert trend_text([10.0**-4, 10.0**-3, 10.0**-2], 3) == "▁▅█"
    assert trend_text([1e-3] * 5, 3) == "▁▁▁"


@pytest.mark.parametrize("size", [(160, 37), (120, 28), (80, 18), (60, 14)])
def test_what_is_pointed_at_is_what_is_drawn_there(views, size):
    """Every group's row marks that group, every name of a pane shows it, wherever they stand."""
    view = views["paused"]
    for turned in range(4):
        look = Look(turned=turned)
        rows = boards.text(page.board(view, look, *size, Palette())).splitlines()
        for y, row in enumerate(rows):
            for i, group in enumerate(groups(view)):
                name = spoken(group, groups(view))
                if (x := row.find(f" {name} ")) > 0 and "┈" in row[x : x + 30] and "●" in row[x:]:
                    assert page.pointed(view, look, *size, x + 1, y) == look._replace(here=i)
        for at in page.places(view, look, *size):
            for name, said in zip(at.tabs, at.titles, strict=True) if len(at.tabs) > 1 else ():
                x = at.x + rows[at.y][at.x :].index(f"{said}")
                turned_to = page.pointed(view, look, *size, x, at.y)
                assert name in [place.name for place in page.places(view, turned_to, *size)]


@pytest.mark.parametrize("point", [(0, 0), (30, 5), (159, 36), (500, 500), (-1, -1)])
def test_pointing_elsewhere_changes_at_most_the_axis(views, point):
    look = page.pointed(views["paused"], Look(2), 160, 37, *point)
    assert (look.here, look.turned) == (2, 0)


@pytest.mark.parametrize("width", [5, 12, 31, 80])
def test_a_sample_is_wrapped_at_words_and_loses_nothing(width):
    given = "Once upon a time\n\nthere was  a smallfoxwithoutspaces.\nThe end"
    lines = [given[start:end] for start, end in wrapped(given, width)]
    assert all(len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == given.replace(" ", "").replace("\n", "")
    assert lines == [line.strip() for line in lines]


def test_of_a_sample_too_long_the_beginning_is_shown_and_what_was_given_is_muted():
    first, second = written(("Once", " upon", " a", " time", " fox"), 3, 11, 2)
    assert [(span.text, span.fg) for span in first] == [("Once upon a", "muted"), ("", "text")]
    assert [(span.text, span.fg) for span in second] == [("", "muted"), ("time fox", "text")]
    (only,) = written(("Once", " upon", " a", " time"), 2, 11, 1)
    assert "".join(span.text for span in only) == "Once upon…"


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0"), (81_920, "81\u2009920"), (3_174_400, "3.17 M"), (25_000_000, "25 M")]
)
def test_an_amount(n, said):
    assert amount(n) == said


def test_groups_astray_are_said_in_words_the_farthest_first(views):
    view = views["paused"]
    usual = dict.fromkeys(view.report.updates, 1e-3)
    updates = usual | {"blocks.1.ffn": 10**-2.3, "norm_f": 10**-4.9}
    shown = replace(view, report=replace(view.report, updates=updates))
    rows = boards.text(page.board(shown, Look(), 160, 37, Palette())).splitlines()
    words = [row[96:].strip() for row in rows if "! " in row[96:]]
    assert "! norm_f  hardly moves: 0.0013% of the weight" in words
    assert "! 1 ffn  steps are large: 0.5% of the weight" in words
    assert words.index("! norm_f  hardly moves: 0.0013% of the weight") < words.index(
        "! 1 ffn  steps are large: 0.5% of the weight"
    )
    assert any(row.endswith("! 2 astray") for row in words)
