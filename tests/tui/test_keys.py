"""The table of keys: complete, without doubles, and all that is made from it."""

import pytest
from textual.app import App
from textual.screen import Screen

from glassllm.debug.commands import COMMANDS
from tui.keys import (
    BY_ACTION,
    GROUPS,
    KEYS,
    LATER,
    PANELS,
    UI_ACTIONS,
    Key,
    bindings,
    footer,
    help_sections,
    later,
    sentence,
)

PROMISED = r"""
    n N s S i I c C f F t T g G u d o @ < > a / . + - r e y z : ? \ q ! ^ % ( ) [ ] v h j k l
    0 1 2 3 4 5 6 7 8 9 up down left right pageup pagedown tab shift+tab enter escape space comma
    ctrl+e ctrl+l ctrl+p ctrl+q   b W R x # = ~ p L w m '
"""
NAMES = [name for key in KEYS for name in key.keys.split(",")]


def test_every_promised_key_is_there_and_none_twice() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) & set(LATER) == set()
    assert {*NAMES, *LATER} == set(PROMISED.split())


def test_actions_name_one_row_each() -> None:
    assert len(BY_ACTION) == len(KEYS)


@pytest.mark.parametrize("lower", "nsicft")
def test_upper_case_is_the_way_back(lower: str) -> None:
    rows = {key.keys: key for key in KEYS}
    assert rows[lower].topic == rows[lower.upper()].topic
    assert rows[lower].command != rows[lower.upper()].command


@pytest.mark.parametrize("key", [key for key in KEYS if key.is_command], ids=lambda key: key.action)
def test_every_command_exists_and_needs_no_more_than_the_key_gives(key: Key) -> None:
    takes = COMMANDS[key.command].takes
    needed = [argument for argument in takes if not argument.is_optional]
    assert len(needed) <= len(key.args) <= len(takes)


def test_every_action_of_the_screen_has_a_key() -> None:
    assert {key.command for key in KEYS if not key.is_command} == UI_ACTIONS


def test_groups_and_panels_agree() -> None:
    assert {key.group for key in KEYS} == set(GROUPS)
    assert {group for groups in PANELS.values() for group in groups} < set(GROUPS)


async def test_each_key_pressed_calls_what_its_row_says() -> None:
    called: list[tuple[object, ...]] = []

    class Page(Screen[None]):
        BINDINGS = bindings()

        def action_command(self, action: str) -> None:
            called.append(("command", action))

        def action_later(self, key: str) -> None:
            called.append(("later", key))

    for name in UI_ACTIONS:
        setattr(Page, f"action_{name}", lambda self, *args, name=name: called.append((name, *args)))

    class Bare(App[None], inherit_bindings=False):
        ENABLE_COMMAND_PALETTE = False

    async with Bare().run_test() as pilot:
        await pilot.app.push_screen(Page())
        for key in KEYS:
            for name in key.keys.split(","):
                await pilot.press(name)
                expected = ("command", key.action) if key.is_command else (key.command, *key.args)
                assert called[-1:] == [expected], name
        for name in LATER:
            await pilot.press(name)
            assert called[-1:] == [("later", name)]
    assert len(called) == len(NAMES) + len(LATER)


def text(panel: str, backward: bool, width: int) -> str:
    return "  ".join(f"{entry.keys} {entry.words}" for entry in footer(panel, backward, width))


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_the_footer_fits_and_keeps_command_line_and_help(panel: str, backward: bool, width: int) -> None:
    line = text(panel, backward, width)
    assert len(line) + 2 <= width
    assert line.startswith("n/N event")
    assert line.endswith("  ? help")
    assert "  : c" in line


@pytest.mark.parametrize(
    ("panel", "backward", "width", "line"),
    [
        (
            "tensor",
            False,
            160,
            "n/N event  s/S op  c/C continue  f/F block  t/T run to  </> slice  a axes  @ go to  % scale  "
            "z zoom  : command  ? help",
        ),
        (
            "graph",
            True,
            160,
            "n/N event  s/S visit  i/I contribution  c/C continue  f/F phase  t/T run to  o open  u/d select  "
            "v view  z zoom  : command  ? help",
        ),
        ("events", False, 80, "n/N event  s/S op  c/C cont  f/F block  t/T run to  o open  : cmd  ? help"),
    ],
)
def test_footers_read_like_this(panel: str, backward: bool, width: int, line: str) -> None:
    assert text(panel, backward, width) == line


@pytest.mark.parametrize("panel", PANELS)
def test_the_help_names_every_row_once_and_this_panel_first(panel: str) -> None:
    sections = help_sections(panel)
    assert sections[0][0] == "this panel"
    words = [entry.words for _, entries in sections for entry in entries]
    assert len(words) == len(set(words))
    for key in KEYS:
        assert any(key.help in line for line in words)


def test_neighbours_of_one_topic_share_an_entry() -> None:
    time = dict(help_sections("tensor"))["move in time"]
    assert [(entry.keys, entry.words) for entry in time[:1]] == [("n N", "event: next, previous")]
    assert ("10n 3C", "a count before these") in [(entry.keys, entry.words) for entry in time]


@pytest.mark.parametrize("key", LATER)
def test_a_key_kept_for_later_says_so_in_one_line(key: str) -> None:
    assert later(key).startswith(f"{key} is kept for ")
    assert len(later(key)) < 80


def test_a_row_makes_sense_alone() -> None:
    assert [sentence(BY_ACTION[name]) for name in ("next", "enlarge", "help", "count_3")] == [
        "event: next",
        "enlarge the panel",
        "keys and signs",
        "a count before these",
    ]
