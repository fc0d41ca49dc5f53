"""Which of a program's runs is opened, and on which root."""

import tracemalloc

import pytest

from glassllm.debug.commands import run
from glassllm.debug.script import Script
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from tests.glassllm.debug.script.program import HEAD, ops, printed


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
