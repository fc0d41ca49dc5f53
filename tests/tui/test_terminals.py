"""The real command at a real (pseudo-)terminal: which colours it writes in which environment, and what else."""

import base64
import re
import signal

import pytest

pytest.importorskip("termios", reason="pseudo-terminals are a thing of Unix")

import termios

from tests.tui.pseudo_terminal import terminal


def walk(at) -> None:
    """Steps, the help, the command line with its completions; each awaited."""
    at.await_written(b"all keys")
    before = at.type("3n")
    at.await_written(b"computed from", before)
    before = at.type("?")
    at.await_written(b"open or close a group", before)
    before = at.type("\x1b")
    at.await_written(b"attn.softmax", before)
    before = at.type(":rer")
    at.await_written(b"run again", before)
    before = at.type("\x1b")
    at.await_written(b"computed from", before)


@pytest.mark.parametrize(
    ("environ", "words", "colors"),
    [
        ({"COLORTERM": "truecolor"}, [], {"fg truecolor", "bg truecolor"}),
        ({"NO_COLOR": ""}, [], {"fg 256", "bg 256"}),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, [], set()),
        ({"COLORTERM": "truecolor"}, ["--color", "none", "--ascii"], set()),
        ({"NO_COLOR": "1"}, ["--color", "16", "--theme", "light"], {"fg 16", "bg 16"}),
    ],
    ids=str,
)
def test_no_colour_is_written_that_the_terminal_was_not_asked_for(sample, environ, words, colors):
    with terminal(str(sample), "--no-config", *words, **{"TERM": "xterm-256color", **environ}) as at:
        walk(at)
        assert at.quit() == 0
        assert at.colors == colors
        assert at.text.isascii() is ("--ascii" in words)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)]
)
def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(sample, number, code):
    with terminal(str(sample), "--no-config", TERM="xterm-256color") as at:
        before = termios.tcgetattr(at.descriptor)
        at.await_written(b"all keys")
        assert termios.tcgetattr(at.descriptor) != before
        at.process.send_signal(number)
        at.await_written(b"\x1b[?1006l")
        assert at.left() == code
        assert termios.tcgetattr(at.descriptor) == before
        for mode in (b"1049", b"1000", b"2004"):
            assert at.written.rfind(b"\x1b[?%sl" % mode) > at.written.rfind(b"\x1b[?%sh" % mode)


def test_ctrl_c_says_what_quits(sample):
    with terminal(str(sample), "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"all keys")
        before = at.type("\x03")
        at.await_written(b"stops what runs", before)
        assert at.quit() == 0


def test_it_copies_by_the_terminal_and_follows_its_size(sample):
    environ = {"TERM": "xterm-256color", "COLUMNS": "40", "LINES": "10"}
    with terminal(str(sample), "--no-config", "--no-mouse", **environ) as at:
        at.await_written(b"all keys")
        before = at.type("y")
        at.await_written(b"copied", before)
        (copied,) = re.findall(rb"\x1b\]52;c;([^\a]+)\a", at.written)
        assert base64.b64decode(copied).startswith(b"embed [11,0] ")
        before = at.resize(50, 10)
        at.await_written(b"60x18 is needed", before)
        before = at.resize(160, 45)
        at.await_written(b"layered", before)
        assert at.quit() == 0
        assert b"\x1b[?1000h" not in at.written


def test_a_terminal_without_a_cursor_gets_the_report(sample):
    with terminal(str(sample), "--no-config", TERM="dumb") as at:
        at.await_written(b"Inf 0")
        assert b"\x1b" not in at.written
