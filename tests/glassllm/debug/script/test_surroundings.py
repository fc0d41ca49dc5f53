"""What a program finds and what it leaves: arguments, files beside it, streams, threads, the interpreter."""

import os
import sys
import threading
import warnings

import numpy as np

from glassllm.autograd import tensor as engine
from glassllm.debug import script as scripts
from glassllm.debug.script import Script
from tests.glassllm.debug.script.program import ops, printed

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
    assert facts.notes == ("4 lines printed",), "one that has no end is one, too"


def test_prints_go_on_to_the_echo(write, capsys):
    Script(write("x * 2\nprint('a')\nprint('b', end='')"), echo=sys.stderr).record()
    assert capsys.readouterr() == ("", "a\nb")


def test_what_its_children_print_stands_between_its_own_lines(record):
    _, facts = record("import os\nx * 2\nprint('a')\nos.system('echo b')\nprint('c')")
    assert printed(facts) == ["a", "b", "c"] and facts.notes == ("3 lines printed",)


def test_a_fork_that_runs_to_the_program_s_end_ends_there(record):
    _, facts = record(
        "import os\nx * 2\nchild = os.fork()\n"
        "if child:\n    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "else:\n    print('child')\n    1 / 0\n"
    )
    assert printed(facts)[0] == "child" and printed(facts)[-2:] == ["ZeroDivisionError: division by zero", "1"]
    assert (facts.exit_code, facts.fault) == (0, None)


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
