"""A user's program, run and recorded: however it ends, what is kept and what is said."""

from pathlib import Path

import pytest

from glassllm.checkpoint import CheckpointError
from glassllm.debug import script as scripts
from glassllm.debug.script import Script
from glassllm.debug.snapshot import CommandError
from tests.glassllm.debug.script.program import HEAD, ops, printed

ENDS = {
    "runs out": ("(x * 2).sum().backward()", 0, ()),
    "sys.exit()": ("(x * 2).sum().backward(); sys.exit()", 0, ()),
    "sys.exit(0)": ("(x * 2).sum().backward(); sys.exit(0)", 0, ()),
    "sys.exit(3)": ("(x * 2).sum().backward(); sys.exit(3)", 3, ("exit code 3",)),
    "os._exit(3)": ("(x * 2).sum().backward(); import os; os._exit(3)", 3, ("exit code 3",)),
    "os._exit in a child": (
        "(x * 2).sum().backward()\nimport os\nchild = os.fork() or os._exit(3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
        0,
        ("1 line printed",),
    ),
    "sys.exit(words)": (
        "(x * 2).sum().backward(); sys.exit('no more')",
        1,
        ("it left with the words no more", "1 line printed"),
    ),
    "quit()": ("(x * 2).sum().backward(); raise SystemExit", 0, ()),
    "raise": (
        "(x * 2).sum().backward(); 1 / 0",
        1,
        ("stopped by ZeroDivisionError: division by zero after op 2",),
    ),
    "no Exception at all": (
        "(x * 2).sum().backward(); raise GeneratorExit",
        1,
        ("stopped by GeneratorExit after op 2",),
    ),
}


@pytest.mark.parametrize(("text", "code", "notes"), ENDS.values(), ids=ENDS)
def test_every_end_is_said_and_opens_what_was_recorded(record, text, code, notes):
    tape, facts = record(text)
    assert facts.exit_code == code
    assert facts.notes[: len(notes)] == notes
    assert ops(tape) == ["mul", "tsum"]
    assert (facts.fault is None) == (not any(note.startswith("stopped") for note in notes))
    assert facts.loss == -2


def test_an_exception_opens_the_run_it_broke_off_and_shows_the_user_s_lines_only(record):
    tape, facts = record(
        "for step in range(3):\n    h = x * step\n    h @ Tensor(np.ones(2 + step // 2))\n    h.sum().backward()\n"
    )
    assert ops(tape) == ["mul"], "the third step, up to the op that failed"
    assert facts.notes[:2] == ("run 3 of 3", facts.notes[1])
    assert facts.notes[1].startswith("stopped by ValueError: ") and facts.notes[1].endswith(" after op 7")
    assert facts.fault.kind == "ValueError"
    files = [line for line in facts.fault.traceback if line.startswith("  File")]
    assert len(files) == 1 and files[0].endswith('program.py", line 8, in <module>')
    assert "    h @ Tensor(np.ones(2 + step // 2))" in facts.fault.traceback
    assert [line.text for line in facts.printed if line.stream == "err"] == list(facts.fault.traceback)


def test_causes_are_shown_too_and_without_frames_of_ours(record):
    _, facts = record(
        "y = x * 2\ntry:\n    x.reshape(7)\nexcept ValueError as error:\n    raise KeyError('k') from error\n"
    )
    text = "\n".join(facts.fault.traceback)
    assert text.index("ValueError") < text.index("direct cause") < text.index("KeyError: 'k'")
    assert "autograd" not in text and text.count("program.py") == 2


def test_an_exception_in_the_leaves_of_a_function_still_names_them(record):
    tape, _ = record("def f(w):\n    y = w * 2\n    raise ValueError\nf(Tensor(3.0, requires_grad=True))")
    assert [tape.rows[row].name for row in tape.leaves] == ["w"]


NOTHING = {
    "a script without tensors": (
        "",
        "print('hi')",
        "program.py: no op was applied to a Tensor from beginning to end; 1 line printed",
    ),
    "empty": ("", "", "program.py: no op was applied to a Tensor from beginning to end"),
    "leaves only": (HEAD, "x.backward()", "program.py: no op was applied .*"),
    "an exception before": (
        "",
        "a = 1\nb = a.b",
        "program.py: no op was applied to a Tensor before; stopped by AttributeError: .* after op 0; .*",
    ),
    "an exit before": ("", "raise SystemExit(4)", "program.py: no op .*; exit code 4"),
    "an unknown root": (HEAD, "y = x * 2", "program.py: --root z: no variable holds such a Tensor; there is y"),
}


@pytest.mark.parametrize(("head", "text", "line"), NOTHING.values(), ids=NOTHING)
def test_where_there_is_nothing_to_open_one_line_says_so(write, tmp_path, monkeypatch, head, text, line):
    write(text, head=head)
    monkeypatch.chdir(tmp_path)
    root = "z" if "root" in line else None
    with pytest.raises(CommandError, match=f"^{line}$") as refused:
        Script(Path("program.py"), root=root).record()
    assert "\n" not in str(refused.value)


BROKEN = {
    "a syntax error": (b"x = 1\ny = (\n", CommandError, r"program\.py:2: SyntaxError: '\(' was never closed; .*"),
    "an indentation": (b"if 1:\nx = 1\n", CommandError, r"program\.py:2: IndentationError: .*"),
    "null bytes": (b"x = 1\0", CommandError, r"program\.py.*null bytes.*"),
    "not UTF-8": (b"x = '\xff'", CommandError, r"program\.py.*SyntaxError.*"),
    "too long": (b"#" * (scripts.LARGEST + 1), CommandError, r"program\.py: longer than 16 MB; .*"),
}


@pytest.mark.parametrize(("content", "kind", "line"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_program_is_refused_in_one_line(tmp_path, content, kind, line):
    path = tmp_path / "program.py"
    path.write_bytes(content)
    with pytest.raises(kind, match=line) as refused:
        Script(path).record()
    assert "\n" not in str(refused.value) and str(refused.value).isprintable()


@pytest.mark.parametrize("name", ["none.py", "folder.py"])
def test_a_file_that_is_none_is_refused(tmp_path, name):
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(CheckpointError, match=r"no such file|a folder"):
        Script(tmp_path / name).record()


def test_a_cookie_says_how_it_is_encoded(tmp_path):
    path = tmp_path / "program.py"
    path.write_bytes(b"# coding: latin-1\nfrom glassllm import Tensor\nprint('\xe9')\nTensor(1.0) * 2\n")
    _, facts = Script(path).record()
    assert printed(facts) == ["é"]


class Stop(BaseException):
    """What the hook of this test raises."""


class Hook:
    """Stops at the op of this number."""

    def __init__(self, last):
        self.left = last

    def applied(self, *_):
        if not self.left:
            raise Stop
        self.left -= 1

    def marked(self, *_):
        pass

    def traversed(self, *_):
        pass


def test_a_loop_with_ops_can_be_stopped_and_what_was_recorded_stays(record, hooked):
    with hooked(Hook(101)):
        tape, facts = record(
            "while True:\n    try:\n        y = x * 2\n        y.sum().backward()\n"
            "    except Exception:\n        pass\n",
            stop=Stop,
        )
    assert facts.notes == ("run 51 of 51", "stopped after op 101") and facts.fault is None
    assert ops(tape) == ["mul"]


def test_the_number_of_ops_and_runs_is_told(record):
    told = []
    record("for _ in range(3):\n    (x * 2).sum().backward()\n", heard=lambda ops, runs: told.append((ops, runs)))
    assert told == [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)]
