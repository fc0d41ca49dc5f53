"""Themes and colour depths: the same characters, and no code the terminal was not asked for."""

import pytest
from rich.color import ColorType

from tests.tui.driving import command, press, started, text
from tui.dump import strips, styles


async def walk(pilot) -> list[str]:
    """The characters at some places: a map, an overlay, the line, a gradient."""
    seen = []
    for line, keys in (("run-to blocks.1.attn.softmax", ""), ("last", "?"), ("last", ": b"), ("2 continue", "]")):
        await command(pilot, line)
        await press(pilot, keys)
        seen.append(plain(text(pilot)))
        await press(pilot, "escape")
    return seen


def plain(screen: str) -> str:
    """A half-block of one shade is a space, and what stands out on white is dark: all else is the same."""
    same = screen.replace("▀", " ").replace("darker larger", "lighter larger")
    return "\n".join(line.rstrip() for line in same.splitlines())


def colors_of(pilot):
    return {
        color.type
        for strip in strips(pilot.app)
        for segment in strip
        if segment.style
        for color in (segment.style.color, segment.style.bgcolor)
        if color is not None
    }


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
async def test_themes_and_depths_change_no_character(sample, size):
    seen = []
    for options in ({}, {"theme": "light"}, {"colors": "256"}, {"theme": "light", "colors": "256"}):
        async with started(sample, size, **options) as pilot:
            seen.append(await walk(pilot))
    for screens in zip(*seen, strict=True):
        assert set(screens) == {screens[0]}


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_with_256_colours_no_cell_of_ours_has_a_24_bit_colour(sample, theme):
    async with started(sample, (160, 45), theme=theme, colors="256") as pilot:
        for line, keys in (
            ("run-to blocks.1.attn.softmax", ""),
            ("2 continue", "?"),
            ("2 continue", "escape v ]"),
        ):
            await command(pilot, line)
            await press(pilot, keys)
            types = {
                segment.style.color.type
                for page in pilot.app.screen.query("Page")
                for y in range(page.size.height)
                for segment in page.render_line(y)
            }
            assert types == {ColorType.EIGHT_BIT}
            if "?" not in keys:
                assert colors_of(pilot) == {ColorType.EIGHT_BIT}


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_every_cell_of_the_screen_has_the_themes_own_colours(sample, theme):
    async with started(sample, (160, 45), theme=theme) as pilot:
        await press(pilot, "12n")
        legend = styles(pilot.app).split("\n\n")[-1].splitlines()[45:]
        grounds = {line.split(" on ")[1].split()[0] for line in legend if " on " in line}
        assert {"bg", "panel", "raised", "select"} <= grounds
