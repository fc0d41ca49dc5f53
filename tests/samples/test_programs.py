"""Small programs that are no language model: each is stepped through, forward and back, and left as it was."""

from pathlib import Path

import numpy as np
import pytest

from glassllm.debug.commands import run
from glassllm.debug.script import Script
from glassllm.debug.session import Session

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
WRITTEN = {
    "scalars without an axis": """
from glassllm import Tensor
from glassllm.autograd import exp, log, tanh
a, b = Tensor(2.0, requires_grad=True), Tensor(-3.0, requires_grad=True)
c = a * b + exp(a) / (1 + exp(-b))
d = tanh(c) + log(a) - b**2
d.backward()
""",
    "logistic regression": """
import numpy as np
from glassllm import Tensor
from glassllm.autograd import log, sigmoid
rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
w, b = Tensor(np.zeros(3), requires_grad=True), Tensor(0.0, requires_grad=True)
for _ in range(5):
    w.grad = b.grad = None
    p = sigmoid(Tensor(x) @ w + b)
    loss = -(y * log(p) + (1 - y) * log(1 - p)).mean()
    loss.backward()
    w.data, b.data = w.data - w.grad, b.data - b.grad
loss = None
""",
    "a tensor used twice and one not at all": """
import numpy as np
from glassllm import Tensor
from glassllm.autograd import concat, where
x = Tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
idle = Tensor(1.0, requires_grad=True)
z = where(x.data > 2, x, x * x)
unused = idle * 3
concat([z[:, 1:], z[:, [0, 0]]], axis=1).max(axis=1).sum().backward()
""",
}
NAMES = ["quadratic.py", "two_layer.py", "cnn.py", *WRITTEN]


@pytest.fixture
def program(request, tmp_path):
    """A sample, or one of those written above."""
    name = request.param
    if name not in WRITTEN:
        return Script(SAMPLES / name)
    path = tmp_path / "program.py"
    path.write_text(WRITTEN[name])
    return Script(path)


def state(session):
    snapshot = session.snapshot()
    gradient = snapshot.focus.gradient
    return snapshot.position, snapshot.focus.title, None if gradient is None else gradient.tolist()


@pytest.mark.parametrize("program", NAMES, indirect=True)
def test_every_step_forward_is_taken_back_the_same(program):
    tape, facts = program.record()
    session = Session(tape, facts)
    seen = [state(session)]
    total = len(tape.forward) + tape.visit_count(1)
    for _ in range(total - 1):
        run(session, "step")
        seen.append(state(session))
    assert len({position for position, _, _ in seen}) == total
    for expected in reversed(seen[:-1]):
        run(session, "step-back")
        assert state(session) == expected


@pytest.mark.parametrize("program", NAMES, indirect=True)
def test_the_debugger_finds_the_gradients_that_the_program_found(program, monkeypatch):
    tape, facts = program.record()
    assert facts.fault is None and facts.tracked
    session = Session(tape, facts)
    run(session, "2 continue")
    assert tape.leaves
    for row in tape.leaves:
        found = tape.gradient(row, session.position)
        own = tape.place_of[row].grad
        assert (found is None) == (own is None)
        if own is not None:
            np.testing.assert_array_equal(found, own)


@pytest.mark.parametrize("program", NAMES, indirect=True)
def test_every_node_has_a_line_and_every_leaf_a_name(program):
    tape, _ = program.record()
    lines = program.path.read_text(encoding="utf-8").splitlines()
    for row in tape.rows:
        if row.kind == "node":
            (origin,) = row.made_at
            assert origin.file == str(program.path) and lines[origin.line - 1].strip()
    assert not [tape.rows[row].name for row in tape.leaves if tape.rows[row].name.startswith("input ")]


def test_the_convolution_learns():
    _, facts = Script(SAMPLES / "cnn.py").record()
    (line,) = facts.printed
    share = int(line.text.partition("%")[0].rpartition(" ")[2])
    assert share >= 85 and facts.loss < 0.4
