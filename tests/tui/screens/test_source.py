"""Files that are shown around a line: whatever a recording names, something is said at once."""

import os

import pytest

from glassllm.debug.snapshot import Origin
from tui.screens import source
from tui.screens.source import read, source_listing


def listing(file, line=2):
    return source_listing("mul", [Origin(str(file), line, "f")], "made at", 0)


def test_a_file_around_its_line(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\r\ntwo\nthree")
    found = listing(path)
    assert list(found.lines) == ["one", "two", "three"] and found.marked == 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "cannot be read: No such file"),
        (lambda path: path.mkdir(), "is no regular file"),
        (lambda path: os.mkfifo(path), "is no regular file"),
        (lambda path: path.write_bytes(b"\xff\n\xfe\n"), "cannot be read"),
        (lambda path: path.write_text(""), "cannot be read"),
        (lambda path: path.write_text("one\n"), "has no line 2 any more"),
    ],
)
def test_what_cannot_be_shown_is_said(tmp_path, make, said):
    path = tmp_path / "a.py"
    make(path)
    found = listing(path)
    assert not found.lines and found.said.startswith(f"{path} {said}")


def test_a_name_that_no_file_can_have():
    assert read("a\0b")[1].startswith("cannot be read")


def test_a_long_file_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "LARGEST", 3)
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    assert "longer than" in listing(path, 1).said


def test_where_nothing_is_known_it_says_so():
    assert "does not say which line made mul" in source_listing("mul", (), "made at", 0).said
