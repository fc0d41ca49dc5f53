"""What a program's fault shows of its traceback: frames, and no words of exceptions that look like them."""

import sys

import pytest

from glassllm.debug.ending import fault_of
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.screens.fault import frames_of, program_rows

INDENTED = "a child failed\n  Traceback (most recent call last):\nTraceback (most recent call last):\n    words"


def failing(message: str):
    raise ValueError(message)


def fault(raising, *args):
    try:
        raising(*args)
    except Exception as error:
        return fault_of(error)


def caused(message: str):
    try:
        failing(message)
    except ValueError as error:
        raise TypeError(message) from error


def grouped(message: str):
    try:
        caused(message)
    except TypeError as error:
        raise ExceptionGroup(message, [error]) from error


MESSAGES = ["", "one line", "two\nlines", "two\n  File of words"]


@pytest.mark.parametrize(
    ("raising", "frames", "message"),
    [
        (failing, 2, INDENTED),
        *((failing, 2, each) for each in MESSAGES),
        *((caused, 4, each) for each in MESSAGES),
    ],
)
def test_only_frames_are_shown(raising, frames, message):
    found = frames_of(fault(raising, message))
    assert len([line for line in found if line.startswith("  File ")]) == frames
    assert not any("words" in line or "lines" in line for line in found)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with 3.11")
def test_the_frames_of_a_group_are_shown_too():
    found = frames_of(fault(grouped, "two\n  lines"))
    assert any("in grouped" in line for line in found) and any("in caused" in line for line in found)
    assert not any("lines" in line for line in found)


@pytest.mark.parametrize("height", [18, 24, 60])
def test_rows_fit(height):
    rows = program_rows(fault(caused, INDENTED * 9), 76, height, Palette())
    assert len(rows) <= height and {row_width(row) for row in rows} == {76}
