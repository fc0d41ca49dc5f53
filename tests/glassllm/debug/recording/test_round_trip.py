"""What is saved comes back: rows, position, gradients bit for bit, and every way on and back."""

import numpy as np
import pytest

from glassllm import GlassLM, Tensor, Tokenizer, no_grad
from glassllm.autograd import concat as joined
from glassllm.autograd import matmul, op, reshape, softmax, transpose, tsum
from glassllm.autograd.ops import OPS
from glassllm.autograd.tensor import apply
from glassllm.debug.commands import perform, run
from glassllm.debug.opening import open_file
from glassllm.debug.recorder import record
from glassllm.debug.recording.read import open_recording
from glassllm.debug.recording.shapes import SHAPES
from glassllm.debug.report import report
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from glassllm.trace import mark, scope
from tests.glassllm.autograd.samples import cases, label
from tests.glassllm.debug.conftest import CONFIG
from tests.glassllm.debug.recording.sameness import assert_same_look, assert_same_tape, saved_and_opened


@pytest.fixture
def again(tmp_path):
    """Save a session and open it again."""
    return lambda session: saved_and_opened(session, tmp_path / "run.npz", open_recording)


def assert_same(session, opened):
    assert_same_tape(session.tape, opened.tape)
    assert_same_look(session, opened)


def assert_same_walk(session, opened, lines):
    for line in lines:
        run(session, line)
        run(opened, line)
        assert_same_look(session, opened)


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
    assert set(SHAPES) == set(OPS)


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


# Ops of others


def custom_session():
    """x -> cube (a user's op) -> by hand -> sum, and x · 2 beside it."""

    @op
    def cube(x, *, what):
        return x**3, x

    @cube.rule
    def _(g, y, saved, x, *, what):
        return (g * 3 * saved**2,)

    x = Tensor(np.array([3.0, -2.0]), requires_grad=True)
    with record({"x": x}) as tape:
        y = cube(x, what=object)
        z = Tensor(y.data * 2, (y, x), lambda g: (g * 2, None))
        (z + x * 2).sum()
    return Session.of(tape)


def test_custom_ops_send_what_they_sent(again):
    session = custom_session()
    run(session, "last")
    run(session, "backward")
    run(session, "last")
    opened = again(session)
    assert_same(session, opened)
    assert_same_walk(session, opened, ["3 step-back", "contribution-back", "first", "last"])
    assert opened.tape.rows[1].name == "cube"
    assert "object" in opened.tape.rows[1].attrs["what"]


def test_a_traversal_ends_before_a_custom_op_that_had_not_sent(again, tmp_path):
    opened = again(custom_session())
    run(opened, "continue")
    words = "custom has no rule here: what lies behind it is not recomputed"
    for line in ("continue", "step", "last", "run-to x"):
        with pytest.raises(CommandError, match=words):
            run(opened, line)
    reached = opened.position
    assert 0 < reached.place < len(opened.tape.plan(1))
    assert opened.tape.rows[opened.tape.row_at(reached)].name in ("mul", "add", "x")
    run(opened, "backward #4")
    run(opened, "last")
    assert opened.tape.traversals[1].is_finished
    second = saved_and_opened(opened, tmp_path / "second.npz", open_recording)
    assert_same(opened, second)


def test_a_new_traversal_does_not_reuse_what_an_earlier_one_sent(again):
    session = custom_session()
    run(session, "continue 2")
    opened = again(session)
    run(opened, "backward")
    with pytest.raises(CommandError, match="has no rule here"):
        run(opened, "last")


def test_the_report_of_what_cannot_be_recomputed(again):
    data = report(again(custom_session()))
    assert [leaf["grad_norm"] for leaf in data["gradients"]] == [None]
    assert report(custom_session())["gradients"][0]["grad_norm"] > 0


def test_a_users_op_with_a_name_of_ours_stays_a_users(again):
    @op
    def softmax(x):
        return x + 1

    softmax.rule(lambda g, y, x: (g,))
    with record() as tape:
        softmax(Tensor(np.ones(2), requires_grad=True)).sum()
    row = again(Session.of(tape)).tape.rows[1]
    assert row.name == "custom" and row.op is not OPS["softmax"]


# The file and the commands


def test_a_recording_opens_by_what_it_holds(session, tmp_path):
    run(session, f"save {tmp_path / 'run.dat'}")
    assert open_file(tmp_path / "run.dat").facts == session.facts
    with pytest.raises(CommandError, match="holds one run and no model"):
        open_file(tmp_path / "run.dat", text="a")


@pytest.mark.parametrize("line", ["text a", "ids 1 2", "targets off", "no_grad on", "rerun", "apply"])
def test_what_needs_the_model_says_so(session, again, line):
    run(session, "continue 2")
    opened = again(session)
    with pytest.raises(CommandError, match=r"a recording holds (one run and )?no model"):
        run(opened, line)
    assert_same_look(session, opened)


def test_arrays_are_stored_once_and_never_written(session, again, tmp_path):
    opened = again(session)
    with np.load(tmp_path / "run.npz") as file:
        contents = {(file[name].dtype.str, file[name].tobytes()) for name in file.files}
        assert len(contents) == len(file.files)
    assert not any(row.array.flags.writeable for row in opened.tape.rows)


def test_a_recording_is_replaced_and_nothing_else(session, tmp_path, model):
    path = tmp_path / "run.npz"
    run(session, f"save {path}")
    run(session, f"save {path}")
    others = {"notes.txt": b"words", "model.npz": b""}
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
    model.save(tmp_path / "model.npz")
    for name in others:
        before = (tmp_path / name).read_bytes()
        with pytest.raises(CommandError, match="is no recording; save! PATH writes over it"):
            run(session, f"save {tmp_path / name}")
        assert (tmp_path / name).read_bytes() == before
        run(session, f"save! {tmp_path / name}")
        assert open_file(tmp_path / name).facts == session.facts


def test_saving_goes_slice_by_slice_and_abandoned_leaves_nothing(session, tmp_path):
    work = perform(session, f"save {tmp_path / 'run.npz'}")
    assert [next(work), next(work)] == [(1, next(work)[1]), (2, next(work)[1])]
    work.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("array", [np.ones(2, complex), np.array(["a"]), np.ones(2, np.longdouble)])
def test_numbers_it_cannot_hold(array, tmp_path):
    with record() as tape:
        Tensor(array)[0:1]
    with pytest.raises(CommandError, match=r"cannot be recorded: row 0, .* numbers cannot be recorded"):
        run(Session.of(tape), f"save {tmp_path / 'run.npz'}")
    assert list(tmp_path.iterdir()) == []
