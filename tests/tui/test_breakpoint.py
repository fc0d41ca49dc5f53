"""`tui.debug` called from a program: on a terminal of its own, without one, and where it cannot open."""

import asyncio
import os
import re
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tui
from glassllm import Tensor, no_grad
from glassllm.autograd import tensor as engine
from glassllm.debug import record
from tui import breakpoint as breakpoints

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30.0

PROGRAM = """
import os, sys, threading
import numpy as np
import tui
from glassllm import Tensor, no_grad
from glassllm.autograd import tensor

def step(w):
    loss = (w * w).sum()
    with no_grad():
        tui.debug(loss)
        assert not tensor.tracking
    return loss

w = Tensor(np.array([3.0, 4.0]), requires_grad=True)
before = dict(os.environ), sys.getswitchinterval(), sys.stdout
step(w).backward()
assert before == (dict(os.environ), sys.getswitchinterval(), sys.stdout)
assert threading.active_count() <= 2, threading.enumerate()
print("went on with", w.grad)
"""

pty = pytest.importorskip("pty", reason="needs a terminal that is none")


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *words):
        self.main, theirs = pty.openpty()
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            "LINES": "30",
        }
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)
        self.shown = b""

    def until(self, text):
        """Read until this has been shown."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.plain():
            assert time.monotonic() < deadline, f"{text} never came:\n{self.plain()}"
            assert self.read(), f"{text} never came, the program ended:\n{self.plain()}"

    def plain(self):
        return re.sub(r"\x1b\[[0-9;?<>=]*[A-Za-z]", "", self.shown.decode("utf-8", "replace"))

    def read(self):
        """One piece; False at the end."""
        if not select.select([self.main], [], [], PATIENCE)[0]:
            return False
        try:
            piece = os.read(self.main, 1 << 16)
        except OSError:  # the other side has been closed
            return False
        self.shown += piece
        return bool(piece)

    def type(self, keys):
        os.write(self.main, keys.encode())

    def close(self):
        while self.read():
            pass
        os.close(self.main)
        return self.process.wait(PATIENCE)


def test_it_opens_on_the_graph_takes_keys_and_lets_the_program_go_on(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    terminal = Terminal(path)
    terminal.until("forward 1/2")
    assert "train.py:11" in terminal.plain()
    terminal.type("cc")
    terminal.until("backward")
    terminal.type("q")
    terminal.until("went on with [6. 8.]")
    assert terminal.close() == 0


def test_without_a_terminal_the_report_goes_to_stderr(capsys):
    weight = Tensor(np.array([3.0, 4.0]), requires_grad=True)
    loss = (weight * weight).sum()
    with no_grad():
        tui.debug(loss)
        assert not engine.tracking
    out, err = capsys.readouterr()
    assert out == "" and weight.grad is None
    assert "no terminal to open in, so here is the report" in err
    assert re.search(r"weight +2 +5 +10 ", err) and "loss 25.0000" in err


def test_a_recording_is_opened_too(capsys):
    w = Tensor([3.0], requires_grad=True)
    with record() as tape:
        w * 2
    tui.debug(tape)
    assert "gradients of mul" in capsys.readouterr().err


@pytest.fixture
def at_a_terminal(monkeypatch):
    monkeypatch.setattr(breakpoints, "has_terminal", lambda: True)


@pytest.fixture
def loss():
    return Tensor([3.0], requires_grad=True) * 2


async def test_inside_an_event_loop_it_says_what_to_do(loss):
    assert asyncio.get_running_loop()
    with pytest.raises(RuntimeError, match=r"running event loop .*; call it from plain code, or .*glassllm-tui"):
        tui.debug(loss)


def test_in_another_thread_it_says_so(at_a_terminal, loss):
    raised = []

    def call():
        with pytest.raises(RuntimeError, match="another thread than the main one"):
            tui.debug(loss)
        raised.append(True)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert raised and (engine.tracking, engine.hook) == (True, None)


@pytest.mark.parametrize(
    ("made", "kind", "words"),
    [
        (3, TypeError, "takes a Tensor, or the tape of record.., not int"),
        (np.ones(2), TypeError, "not ndarray"),
        (Tensor([1.0], requires_grad=True), ValueError, "no graph behind it"),
    ],
)
def test_what_has_no_graph_is_refused(made, kind, words):
    with pytest.raises(kind, match=words):
        tui.debug(made)


def test_an_empty_recording_is_refused():
    with record() as tape:
        pass
    with pytest.raises(ValueError, match="nothing was recorded"):
        tui.debug(tape)
