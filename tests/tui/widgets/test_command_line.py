"""Completions: which commands they are, and how they are drawn."""

import pytest

from glassllm.debug.commands import COMMANDS
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.widgets.command_line import MOST_COMPLETIONS, completion_rows, matching

PALETTE = Palette()


def names(text):
    return [command.name for command in matching(text, COMMANDS)]


def lines(found, chosen=0, width=80):
    return ["".join(s.text for s in row).rstrip() for row in completion_rows(found, chosen, width, PALETTE)]


def test_what_the_first_word_begins():
    assert names("con") == ["consumer", "continue", "continue-back", "contribution", "contribution-back"]
    assert names("  zer") == ["zero-grad"]
    assert names("") == sorted(COMMANDS)
    assert names("nope") == names("next 5") == names("next ") == []


def test_each_has_its_arguments_and_what_it_does():
    head, first, *_ = lines(matching("te", COMMANDS))
    assert head.split() == ["commands", "1"]
    assert first.startswith(" ▸ text TEXT")
    assert first.endswith("run other text")


@pytest.mark.parametrize("chosen", [0, 4, 11, len(COMMANDS) - 1])
def test_the_chosen_one_is_always_among_the_rows_shown(chosen):
    found = matching("", COMMANDS)
    shown = lines(found, chosen)
    assert len(shown) == MOST_COMPLETIONS
    marked = [line for line in shown if line.startswith(" ▸")]
    assert [line.split()[1] for line in marked] == [found[chosen].name]


def test_nothing_found_is_no_row():
    assert completion_rows([], 0, 80, PALETTE) == []


def test_rows_are_as_wide_as_asked():
    for width in range(40, 201, 5):
        assert {row_width(row) for row in completion_rows(matching("", COMMANDS), 3, width, PALETTE)} == {width}
