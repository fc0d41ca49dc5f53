"""Programs at the shell: whose an argument is, what is printed where, and the exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tui import cli

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from glassllm import Tensor
x = Tensor([1.0, 2.0], requires_grad=True)
print('said', sys.argv[1:])
y = (x * 3).sum()
y.backward()
"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    (tmp_path / "p.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("p.py", []),
        ("p.py a b", ["a", "b"]),
        ("p.py --steps 3 -v data.txt", ["--steps", "3", "-v", "data.txt"]),
        ("--report p.py a", ["a"]),
        ("p.py a --report b", ["a", "b"]),
        ("p.py a -- --report -- b", ["a", "--report", "--", "b"]),
        ("p.py -5", ["-5"]),
        ("p.py --root y a", ["a"]),
    ],
)
def test_what_is_not_the_command_s_is_the_program_s(words, arguments):
    options = cli.parser().parse(words.split())
    assert (options.path, options.arguments) == ("p.py", arguments)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("p.py --text abc", "--text and --ids are for models; "),
        ("--root y", "--root names a variable of a program; "),
        ("m.npz --root y", "--root names a variable of a program; "),
        ("none.py", "none.py: no such file; "),
        ("p.py --root z", "p.py: --root z: no variable holds such a Tensor; there is y"),
        ("m.npz --steps", "--steps: not understood; "),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(capsys, words, line):
    with pytest.raises(SystemExit) as left:
        cli.main([*words.split(), "--report"])
    out, err = capsys.readouterr()
    last = err.splitlines()[-1]
    assert left.value.code == 2 and out == "" and last.startswith(f"glassllm-tui: {line}")


def test_the_report_alone_goes_to_stdout(capsys):
    assert cli.main(["p.py", "a", "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert (data["name"], data["loss"], data["root"]) == ("p.py", 9, "tsum")
    assert [(leaf["name"], leaf["grad_stats"]["max"]) for leaf in data["gradients"]] == [("x", 3)]
    assert err == "said ['a']\n"
    assert cli.main(["--report", "p.py"]) == 0
    assert "gradients of tsum" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("end", "code", "note"),
    [("sys.exit(5)", 5, "exit code 5"), ("1 / 0", 1, "stopped by ZeroDivisionError: division by zero after op 2")],
)
def test_the_exit_code_is_the_program_s_and_the_report_comes_all_the_same(tmp_path, capsys, end, code, note):
    (tmp_path / "p.py").write_text(f"{PROGRAM}{end}\n")
    assert cli.main(["p.py", "--report"]) == code
    out, err = capsys.readouterr()
    assert note in out and "gradients of tsum" in out
    assert ("Traceback" in err) == (code == 1) and "glassllm" not in err


def reported(path):
    """What the command reports of a program, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tui.cli", path, "--report"],
        env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_thread_that_never_ends_is_not_waited_for(tmp_path):
    (tmp_path / "p.py").write_text(
        f"{PROGRAM}import threading\nthreading.Thread(target=threading.Event().wait).start()\n"
    )
    done = reported("p.py")
    assert done.returncode == 0
    assert "1 thread of it still running" in done.stdout and "gradients of tsum" in done.stdout


@pytest.mark.parametrize(("end", "code"), [("", 2), ("os.kill(os.getpid(), 2)", 130)], ids=["refused", "ctrl+c"])
def test_nor_is_it_where_there_is_nothing_to_report(tmp_path, end, code):
    (tmp_path / "p.py").write_text(
        f"import os, threading\nthreading.Thread(target=threading.Event().wait).start()\n{end}\n"
    )
    done = reported("p.py")
    assert (done.returncode, done.stdout) == (code, "")


def test_ctrl_c_stops_program_and_command(tmp_path):
    (tmp_path / "p.py").write_text(
        "from glassllm import Tensor\nTensor(1.0) * 2\nimport os\nos.kill(os.getpid(), 2)\n"
    )
    done = reported("p.py")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_picture_of_a_program(tmp_path, capsys):
    assert cli.main(["p.py", "--screenshot", "x.txt", "--size", "80x24", "--keys", "c c"]) == 0
    assert "backward" in (tmp_path / "x.txt").read_text(encoding="utf-8")
    assert capsys.readouterr() == ("", "")
