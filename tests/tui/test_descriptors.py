"""A program whose child processes print and read, at a real terminal: screen and keys are nobody else's."""

import os

import pytest

pytest.importorskip("termios", reason="pseudo-terminals are a thing of Unix")

import termios

from tests.tui.pseudo_terminal import terminal

HEAD = "import os, subprocess\nfrom glassllm import Tensor\nx = Tensor([1.0, 2.0], requires_grad=True)\n"


@pytest.fixture
def program(tmp_path):
    """`program(text)` is the path of a program."""

    def made(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(HEAD + text)
        return str(path)

    return made


def test_what_children_print_stands_in_the_log_and_not_on_the_screen(program):
    path = program("subprocess.run(['echo', 'a', 'child'])\nos.system('cat; echo went on >&2')\n(x * x).sum()\n")
    with terminal(path, "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"2 lines printed")
        assert b"a child" not in at.written and b"went on" not in at.written
        before = at.type("L")
        at.await_written(b"a child", before)
        at.await_written(b"went on", before)
        at.type("L")
        assert at.quit() == 0


def test_the_screen_follows_its_size_while_a_program_runs_and_quitting_does_not_wait_for_it(program):
    path = program(
        "(x * x).sum()\nos.write(1, b'quiet')\n"
        "nothing, held = os.pipe()\nsubprocess.run(['cat'], stdin=nothing)\n"  # ends with the program
    )
    with terminal(path, "--no-config", TERM="xterm-256color") as at:
        before = termios.tcgetattr(at.descriptor)
        at.await_written(b"esc stops")
        written = at.resize(100, 30)
        at.await_written(b"\x1b[30;", written)
        at.type("q")
        assert at.left() == 0
        assert termios.tcgetattr(at.descriptor) == before
        assert b"quiet" not in at.written


def test_a_signal_for_a_forked_child_is_the_child_s_alone(program):
    path = program(
        "import signal\n(x * x).sum()\n"
        "for _ in range(5):\n"
        "    if not (child := os.fork()):\n        signal.pause()\n        os._exit(9)\n"
        "    os.kill(child, signal.SIGTERM)\n"
        "    print('ended by', -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    with terminal(path, "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"5 lines printed")
        before = at.type("L")
        at.await_written(b"ended by 15", before)
        at.type("L")
        assert at.quit() == 0


def test_quitting_does_not_wait_for_the_processes_of_a_program_that_runs(program):
    path = program(
        "import multiprocessing, time\n"
        "for i in range(1000):\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        pool.map(abs, [i])\n        x * x\n"
    )
    with terminal(path, "--no-config", TERM="xterm-256color") as at:
        at.await_written(b"20 ops")
        assert at.quit() == 0


def test_errors_may_go_elsewhere(sample, tmp_path):
    log = os.open(tmp_path / "errors", os.O_CREAT | os.O_WRONLY)
    with terminal(str(sample), "--no-config", stderr=log, TERM="xterm-256color") as at:
        os.close(log)
        at.await_written(b"all keys")
        assert at.quit() == 0
    assert (tmp_path / "errors").read_text() == ""
