"""What is printed, as lines."""

import io

import pytest

from glassllm.debug.output import LONGEST, MOST_LINES, Output, split


def lines(output):
    return [(line.stream, line.text) for line in output.lines]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["a\nb\n"], ["a", "b"]),
        (["a", "b\n", "c"], ["ab", "c"]),
        (["\n\n"], ["", ""]),
        (["a\r\nb\r\n"], ["a", "b"]),
        (["a\r", "\nb"], ["a", "b"]),
        (["10%\r", "20%\r", "99%\r", "done\n"], ["done"]),
        (["10%\r20%"], ["20%"]),
        (["\x1b[31mred\x1b[0m\n"], ["\x1b[31mred\x1b[0m"]),
        (["x" * (LONGEST + 5) + "\n"], ["x" * LONGEST + "…"]),
        (["日本\n"], ["日本"]),
    ],
)
def test_pieces_become_lines(pieces, expected):
    output = Output()
    for piece in pieces:
        output.write("out", piece)
    assert [line.text for line in output.lines] == expected


def test_both_streams_stand_in_one_order():
    output = Output()
    out, err = output.stream("out"), output.stream("err")
    print("a", file=out)
    print("begun", end="", file=out)
    print("b", file=err)
    print("c", file=out)
    assert lines(output) == [("out", "a"), ("out", "begun"), ("err", "b"), ("out", "c")]


def test_a_stream_takes_bytes_and_anything_printable():
    output = Output()
    stream = output.stream("out")
    stream.buffer.write("é\n".encode()[:1])
    stream.buffer.write("é\n".encode()[1:])
    stream.buffer.write(b"\xff\n")
    print("\udc80", file=stream)
    assert [line.text for line in output.lines] == ["é", "�", "\\udc80"]
    assert stream.writable() and not stream.isatty() and stream.encoding == "utf-8"


def test_only_the_newest_lines_are_kept():
    output = Output()
    output.write("out", "".join(f"{i}\n" for i in range(MOST_LINES + 5)))
    assert output.count == MOST_LINES + 5 and len(output.lines) == MOST_LINES + 1
    assert lines(output)[:2] == [("err", "… 5 earlier lines not kept"), ("out", "5")]
    assert split(output.lines) == (5, output.lines[1:])


def test_a_line_without_an_end_is_counted():
    output = Output()
    output.write("out", "a\nb")
    assert output.count == len(output.lines) == 2
    assert split(output.lines) == (0, output.lines)


def test_a_line_without_an_end_does_not_grow():
    output = Output()
    for _ in range(100):
        output.write("out", "x" * 1000)
    assert [len(line.text) for line in output.lines] == [LONGEST]


def test_everything_goes_to_the_echo_as_it_was():
    echo = io.StringIO()
    output = Output(echo)
    output.write("out", "a\r")
    output.write("err", "b")
    assert echo.getvalue() == "a\rb"
