"""The same walk in every mode: with few colours or none, in ASCII; whole rows, and nothing lost."""

import re

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from tests.tui.driving import command, enter, press, row, started, text
from tui.draw.formats import Format
from tui.dump import strips
from tui.settings import Settings

SIZES = [(160, 45), (80, 24), (60, 18)]
PLACES = (  # a command, and keys to press then
    ("run-to blocks.1.attn.softmax", "tab tab 3up"), ("run-to blocks.1.resid.attn", "%"), ("last", "?"),
    ("last", ": b"), ("2 continue", "]"), ("select blocks.1.resid.attn", "] v"), ("first", "v ctrl+p"),
)  # fmt: skip


async def walk(pilot):
    """Each place in turn."""
    for line, keys in PLACES:
        await command(pilot, line)
        await press(pilot, keys)
        yield
        await press(pilot, "escape")


def reversed_text(pilot) -> str:
    return "\n".join("".join(s.text for s in strip if s.style and s.style.reverse) for strip in strips(pilot.app))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("colors", ["truecolor", "none"])
async def test_in_ascii_nothing_else_is_on_the_screen(sample, size, colors):
    async with started(sample, size, colors=colors, settings=Settings(ascii=True)) as pilot:
        async for _ in walk(pilot):
            for line in text(pilot).splitlines():
                assert line.isascii(), line
            assert {strip.cell_length for strip in strips(pilot.app)} == {size[0]}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("theme", "colors"), [("dark", "none"), ("light", "16")])
async def test_no_ground_is_painted_and_rows_are_whole(sample, size, theme, colors):
    async with started(sample, size, theme=theme, colors=colors) as pilot:
        async for _ in walk(pilot):
            shown = strips(pilot.app)
            assert {strip.cell_length for strip in shown} == {size[0]}
            if pilot.app.screen is pilot.app.debugger:
                grounds = {s.style.bgcolor for strip in shown for s in strip if s.style} - {None}
                assert all(color.is_default for color in grounds) or pilot.app.debugger.line.is_open


@pytest.mark.parametrize("colors", ["16", "none"])
async def test_what_a_ground_says_is_said_by_signs(sample, colors):
    async with started(sample, (160, 45), colors=colors) as pilot:
        await command(pilot, "run-to blocks.1.attn.softmax")
        shown = text(pilot)
        assert "[mask]" in shown and "[▸ blocks.0 ×18]" in shown and "[softmax]" not in shown
        assert " softmax " in reversed_text(pilot) and "attn.softmax" in reversed_text(pilot)
        assert "█" in shown and "·upon ." in row(pilot, -3)
        weights = pilot.app.debugger.snapshot.focus.value[0, 11]
        assert f"·Pip {weights[10]:.2f}".replace(" 0.", " .") in row(pilot, -3)


async def test_a_strangers_letters_are_escaped(tmp_path):
    tokenizer = Tokenizer.train("été là été là ", 16)
    model = GlassLM(
        Config(vocab_size=tokenizer.vocab_size, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1), seed=0
    )
    model.tokenizer, model.sample = tokenizer, np.array(tokenizer.encode("été là"))
    model.save(path := tmp_path / "été.npz")
    async with started(path, (120, 36), settings=Settings(ascii=True)) as pilot:
        assert r" \xe9t\xe9.npz " in row(pilot, 0)
        assert r"\xe9" in row(pilot, -3)
        await command(pilot, "run-to blocks.0.attn.softmax")
        assert text(pilot).isascii()


# Settings on the screen


async def test_a_bad_setting_is_the_first_thing_said(sample):
    faults = ["settings.toml: theme: 'blue' is none of dark, light; ignored"]
    async with started(sample, settings=Settings(keys={"nxt": ("x",)}), faults=faults) as pilot:
        assert row(pilot, -2) == f" ✗ {faults[0]}   and 1 more in the log"
        await press(pilot, "L")
        assert re.search(r"\d  ✗ keys: no action nxt", text(pilot)) and re.search(r"\d  ▶ embed", text(pilot))
        await press(pilot, "escape n")
        assert "settings.toml" not in text(pilot)


async def test_chosen_keys_do_what_they_are_chosen_for(sample):
    async with started(sample, settings=Settings(keys={"next": ("Z",), "step": ("n",)})) as pilot:
        await press(pilot, "3Z")
        assert "forward 4/77" in row(pilot, 0)
        assert row(pilot, -1).startswith(" Z/N event  n/S op")
        await press(pilot, "n")
        assert "node 14/" in row(pilot, 0)


async def test_blocks_stand_open_from_the_start(sample):
    async with started(sample, (160, 45), settings=Settings(collapse=False)) as pilot:
        shown = text(pilot)
        assert all(f"▾ blocks.{layer}" in shown for layer in (0, 1))
        assert "▸ blocks.0 " not in shown.splitlines()[4][:34]
        assert "▸ blocks" not in shown
        assert all(item.kind != "group" for item in pilot.app.debugger.graph._picture.graph.items)


async def test_cells_are_written_in_the_form_asked_for(sample):
    async with started(sample, (80, 24), settings=Settings(format=Format("scientific", 2))) as pilot:
        await command(pilot, "run-to blocks.0.resid.attn")
        await press(pilot, "tab tab")
        value = pilot.app.debugger.snapshot.focus.value[11, 0]
        assert f"  {value:+.2e}".replace("e-0", "e−") in text(pilot)
        await enter(pilot, ":format hex")
        assert row(pilot, -2).startswith(" cells as hex")
        assert f"0x{value.view(np.uint32):08x}" in text(pilot)
        await enter(pilot, ":format roman")
        assert row(pilot, -2).startswith(" ✗ 'roman' is no number format; give ")
        await enter(pilot, ":format digits 7")
        assert f"{value:+.7f}" in text(pilot)


async def test_a_wide_screen_shows_the_form_above_the_map(sample):
    async with started(sample, (160, 45)) as pilot:
        await command(pilot, "run-to blocks.0.attn.softmax")
        await enter(pilot, ":format hex")
        value = pilot.app.debugger.snapshot.focus.value[0, 11, 0]
        bits = f"0x{value.view(np.uint32):08x}"
        assert row(pilot, 4).endswith(f"[11,0]  {bits}")
        assert row(pilot, -4).startswith(" [0,11,0]") and f" = {bits} " in row(pilot, -4)  # and in the rule


async def test_copy_goes_into_a_file_that_is_not_there_yet(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with started(sample) as pilot:
        await enter(pilot, ":copy cell.txt")
        assert row(pilot, -2) == " copied to cell.txt"
        assert (tmp_path / "cell.txt").read_text(encoding="utf-8").startswith("embed [11,0] ")
        await enter(pilot, ":copy cell.txt")
        assert row(pilot, -2) == " ✗ cell.txt is there already; name another file"
        await enter(pilot, ":copy no/where.txt")
        assert row(pilot, -2) == " ✗ no/where.txt: No such file or directory; name another file"
        await enter(pilot, ":copy ~nobody_here/cell.txt")
        assert row(pilot, -2) == " ✗ ~nobody_here/cell.txt: there is no such home; choose another place"
