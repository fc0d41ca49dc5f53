"""The Train screen's board: rows as wide as asked at any size, in every state of a run."""

from itertools import count

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.train import Trained, Training
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.draw.training import page
from tui.draw.training.updates import groups, is_healthy, log_ratio, trend_text

PALETTES = [
    Palette(),
    Palette("light", "256"),
    Palette("dark", "16"),
    Palette("dark", "none"),
    Palette(is_ascii=True),
]
SIZES = [(160, 37), (120, 29), (100, 20), (80, 18), (79, 18), (60, 14), (60, 3), (200, 60)]
WORDS = "a small fox saw a red ball and a big owl saw the small fox. "


def text(rows):
    return "\n".join("".join(segment.text for segment in row) for row in rows)


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
    return found


@pytest.mark.parametrize("palette", PALETTES, ids=lambda p: f"{p.theme}-{p.colors}-{p.is_ascii}")
@pytest.mark.parametrize("size", SIZES)
def test_all_rows_fill_the_board(views, size, palette):
    width, height = size
    for view in views.values():
        for here, is_log, tab in ((0, False, 0), (5, True, 1)):
            rows = page.board(view, here, is_log, tab, width, height, palette)
            assert [row_width(row) for row in rows] == [width] * height
        assert row_width(page.track(view, width, palette)) == width
        assert all(row_width(row) == width for row in page.rule(view, width, 2, palette))


def test_what_is_shown_is_the_run_s(views):
    view = views["paused"]
    screen = text(page.board(view, 0, False, 0, 160, 37, Palette()))
    assert f"val   {view.curves['val_loss'][1, -1]:.3f}" in screen
    assert f"train {view.report.loss:.3f}" in screen
    assert f"unigram {view.unigram:.3f}" in screen
    for group in groups(view):
        assert f"{log_ratio(view, group):.2f}".replace("-", "−") in screen
    assert groups(view)[0] == "E"


def test_a_run_gone_astray_says_where_to_look(views):
    fault = views["astray"].fault
    screen = text(page.board(views["astray"], 0, False, 0, 160, 37, Palette()))
    assert fault.fault in screen
    assert fault.place in screen


def test_before_a_run_the_settings_are_seen_at_every_size_with_two_columns(views):
    for width, height in ((160, 37), (120, 29), (80, 18)):
        assert "batch_size" in text(page.board(views["not begun"], 0, False, 0, width, height, Palette()))


@pytest.mark.parametrize(("value", "healthy"), [(-3.5, True), (-2.5, True), (-3.6, False), (-2.4, False)])
def test_the_healthy_band(value, healthy):
    assert is_healthy(value) is healthy


def test_a_trend_rises_where_values_rise():
    assert trend_text([10.0**-4, 10.0**-3, 10.0**-2], 3) == "▁▅█"
    assert trend_text([1e-3] * 5, 3) == "▁▁▁"


@pytest.mark.parametrize(("seconds", "said"), [(7, "0:07"), (200, "3:20"), (3729, "1:02:09")])
def test_a_clock(seconds, said):
    assert page.clock(seconds) == said
