"""What child processes and libraries in C print while a program runs, and where it goes when it has ended."""

import ctypes
import io
import os
import subprocess
import sys

import pytest

from glassllm.debug import descriptors
from glassllm.debug.descriptors import apart, captured
from glassllm.debug.output import Output

pytestmark = pytest.mark.skipif(not descriptors.HAS_PIPES, reason="descriptors stay as they are there")


def shell(command: str) -> None:
    subprocess.run(command, shell=True, check=True)


def fork_and_print(output: Output) -> None:
    if not (child := os.fork()):
        output.write("out", "from a fork\n")
        os._exit(0)
    os.waitpid(child, 0)


def puts(_: Output) -> None:
    """C holds it back, as descriptor 1 is no terminal."""
    ctypes.CDLL(None).puts(b"from C")


WAYS = {
    "a child": (lambda _: shell("echo from a child"), [("out", "from a child")]),
    "a child's stderr": (lambda _: shell("echo to stderr >&2"), [("err", "to stderr")]),
    "a descriptor": (lambda _: os.write(1, b"bytes \xff\n"), [("out", "bytes �")]),
    "a fork": (fork_and_print, [("out", "from a fork")]),
    "C": (puts, [("out", "from C")]),
    "the first stdout": (lambda _: print("first", file=sys.__stdout__), [("out", "first")]),
    "a child that reads": (lambda _: shell("cat; echo end"), [("out", "end")]),
    "nothing": (lambda _: None, []),
}


@pytest.mark.parametrize(("way", "expected"), WAYS.values(), ids=WAYS)
def test_whatever_is_printed_inside_is_of_the_output(capfd, way, expected):
    output = Output()
    with captured(output):
        way(output)
    assert [(line.stream, line.text) for line in output.lines] == expected
    os.write(1, b"after\n")
    assert capfd.readouterr() == ("after\n", ""), "and nothing of it came here"


def test_what_children_print_stands_in_order_with_what_python_does():
    output = Output()
    with captured(output):
        for i in range(20):
            output.write("out", f"python {i}\n")
            shell(f"echo child {i}")
    told = [f"{who} {i}" for i in range(20) for who in ("python", "child")]
    assert [line.text for line in output.lines] == told


def test_more_than_a_pipe_holds_is_taken_while_the_program_waits():
    output = Output()
    with captured(output):
        shell("seq 1000000")
    assert output.count == 1_000_000 and output.lines[-1].text == "1000000"


STANDING = """
import os, threading
from glassllm.debug.descriptors import captured
from glassllm.debug.output import Output

def standing():
    return [(os.fstat(n).st_dev, os.fstat(n).st_ino) for n in (0, 1, 2)], os.listdir("/dev/fd")

before = standing()
with captured(Output()):
    assert standing()[0] != before[0]
    os.close(1)  # a program may do anything
for thread in [t for t in threading.enumerate() if t.name == "output"]:
    thread.join()
assert standing() == before, (before, standing())
"""


def test_descriptors_and_threads_are_as_they_were():
    """In a process of its own, where nobody else opens and closes any."""
    subprocess.run([sys.executable, "-c", STANDING], check=True, timeout=60)


def test_what_a_child_prints_later_is_let_go():
    output = Output()
    with captured(output):
        child = subprocess.Popen("read line; echo late; echo later", shell=True, stdin=subprocess.PIPE)
    child.communicate(b"\n", timeout=10)
    assert (child.returncode, output.lines) == (0, ())
    output.write("out", "later still")
    assert output.lines == ()


def test_where_a_descriptor_is_closed_all_stay_as_they_are():
    code = (
        "import os; os.close(0)\n"
        "from glassllm.debug.descriptors import captured\n"
        "from glassllm.debug.output import Output\n"
        "with captured(Output()): os.write(1, b'here')\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (out.stdout, out.stderr) == (b"here", b"")


def test_an_echo_is_not_turned_with_the_descriptor_it_is_for(capfd):
    with apart(sys.__stderr__) as echo, captured(output := Output(echo)):
        shell("echo child")
        output.write("out", "python")
    assert capfd.readouterr() == ("", "child\npython")


def test_a_stream_without_a_descriptor_is_itself():
    for stream in (io.StringIO(), None):
        with apart(stream) as own:
            assert own is stream
