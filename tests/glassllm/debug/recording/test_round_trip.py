"""What is saved comes back: rows, position, gradients bit for bit, and every way on and back."""

import numpy as np
import pytest

from glassllm import GlassLM, Tensor, Tokenizer, no_grad
from glassllm.autograd import concat as joined
from glassllm.autograd import matmul, reshape, softmax, transpose, tsum
from glassllm.autograd.ops import OPS
from glassllm.autograd.tensor import apply
from glassllm.debug.commands import run
from glassllm.debug.recorder import record
from glassllm.debug.recording.shapes import SHAPES
from glassllm.debug.recording.write import size_text
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from glassllm.trace import mark, scope
from tests.glassllm.autograd.samples import cases, label
from tests.glassllm.debug.conftest import CONFIG
from tests.glassllm.debug.recording.sameness import assert_same, assert_same_walk

# A model


MOMENTS = {
    "opened": [],
    "in the forward run": ["10 next"],
    "at its end": ["continue"],
    "half-way back": ["continue", "40 step"],
    "inside a visit": ["continue", "30 step", "contribution"],
    "finished": ["last", "backward", "last"],
    "back in the middle": ["continue 2", "20 step-back"],
    "from a cell": ["backward logits[2,7] 0.5", "30 step"],
    "two traversals": ["continue 2", "backward", "15 step"],
    "two and zero-grad": ["continue 2", "zero-grad", "backward logits", "last"],
    "zero-grad for the next": ["continue 2", "zero-grad"],
    "something else selected": ["continue", "9 step", "select blocks.1.attn.softmax"],
}


@pytest.mark.parametrize("lines", MOMENTS.values(), ids=list(MOMENTS))
def test_a_model_run_at_any_moment(session, again, lines):
    for line in lines:
        run(session, line)
    opened = again(session)
    assert_same(session, opened)
    assert opened.starts_fresh == session.starts_fresh
    assert_same_walk(
        session, opened, ["step", "contribution", "last", "step-back", "40 step-back", "first", "9 next"]
    )
    assert_same_walk(session, opened, ["backward", "last", "zero-grad", "backward loss 2", "last"])


def test_a_traversal_goes_on_to_what_the_engine_finds(session, model, again):
    for line in ("continue", "60 step"):
        run(session, line)
    opened = again(session)
    run(opened, "last")
    model.loss([3, 1, 4, 1], [1, 4, 1, 5]).backward()
    for row, (name, parameter) in zip(opened.tape.leaves, model.named_parameters().items(), strict=True):
        assert opened.tape.rows[row].name == name
        assert opened.tape.gradient(row, opened.position).tobytes() == parameter.grad.tobytes()


def test_a_float64_model_with_its_words(again):
    model = GlassLM(CONFIG, seed=2, dtype=np.float64)
    model.tokenizer = Tokenizer("▁abcdefghijk猫", [])
    session = Session.open(model, text="abc 猫 \n", name="cat\x1b.npz")
    run(session, "continue 2")
    opened = again(session)
    assert opened.facts.name == r"cat\x1b.npz"
    assert opened.facts.vocabulary == session.facts.vocabulary
    assert opened.axes.of(opened.tape.rows[opened.tape.events[-2].row]) == session.axes.of(
        session.tape.rows[session.tape.events[-2].row]
    )


def test_a_run_without_a_graph(model, again):
    session = Session.open(model, ids=[1, 2, 3], tracked=False)
    opened = again(session)
    assert_same(session, opened)
    assert_same_walk(session, opened, ["last", "step-back"])
    with pytest.raises(CommandError, match="nothing here takes a gradient"):
        run(opened, "backward")


def test_a_run_without_a_loss(model, again):
    session = Session.open(model, ids=[5])
    opened = again(session)
    assert_same(session, opened)
    assert opened.facts.notes == session.facts.notes != ()


def test_what_was_saved_twice_is_the_same_file(session, tmp_path, again):
    for line in ("continue", "20 step"):
        run(session, line)
    opened = again(session)
    run(opened, f"save {tmp_path / 'second.npz'}")
    assert (tmp_path / "second.npz").read_bytes() == (tmp_path / "run.npz").read_bytes()


# Every op


OF_EVERY_OP = list(cases())


@pytest.mark.parametrize(("made", "sample"), OF_EVERY_OP, ids=[label(case) for case in OF_EVERY_OP])
def test_every_op_with_every_kind_of_input(made, sample, again):
    with np.errstate(all="ignore"), record() as tape:
        tensors = [Tensor(array, requires_grad=True) for array in sample.arrays]
        y = apply(made, *tensors, **sample.attrs)
        tsum(y * y)
    session = Session.of(tape)
    run(session, "last")
    run(session, "backward")
    opened = again(session)
    assert_same(session, opened)
    assert_same_walk(session, opened, ["last"])
    for row, other in zip(tape.rows, opened.tape.rows, strict=True):
        assert other.op is row.op, "none of ours became a custom one"


def test_every_op_has_a_shape():
    assert set(OPS) <= set(SHAPES)


# Graphs of other programs


def _of_numbers(x):
    (x[0] * 2 + x[1] ** 2.5).sum()


def _views(x):
    tall = reshape(x, (2, 1))
    return tsum(matmul(transpose(tall), tall) * 3)


def _marked(x):
    with scope("encoder.0"):
        y = mark("hidden", x * 2, 0)
    mark("note", np.arange(3))
    mark("loss", (y * y).sum())


def _empty(x):
    (joined([x[:0], x]) * 1.5).sum() + (x[:0] * 2).sum()


def _special(x):
    with np.errstate(all="ignore"):
        (x * np.array([np.nan, np.inf]) + -0.0 + softmax(x / 0.0)).sum()


def _integers(x):
    counts = Tensor(np.array([2, 3]), requires_grad=True)
    (counts * x + Tensor(np.array([True, False])) * x).sum()


def _a_constant_of_what_has_a_gradient(x):
    y = x * 2
    y.requires_grad = False
    (y * x + x).sum()


def _data_replaced(x):
    first = (x * 2).sum()
    x.data = x.data + 1
    first + (x * x).sum()


def _data_written(x):
    (x * x).sum()
    x.data[0] = 9


def _half(x):
    (Tensor(np.array([1, 2], np.float16), requires_grad=True) * 2).sum()


def _untracked(x):
    with no_grad():
        (x * 2).sum()


PROGRAMS = {
    function.__name__.strip("_"): function
    for function in (
        _of_numbers, _views, _marked, _empty, _special, _integers, _a_constant_of_what_has_a_gradient,
        _data_replaced, _data_written, _half, _untracked,
    )
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_program(program, again):
    with record({"x": (x := Tensor(np.array([3.0, -2.0]), requires_grad=True))}) as tape:
        program(x)
    session = Session.of(tape, program.__name__)
    run(session, "continue")
    run(session, "2 step")
    opened = again(session)
    assert_same(session, opened)
    assert_same_walk(session, opened, ["last", "step-back", "step", "first", "next"])
    if tape.default_root is not None:
        assert_same_walk(session, opened, ["backward", "last", "3 step-back"])


def test_nodes_older_than_the_recording_keep_their_order(again):
    x = Tensor(np.array([3.0, -2.0]), requires_grad=True)
    old = x * 3
    with record() as tape:
        new = x * 5
        (old * new).sum()
    session = Session.of(tape)
    run(session, "last")
    run(session, "backward")
    run(session, "3 step")
    opened = again(session)
    assert_same(session, opened)
    assert_same_walk(session, opened, ["last", "2 step-back"])


INDICES = {
    "an integer": 1,
    "a negative one": -2,
    "one of NumPy's": np.int64(1),
    "a slice": slice(1, None, 2),
    "a slice backward": slice(None, None, -1),
    "Ellipsis": ...,
    "None": None,
    "True": True,
    "False": False,
    "a tuple": (0, slice(None), None, ...),
    "nothing": (),
    "integers": np.array([2, 0, 2]),
    "a list": [2, 0, 2],
    "an empty list": [],
    "a list of lists": [[0, 1], [2, 2]],
    "a mask": np.array([True, False, True]),
    "a mask of two axes": np.arange(6).reshape(3, 2) % 2 == 0,
    "a mask of nothing": np.zeros(3, bool),
    "two arrays": (np.array([0, 1]), np.array([[1], [0]])),
    "an array and a slice": (slice(1, 3), np.array([1, 1], np.int8)),
    "an array of no axes": np.array(1),
    "a mask and an integer": (np.array([True, False, True]), 1),
    "arrays apart": (np.array([0, 2]), None, np.array([1, 0])),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=list(INDICES))
def test_every_kind_of_index(index, again):
    x = Tensor(np.arange(6.0).reshape(3, 2), requires_grad=True)
    with record() as tape:
        (x[index] * 2).sum()
    session = Session.of(tape)
    run(session, "last")
    run(session, "backward")
    opened = again(session)
    assert opened.tape.rows[1].op is OPS["getitem"]
    assert_same(session, opened)
    assert_same_walk(session, opened, ["last"])


@pytest.mark.parametrize(
    ("size", "said"), [(1, "1 kB"), (38_400, "38 kB"), (1_000_000, "1.0 MB"), (82_340_000, "82.3 MB")]
)
def test_how_large_a_file_is(size, said):
    assert size_text(size) == said
