"""Lines that made a row."""

from pathlib import Path

import pytest

from glassllm import Config, GlassLM, Tensor, no_grad
from glassllm.autograd import op, softmax
from glassllm.debug.origins import Side, lines_of, side_of
from glassllm.debug.recorder import record, tape_of
from glassllm.debug.script import Script
from glassllm.debug.session import Session

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "samples"


@pytest.mark.parametrize(
    ("file", "side"),
    [
        ("glassllm/autograd/ops/shape.py", Side.ENGINE),
        ("glassllm/debug/recorder.py", Side.DEBUGGER),
        ("tui/task.py", Side.DEBUGGER),
        ("glassllm/nn.py", Side.LIBRARY),
        ("glassllm/model.py", Side.LIBRARY),
        ("samples/cnn.py", Side.USER),
        ("tests/glassllm/debug/test_origins.py", Side.USER),
    ],
)
def test_whose_a_frame_is(file, side):
    assert side_of(str(ROOT / file)) is side


def test_names_that_are_no_files_are_the_user_s():
    assert side_of("<string>") is Side.USER and side_of("<frozen importlib._bootstrap>") is Side.USER


def lines(tape):
    return [tape.rows[row].made_at[0].line for row in tape.forward]


def test_each_node_has_its_line_and_function():
    x = Tensor([1.0, 2.0], requires_grad=True)

    @op
    def cube(x):
        return x**3, x

    first = lines.__code__.co_firstlineno
    with record() as tape:
        y = x * 2
        with no_grad():
            z = -x
        y = softmax(
            y,
        )
        w = cube(y) + z
        Tensor(w.data, parents=(w,), backward=lambda g: (g,))
    start = lines(tape)[0]
    assert start > first
    assert [line - start for line in lines(tape)] == [0, 2, 3, 6, 6, 7]
    assert {tape.rows[row].made_at[0].file for row in tape.forward} == {__file__}
    assert {tape.rows[row].made_at[0].function for row in tape.forward} == {
        "test_each_node_has_its_line_and_function"
    }


def line_of(file, text):
    """The number of the line with this text."""
    return 1 + [text in line for line in file.read_text("utf-8").splitlines()].index(True)


def test_a_known_program_s_lines_are_exact():
    path = SAMPLES / "quadratic.py"
    tape, _ = Script(path).record()
    expected = line_of(path, "((x - 3) ** 2 + 1).sum()")
    assert [tape.rows[row].made_at for row in tape.forward] == [((str(path), expected, "loss"),)] * 4


def test_the_model_s_nodes_have_the_model_s_lines_and_the_user_s():
    model = GlassLM(Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=4))
    source = ROOT / "glassllm" / "nn.py"
    with record() as tape:
        model.forward([1, 2])
    softmaxed = next(row for row in tape.rows if row.name == "softmax")
    inner, user = softmaxed.made_at
    assert inner == (str(source), line_of(source, "softmax(scores)"), "Attention.attend")
    assert user.file == __file__ and inner.short == f"nn.py:{inner.line}"


def test_a_checkpoint_s_run_has_no_user_behind_it(model):
    session = Session.open(model, ids=[1, 2, 3])
    made = [session.tape.rows[row].made_at for row in session.tape.forward]
    assert {Path(origins[0].file).name for origins in made} == {"nn.py", "model.py"}


def test_a_leaf_has_the_line_that_used_it_first_and_a_graph_from_nowhere_none():
    x = Tensor([1.0], requires_grad=True)
    with record() as tape:
        y = x * 2
    found, what = lines_of(tape, tape.rows[0])
    assert what == "first used at" and found == tape.rows[tape.forward[0]].made_at
    assert lines_of(tape, tape.rows[tape.forward[0]])[1] == "made at"
    assert lines_of(tape_of(y), tape_of(y).rows[0])[0] == ()
