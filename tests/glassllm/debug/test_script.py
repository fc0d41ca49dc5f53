"""A user's program, run and recorded: however it ends, what is kept, and that nothing of it is left behind."""

import os
import sys
import threading
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

from glassllm.autograd import tensor as engine
from glassllm.checkpoint import CheckpointError
from glassllm.debug import script as scripts
from glassllm.debug.commands import run
from glassllm.debug.script import Script
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError

HEAD = """
import sys
import numpy as np
from glassllm import Tensor, no_grad
x = Tensor(np.array([1.0, -2.0]), requires_grad=True)
"""


@pytest.fixture
def write(tmp_path):
    """`write(text)` makes a program of it, under a few lines that import what all need."""

    def made(text, name="program.py", head=HEAD):
        path = tmp_path / name
        path.write_text(head + text)
        return path

    return made


@pytest.fixture
def record(write):
    """`record(text, *arguments)` runs it: its tape and facts."""
    return lambda text, *arguments, **more: Script(write(text), arguments, **more).record()


def ops(tape):
    return [tape.rows[row].name for row in tape.forward]


def printed(facts):
    return [line.text for line in facts.printed]


# How it ends

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


# What it finds


def test_it_is_main_with_its_own_arguments_folder_and_an_empty_stdin(record, write, tmp_path):
    write("def double(t):\n    return t * 2\n", "sibling.py", head="")
    _, facts = record(
        "import os, __main__\n"
        "from sibling import double\n"
        "if __name__ == '__main__':\n"
        "    print(sys.argv[1:], sys.argv[0] == __file__, sys.path[0] == os.path.dirname(__file__))\n"
        "    print(repr(sys.stdin.read()), sys.stdin.isatty(), sys.stdout.isatty(), __main__.x is x)\n"
        "    double(x).sum().backward()\n",
        "--steps",
        "3",
    )
    assert printed(facts) == ["['--steps', '3'] True True", "'' False False True"]


def test_input_finds_the_end(record):
    _, facts = record("x * 2\ninput('name? ')")
    assert facts.fault.kind == "EOFError" and printed(facts)[0].startswith("name? ")


def test_siblings_are_read_again_with_every_run(write):
    write("FACTOR = 2\n", "sibling_factor.py", head="")
    program = Script(write("from sibling_factor import FACTOR\n(x * FACTOR).sum().backward()\n"))
    assert program.record()[1].loss == -2
    sibling = write("FACTOR = 30\n", "sibling_factor.py", head="")
    os.utime(sibling, (1, 1))  # another time of change, or Python would take its cached bytes
    assert program.record()[1].loss == -30


# What it prints


def test_prints_keep_their_order_and_their_stream(record):
    _, facts = record(
        "y = x * 2\nprint('a')\nprint('b', file=sys.stderr)\n"
        "sys.stdout.buffer.write(b'c\\n')\nprint('d', end='')\n"
    )
    assert [(line.stream, line.text) for line in facts.printed] == [
        ("out", "a"),
        ("err", "b"),
        ("out", "c"),
        ("out", "d"),
    ]
    assert facts.notes == ("3 lines printed",)


def test_prints_go_on_to_the_echo(write, capsys):
    Script(write("x * 2\nprint('a')\nprint('b', end='')"), echo=sys.stderr).record()
    assert capsys.readouterr() == ("", "a\nb")


# What it leaves


def test_the_interpreter_is_as_it_was(record, tmp_path):
    before = (
        sys.argv, list(sys.path), sys.stdin, sys.stdout, sys.stderr, sys.modules["__main__"], os.getcwd(),
        np.geterr(), list(warnings.filters), scripts.running,
    )  # fmt: skip
    record(
        "import os, warnings\n"
        "x * 2\n"
        "sys.argv = []\nsys.path.insert(0, '/nowhere')\nsys.stdin = sys.stdout = sys.stderr = None\n"
        "sys.modules['__main__'] = sys\nos.chdir('/')\nnp.seterr(all='raise')\nwarnings.simplefilter('error')\n"
        "from glassllm.autograd import tensor\ntensor.set_tracking(False)\ntensor.set_hook(None)\n"
    )
    assert before == (
        sys.argv, list(sys.path), sys.stdin, sys.stdout, sys.stderr, sys.modules["__main__"], os.getcwd(),
        np.geterr(), list(warnings.filters), scripts.running,
    )  # fmt: skip
    assert (engine.tracking, engine.hook) == (True, None)


def test_no_grad_left_open_by_an_exception_is_closed(record):
    tape, facts = record("with no_grad():\n    y = x * 2\n    raise ValueError('w')\n")
    assert engine.tracking and not tape.rows[tape.forward[0]].tracked
    assert facts.tracked is False


# Threads


def test_ops_of_threads_are_recorded(record):
    tape, facts = record(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    parts = list(pool.map(lambda i: x * i, range(50)))\n"
        "sum(parts[1:], parts[0]).sum().backward()\n"
    )
    assert ops(tape).count("mul") == 50 and facts.notes == ()


def test_a_thread_that_goes_on_is_said(record, monkeypatch):
    from glassllm.debug import interpreter

    monkeypatch.setattr(interpreter, "PATIENCE", 0.01)
    _, facts = record(
        "import threading\nx * 2\nend = threading.Event()\n"
        "threading.main_thread().end_of_test = end\nthreading.Thread(target=end.wait, daemon=True).start()\n"
    )
    threading.main_thread().end_of_test.set()
    assert facts.notes == ("1 thread of it still running, unrecorded",)


def test_what_a_thread_raises_stands_in_the_log(record, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    _, facts = record("import threading\nx * 2\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\n")
    assert facts.fault is None and "ZeroDivisionError: division by zero" in printed(facts)


# Being stopped


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


# Which run, which root


def test_the_last_traversal_is_opened_with_its_seed_and_the_script_s_own_gradients_are_untouched(record):
    tape, facts = record("y = x * x\ny.backward([1.0, 10.0])\nprint(x.grad)\nz = x * 5\n")
    session = Session(tape, facts)
    run(session, "continue")
    run(session, "continue")
    assert run(session, "select x").focus.gradient.tolist() == [2, -40]
    assert printed(facts) == ["[  2. -40.]"]
    assert facts.loss is None, "the root is not one number"


def test_without_a_traversal_the_last_tensor_that_takes_a_gradient_is_opened(record):
    tape, _ = record("a = x * 2\nb = a + 1\nwith no_grad():\n    b * 3\n")
    assert tape.rows[tape.default_root].name == "add" and ops(tape) == ["mul", "add", "mul"]


@pytest.mark.parametrize(("root", "expected"), [("early", "mul"), ("losses.0", "tsum"), ("kept.loss", "mean")])
def test_a_variable_can_be_named_as_the_root(record, root, expected):
    tape, _ = record(
        "early = x * 2\nearly.sum().backward()\n"
        "losses = [(x * 3).sum()]\nkept = {'loss': x.mean()}\nx.max().backward()\n",
        root=root,
    )
    assert tape.rows[tape.default_root].name == expected


@pytest.mark.parametrize("root", ["x", "n", "arr"])
def test_a_root_without_a_graph_is_refused(record, root):
    with pytest.raises(CommandError, match=f"--root {root}: no "):
        record("y = x * 2\nwith no_grad():\n    n = x * 2\narr = x.data\n", root=root)


def test_training_is_opened_at_its_last_step_and_costs_the_memory_of_two(record):
    tracemalloc.start()
    tape, facts = record(
        "w = Tensor(np.ones((64, 256)), requires_grad=True)\n"
        "for step in range(300):\n"
        "    loss = ((w * step) * w).sum()\n"
        "    loss.backward()\n"
        "    w.grad = None\n"
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert facts.notes == ("run 300 of 300",) and ops(tape) == ["mul", "mul", "tsum"]
    assert facts.loss == 299 * 64 * 256
    assert peak < 30 * w_bytes(), f"a step makes 2 arrays; all of them are {600 * w_bytes()} bytes, peak {peak}"


def w_bytes():
    return 64 * 256 * 8


def test_what_a_run_uses_of_an_earlier_one_is_kept(record):
    tape, facts = record(
        "h = x * x\nh.sum().backward()\nunused = x * 3\nunused.sum().backward()\n(h * 2).sum().backward()\n"
    )
    assert ops(tape) == ["mul", "mul", "tsum"]
    assert [origin.line for row in tape.forward for origin in tape.rows[row].made_at] == [6, 10, 10]
    assert facts.notes == ("run 3 of 3",)


def test_a_graph_traversed_twice_is_one_recording(record):
    tape, facts = record("y = x * 2\nz = x.data\nt = Tensor(z) * 2\na = y.sum()\na.backward()\ny.backward()\n")
    assert ops(tape) == ["mul", "mul", "tsum"], "what no traversal reaches is there too"
    assert tape.rows[tape.default_root].id == tape.forward[0] and facts.notes == ("run 2 of 2",)


# What is recorded


def test_results_are_the_user_s_own_and_kept_as_they_were(record):
    tape, _ = record("y = x * 2\ny.data[0] = 99\nz = y.sum()\nz.backward()\n")
    assert tape.rows[tape.forward[0]].array.tolist() == [2, -4]
    assert tape.kept.is_stale(tape.forward[0])
    assert tape.rows[tape.forward[1]].array == 95


def test_what_the_program_writes_later_changes_no_gradient(record):
    tape, facts = record(
        "from glassllm.autograd import op, where\n"
        "@op\ndef square(x):\n    return x**2, x\n"
        "@square.rule\ndef _(g, y, saved, x):\n    return (2 * g * saved,)\n"
        "mask, index = np.array([True, False]), np.array([0, 0, 1])\n"
        "y = square(x)[index]\n"
        "z = where(mask, x * x, x * 5)\n"
        "(y.sum() + z.sum()).backward()\n"
        "own = x.grad.tolist()\n"
        "x.data[:] = y.data[:] = 99\nmask[:] = False\nindex[:] = 1\n"
        "print(own)\n"
    )
    session = Session(tape, facts)
    run(session, "2 continue")
    assert str(run(session, "select x").focus.gradient.tolist()) == printed(facts)[0] == "[6.0, 1.0]"


def test_ops_of_the_user_s_and_tensors_built_by_hand_are_recorded_and_stepped(record):
    tape, facts = record(
        "from glassllm.autograd import op\n"
        "@op\ndef cube(x):\n    return x**3, x\n"
        "@cube.rule\ndef _(g, y, saved, x):\n    return (3 * g * saved**2,)\n"
        "y = cube(x)\n"
        "z = Tensor(y.data * 2, parents=(y,), backward=lambda g: (g * 2,))\n"
        "z.backward()\n"
    )
    assert ops(tape) == ["cube", "custom"]
    session = Session(tape, facts)
    for _ in range(2):
        run(session, "continue")
    assert run(session, "select x").focus.gradient.tolist() == [6, 24]


def test_scopes_and_names_come_from_the_program(record):
    tape, _ = record(
        "from glassllm.debug import scope\n"
        "from glassllm.nn import Module\n"
        "class Linear(Module):\n"
        "    def __init__(self, n):\n        self.W = Tensor(np.ones((n, 1)), requires_grad=True)\n"
        "    def forward(self, x):\n        return x @ self.W\n"
        "class Net(Module):\n"
        "    def __init__(self):\n        self.first = Linear(2)\n"
        "    def forward(self, x):\n        return self.first(x)\n"
        "net, layers, weights = Net(), [Tensor(2.0, requires_grad=True)], {'b': Tensor(1.0, requires_grad=True)}\n"
        "with scope('outer'):\n    y = net(x) * layers[0] + weights['b']\n"
        "y.sum().backward()\n"
    )
    assert {tape.rows[row].name for row in tape.leaves} == {"x", "first.W", "layers.0", "weights.b"}
    assert [tape.rows[row].scope for row in tape.forward] == ["outer.first", "outer", "outer", ""]


def test_a_program_with_the_model_has_its_events(record):
    tape, facts = record(
        "from glassllm import Config, GlassLM\n"
        "model = GlassLM(Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=4))\n"
        "for _ in range(2):\n    model.loss([1, 2], [2, 3]).backward()\n"
    )
    assert facts.events == 23 and tape.rows[tape.leaves[0]].name == "E"
    made_at = tape.rows[tape.events[5].row].made_at
    assert [origin.short for origin in made_at] == [made_at[0].short, "program.py:9"]
    assert made_at[0].file.endswith("glassllm/nn.py") and made_at[0].function.startswith("Attention.")


def test_a_script_that_records_itself_is_recorded_all_the_same(record):
    tape, facts = record(
        "import glassllm\nwith glassllm.debug.record() as own:\n    y = x * 2\nprint(len(own.rows))\n"
    )
    assert ops(tape) == ["mul"] and printed(facts) == ["3"]


def test_a_program_can_say_what_to_open(record):
    tape, facts = record(
        "import tui\nloss = (x * 2).sum()\ntui.debug(loss)\nfor _ in range(2):\n    (x * 3).mean().backward()\n"
    )
    assert ops(tape) == ["mul", "tsum"] and tape.default_root == tape.forward[1]
    assert printed(facts) == ["tui.debug at program.py:8: opened when the program has ended"]
    assert facts.notes[0] == "run 1 of 3"


@pytest.mark.parametrize("wrong", ["x", "3"])
def test_what_cannot_be_opened_is_refused_where_it_is_said(record, wrong):
    _, facts = record(f"import tui\nx * 2\ntui.debug({wrong})\n")
    assert facts.fault.kind in ("ValueError", "TypeError") and "tui" not in facts.fault.traceback[1]


def test_a_session_runs_the_program_again(write):
    path = write("(x * 2).sum().backward()\n")
    program = Script(path)
    session = Session(*program.record(), program)
    path.write_text(HEAD + "((x * 2) * 5).sum().backward()\n")
    snapshot = run(session, "rerun")
    assert (snapshot.run.nodes, snapshot.run.loss) == (3, -10)
    path.write_text("x = (")
    with pytest.raises(CommandError, match="SyntaxError"):
        run(session, "rerun")
    assert session.snapshot().run.nodes == 3, "the session is as it was"
    with pytest.raises(CommandError, match="run the program again"):
        run(session, "text abc")
