"""What comes from the terminal becomes text, whatever it is and in whatever pieces it comes."""

import pytest

pytest.importorskip("termios", reason="pseudo-terminals are a thing of Unix")

from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser

from tests.tui.pseudo_terminal import terminal
from tui.keyboard import END, START, Intake, plain, understood


def pasted(text: str) -> bytes:
    return f"{START}{text}{END}".encode()


def taken(*pieces: bytes) -> str:
    intake = Intake()
    return "".join(intake.take(piece) for piece in pieces)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a fox\nnamed\tPip", "a fox\nnamed\tPip"),
        ("\x1b[31mred\x1b[0m and \x1b[1;38;5;9mloud", "red and loud"),
        ("\x1b]0;a title\x07b\x1b]8;;x\x1b\\c", "bc"),
        ("a\x1b", "a"),
        ("\x1b[", ""),
        ("\x00a\x07\x7f\x9bb\r\n", "ab\r\n"),
        ("größer ▁ 狐", "größer ▁ 狐"),
    ],
)
def test_pasted_text_is_plain(text, left):
    assert plain(text) == left
    assert taken(pasted(text)) == START + left + END


def test_keys_come_as_they_are_typed_and_pasted_text_when_it_is_complete():
    intake = Intake()
    assert intake.take(b"\x1b") == "\x1b"
    assert intake.take(b"[A n") == "[A n"
    assert intake.take(START.encode() + b"q") == START
    assert intake.take(b"q\x1b[201") == ""
    assert intake.take(b"~n") == "qq" + END + "n"


def test_bytes_that_are_no_text_are_replaced():
    assert taken(b"\xff\xfen\xc3") == "\ufffd\ufffdn"
    assert taken(b"\xc3", b"\xa4") == "ä"


@pytest.mark.parametrize(
    "unknown",
    [
        "\x1b[99~",
        "\x1b[?1;2c",
        "\x1b[>41;330;0c",
        "\x1b[0n",
        "\x1b[4;2;7Z",
        "\x1b[9999999999;1u",
        "\x1b[1 q",
        "\x1b[113~",
        "\x1b[100;5~",
    ],
)
def test_a_sequence_that_means_nothing_is_no_key(unknown):
    assert understood(unknown) == ""
    assert understood(f"n\x1b[A{unknown}s\x1b") == "n\x1b[As\x1b"


@pytest.mark.parametrize(
    "keys",
    [
        *(
            "n",
            "\x1b",
            "\x1b\x1b",
            "\x1bOP",
            "\x1bOqq",
            "\x1b[",
            "\x1b[9",
            "\x1b[A",
            "\x1b[1;5C",
            "\x1b[3~",
        ),
        *("\x1b[15~", "\x1b[24;2~", "\x1b[57;5u", "\x1b[[A", "\x1b[Z", "\x1b[I", "\x1b[O", "\x1b[97;5u"),
        *("\x1b[<0;3;4M", "\x1b[<0;3;4m", "\x1b[M abc", "\x1b[12;5R", "\x1b[?2026;1$y"),
        *("\x1b[48;24;80;480;800t", f"{START}[99~{END}"),
    ],
)
def test_keys_and_reports_that_mean_something_stay(keys):
    assert understood(keys) == keys


@pytest.mark.parametrize("typed", ["n", "N", ":", "10n", "é", "/a", "\x1bn", "n\x1b[A"])
def test_an_escape_key_with_another_behind_it_is_both(typed):
    def keys(text):
        return [event.key for event in XTermParser().feed(understood(text))]

    assert keys(f"\x1b{typed}") == ["escape", *keys(typed)]


@given(st.binary(max_size=60) | st.text(max_size=20).map(pasted), st.integers(0, 60))
def test_where_a_piece_ends_makes_no_difference(data, cut):
    assert taken(data) == taken(data[:cut], data[cut:])


def test_the_program_goes_on_after_any_bytes_and_pasted_text_is_no_key(sample):
    with terminal(str(sample), "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"all keys")
        before = at.send(b"\xff\xfe\x00\x1b[M\xff\xff\xff\x1b[<0;999;999M" + pasted("a \x1b[31mq q\nq") + b"n")
        at.await_written(b"computed from", before)
        before = at.send(b"\x1b[99~\x1b[?1;2cn")
        at.await_written(b"attn.q reshape", before)
        before = at.send(b":" + pasted("text a \x1b[31mfox\x1b[0m named Pip\n") + b"\r")
        at.await_written(b"ran again", before)
        assert at.quit() == 0


def test_the_program_ends_with_its_terminal(sample):
    with terminal(str(sample), "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"all keys")
        at.hang_up()
        assert at.process.wait(20) is not None
