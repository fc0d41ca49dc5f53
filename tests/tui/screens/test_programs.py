"""A user's program on the screen: what it was stopped by, what it printed, where its nodes were made."""

import re
from pathlib import Path

import pytest

from tests.tui.driving import has_opened, press, row, send, settled, started, text, wait_for
from tui.app import GlassApp
from tui.cli import settle_threads
from tui.screens import loading
from tui.screens.listing import LogScreen
from tui.screens.loading import LoadingScreen
from tui.screens.source import SourceScreen

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
HEAD = """
import sys
import numpy as np
from glassllm import Tensor
x = Tensor(np.array([[1.0, -2.0]]), requires_grad=True)
"""


@pytest.fixture
def write(tmp_path):
    """`write(text)` makes a program of it."""

    def made(text, name="program.py"):
        path = tmp_path / name
        path.write_text(HEAD + text)
        return path

    return made


async def test_the_last_step_of_a_training_is_stepped_forward_and_back():
    async with started(SAMPLES / "two_layer.py", (160, 45)) as pilot:
        assert re.search(r"two_layer\.py .* 1/8   node 1/8   loss \d\.\d+e−4   grad tracked", row(pilot, 0))
        assert "run 300 of 300  5 lines printed" in row(pilot, -2)
        await press(pilot, "c c")
        assert "backward 1" in row(pilot, 0)
        await press(pilot, "c")
        assert "4 of 4" in text(pilot) and "w.W1" in text(pilot)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_w_shows_the_line_that_made_the_selection(size):
    path = SAMPLES / "two_layer.py"
    async with started(path, size) as pilot:
        await press(pilot, "n n w")
        assert isinstance(pilot.app.screen, SourceScreen)
        (marked,) = [line for line in text(pilot).splitlines() if re.search(r"▶ +\d+  ", line)]
        number = int(re.search(r"▶ +(\d+)  ", marked)[1])
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[number - 1].strip().startswith('h = tanh(x @ w["W1"]')
        assert lines[number - 1].strip() in marked
        assert f"two_layer.py:{number}  predict   tanh made at this line" in text(pilot)
        await press(pilot, "k k k G g")
        assert '1  """Fit a sine with two layers' in text(pilot)
        await press(pilot, "w")
        assert not isinstance(pilot.app.screen, SourceScreen)


async def test_the_rails_say_where_a_node_was_made(write):
    async with started(write("y = x * 2\nz = y.sum()\n"), (160, 45)) as pilot:
        await press(pilot, "n tab v")
        assert re.search(r"made at +program\.py:7  <module>", text(pilot))


async def test_between_the_library_s_line_and_the_caller_s_one_goes_with_u_and_d(write):
    program = (
        "from glassllm import Config, GlassLM\n"
        "model = GlassLM(Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=4))\n"
        "model.loss([1, 2], [2, 3]).backward()\n"
    )
    async with started(write(program)) as pilot:
        await press(pilot, "n n w")
        assert "nn.py:" in text(pilot) and "caller, callee  1/2" in text(pilot)
        await press(pilot, "u")
        assert "program.py:8  <module>   led to" in text(pilot) and "2/2" in text(pilot)
        assert re.search(r"▶ +8  model\.loss", text(pilot))
        await press(pilot, "u d")
        assert "nn.py:" in text(pilot)


async def test_a_file_that_is_gone_is_said(write, monkeypatch):
    import linecache

    path = write("y = x * 2\n")
    async with started(path) as pilot:
        path.unlink()
        monkeypatch.setattr(linecache, "cache", {})
        await press(pilot, "w")
        assert "cannot be read: No such file" in text(pilot)


async def test_L_shows_what_was_printed_and_said_with_signs_for_control_characters(write):
    program = (
        "print('\\x1b[31mred')\nprint('warned', file=sys.stderr)\ny = x * 2\nfor i in range(60):\n    print(i)\n"
    )
    async with started(write(program), (80, 24)) as pilot:
        await press(pilot, "s L")
        assert isinstance(pilot.app.screen, LogScreen)
        shown = text(pilot)
        assert "log  62 lines printed" in shown and "65/65" in shown, "the newest are in sight"
        await press(pilot, "g")
        assert re.search(r" 1       ␛\[31mred", text(pilot)) and re.search(r" 2  err  warned", text(pilot))
        assert "\x1b" not in text(pilot)
        await press(pilot, "pagedown pageup G end home escape")
        assert not isinstance(pilot.app.screen, LogScreen)


async def test_the_log_of_a_model_is_what_was_said(sample):
    async with started(sample) as pilot:
        await press(pilot, "n L")
        assert "log  nothing was printed" in text(pilot) and "norm.attn" in text(pilot)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_an_exception_is_shown_and_what_was_recorded_can_be_browsed(write, size):
    program = "def step(h):\n    return h @ np.ones((3, 3))\n\ny = x * 2\nz = step(y)\n"
    async with started(write(program), size) as pilot:
        shown = text(pilot)
        assert "✗ ValueError   ended the program" in shown and "everything recorded until then" in shown
        assert 'program.py", line 7, in step' in shown.replace("\n", "") and "return h @ np.ones((3, 3))" in shown
        assert "autograd" not in shown and "script.py" not in shown
        await press(pilot, "escape")
        assert "forward 1/1" in row(pilot, 0) and "stopped by ValueError" in row(pilot, -2)
        await press(pilot, "L")
        assert "Traceback (most recent call last):" in text(pilot)


async def test_a_loop_without_end_is_stopped_at_its_next_op(write):
    settle_threads()
    app = GlassApp(write("while True:\n    (x * 2).sum().backward()\n"), colors="truecolor")
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: re.search(r"run \d*[^1\D] +[\d\s]+ ops", row(pilot, 0)), "a later run")
        assert isinstance(app.screen, LoadingScreen) and "esc stops" in row(pilot, 0)
        send(pilot, "escape")
        await wait_for(pilot, lambda: has_opened(app), "what was recorded")
        await settled(pilot)
        assert re.search(r"run \d+ of \d+  stopped after op \d+", row(pilot, -2))
        await press(pilot, "c c")
        assert "backward" in row(pilot, 0)


async def test_a_graph_that_takes_time_to_open_is_opened_when_it_was_stopped(write):
    settle_threads()
    app = GlassApp(write("y = x\nwhile True:\n    y = y + x\n"), colors="truecolor")

    def ops() -> int:
        found = re.search(r"run 1 +([\d\s]+) ops", row(pilot, 0))
        return int(re.sub(r"\s", "", found[1])) if found else 0

    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: ops() > 6000, "some thousands of ops")
        send(pilot, "escape")
        await wait_for(pilot, lambda: has_opened(app), "what was recorded")
        await settled(pilot)
        assert re.search(r"stopped after op \d{4,}", row(pilot, -2))
        assert pilot.app.debugger.snapshot.run.nodes > 6000


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("print('x')", "program.py: no op was applied to a Tensor from beginning to end; 1 line printed"),
        ("1 / 0", "program.py: no op was applied to a Tensor before; stopped by ZeroDivisionError"),
        ("x = (", "program.py:6: SyntaxError: '(' was never closed"),
    ],
)
async def test_where_there_is_nothing_to_show_the_program_is_left_with_one_line(write, program, line):
    app = GlassApp(write(program))
    async with app.run_test() as pilot:
        await wait_for(pilot, lambda: app.return_code is not None, "the end")
    assert app.return_code == 2 and line in app.refusal and "\n" not in app.refusal


async def test_r_runs_the_program_again_as_it_is_now(write):
    path = write("y = (x * 2).sum()\ny.backward()\n")
    async with started(path) as pilot:
        assert "node 1/2" in row(pilot, 0)
        write("y = ((x * 2) + 1).sum()\ny.backward()\n1 / 0\n")
        await press(pilot, "r")
        assert "ZeroDivisionError" in text(pilot)
        await press(pilot, "escape")
        assert "ran again  3 nodes, loss 0 " in row(pilot, -2)


async def test_arguments_and_root_reach_the_program(write):
    program = "early = x * float(sys.argv[1])\nlate = early.sum()\nlate.backward()\n"
    async with started(write(program), arguments=["3"], root="early") as pilot:
        assert "3" in text(pilot)
        await press(pilot, "c c")
        assert pilot.app.debugger.snapshot.tape.rows[pilot.app.debugger.snapshot.tape.default_root].name == "mul"


async def test_what_no_op_follows_is_not_said_to_be_stopped_by_esc(write, monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "QUIET_AFTER", 0.01)
    settle_threads()
    go_on = tmp_path / "go on"
    app = GlassApp(write(f"import os\nx * 2\nwhile not os.path.exists({str(go_on)!r}):\n    pass\n"))
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: "run 1   1 op, none of late   q quits" in row(pilot, 0), "that it is silent")
        send(pilot, "escape")
        await wait_for(pilot, lambda: "1 op   stops at the next op   q quits" in row(pilot, 0), "what esc does")
        go_on.touch()
        await wait_for(pilot, lambda: has_opened(app), "what was recorded")


async def test_a_long_line_of_the_log_is_read_to_its_end(write):
    async with started(write("print('begin' + 'x' * 500 + 'END')\ny = x * 2\n"), (80, 24)) as pilot:
        await press(pilot, "L g")
        assert "begin" in text(pilot) and "END" not in text(pilot) and "← → sideways" in text(pilot)
        await press(pilot, "l" * 20)
        assert "END" in text(pilot)
        await press(pilot, "h" * 20)
        assert "begin" in text(pilot)


async def test_the_list_s_head_says_what_its_lines_are(write, sample):
    async with started(write("y = x * 2\n")) as pilot:
        assert row(pilot, 3).split()[0] == "op"
    async with started(sample) as pilot:
        assert row(pilot, 3).split()[0] == "event"
