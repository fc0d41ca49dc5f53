"""Keys pressed without a terminal, and the screen as text, styles and codes."""

import numpy as np
import pytest
from rich.style import Style

from glassllm import Config, GlassLM
from tui import dump
from tui.app import GlassApp
from tui.draw.palette import Palette
from tui.draw.scale import Codes
from tui.keys import unknown_key
from tui.scripted import press, screenshot, settle

CONFIG = Config(vocab_size=12, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=8)
SIZE = (120, 36)


@pytest.fixture
def app(tmp_path):
    GlassLM(CONFIG, seed=1).save(tmp_path / "model.npz")
    return GlassApp(tmp_path / "model.npz", ids=[3, 1, 4, 1, 5], colors="truecolor")


@pytest.mark.parametrize(
    "key", ["n", "N", "7", "?", "+", "ü", "enter", "ctrl+e", "shift+tab", "question_mark", "f5"]
)
def test_these_are_keys(key):
    assert unknown_key([key]) is None


@pytest.mark.parametrize("key", ["entre", "ctrl+", "strg+e", "10n", "ctrl+entre", ""])
def test_these_are_none(key):
    assert unknown_key(["n", key]) == key


async def test_each_key_is_answered_before_the_next(app):
    async with app.run_test(size=SIZE) as pilot:
        await settle(app, pilot)
        assert "forward 1/23" in dump.text(app)
        assert await press(app, pilot, ["n"] * 3)
        assert app.engine.activity.is_idle
        assert "forward 4/23" in dump.text(app)


async def test_a_program_that_is_left_presses_no_more(app):
    async with app.run_test(size=SIZE) as pilot:
        assert not await press(app, pilot, ["ctrl+q", "n"])


def test_a_picture_of_what_cannot_be_opened_is_none(tmp_path):
    app = GlassApp(tmp_path / "none.npz")
    assert screenshot(app, ["n"], tmp_path / "x.txt", SIZE) is False
    assert app.refusal and not (tmp_path / "x.txt").exists()


def test_the_same_keys_give_the_same_picture(app, tmp_path):
    other = GlassApp(app.path, ids=[3, 1, 4, 1, 5], colors="truecolor")
    for each, name in ((app, "a.txt"), (other, "b.txt")):
        assert screenshot(each, ["n", "c", "c", "S"], tmp_path / name, SIZE)
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()


async def test_text_styles_and_codes_of_the_screen(app):
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, ["n"])
        rows = dump.text(app).splitlines()
        plane, _, legend = dump.styles(app).partition("a  ")
        assert len(rows) == SIZE[1] and "model.npz" in rows[0]
        assert {len(row) for row in plane.splitlines()} == {SIZE[0]} and len(plane.splitlines()) == SIZE[1]
        assert " on " in legend and dump.DATA in plane
        name, *codes = dump.codes(app).splitlines()
        assert name == "value" and len(codes) == app.debugger.snapshot.focus.value.shape[0]
        assert dump.dump(app).startswith(dump.text(app))


async def test_an_export_takes_a_free_name(app, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "model-screen-1.txt").write_text("mine")
    async with app.run_test(size=SIZE) as pilot:
        await settle(app, pilot)
        written = dump.export(app, folder)
        assert [path.name for path in written] == ["model-screen-2.svg", "model-screen-2.txt"]
        assert written[0].read_text(encoding="utf-8").lstrip().startswith("<svg")
        assert written[1].read_text(encoding="utf-8") == dump.text(app)
        assert (folder / "model-screen-1.txt").read_text() == "mine"
        with pytest.raises(OSError, match="nowhere"):
            dump.export(app, tmp_path / "nowhere")


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("colors", ["truecolor", "256"])
def test_styles_are_named_by_their_tokens(theme, colors):
    palette = Palette(theme, colors)
    assert dump.style_name(palette.style("muted", "raised", bold=True), palette) == "muted on raised bold"
    assert dump.style_name(Style(color="#123456", bgcolor="#654321"), palette) == dump.DATA
    assert dump.style_name(Style(), palette) == dump.DATA


def test_codes_are_written_with_what_is_beyond_the_scale():
    found = Codes(np.array([[3, 64], [0, 70]], np.uint8), np.array([[0, 1], [-1, 0]], np.int8))
    assert dump._map_codes("value", found) == "value\n 3  64+\n 0- 70\n"
