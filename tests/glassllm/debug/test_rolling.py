"""Recording run after run: what is let go, and what is taken over."""

import gc
import weakref

import numpy as np
import pytest

from glassllm import Tensor, no_grad
from glassllm.debug.rolling import ROW_BYTES, RollingRecorder


@pytest.fixture
def x():
    return Tensor(np.ones(1000), requires_grad=True)


def rows(run):
    return [row.name for row in run.recorder.tape.rows]


def test_a_run_ends_with_a_traversal(x, hooked):
    with hooked(RollingRecorder({"x": x})) as recorder:
        assert recorder.rest() is None
        for step in range(3):
            (x * step).sum().backward()
        x + 1
    assert (recorder.ops, recorder.runs, recorder.ended.number, recorder.rest().number) == (7, 3, 3, 4)
    assert rows(recorder.ended) == ["x", "mul.b", "mul", "tsum"]
    assert rows(recorder.rest()) == ["input 1", "add.b", "add"]


def test_earlier_runs_die_at_once_by_counting_alone(x, hooked):
    gc.disable()
    try:
        with hooked(RollingRecorder({"x": x})) as recorder:
            for _ in range(3):
                (x * 2).sum().backward()
                earlier = weakref.ref(recorder.ended.recorder)
            (x * 2).sum().backward()
            assert earlier() is None
    finally:
        gc.enable()


def test_a_leaf_and_an_untracked_tensor_end_no_run(x, hooked):
    with hooked(RollingRecorder({"x": x})) as recorder:
        x.backward()
        with no_grad():
            y = x * 2
        y.backward()
    assert recorder.runs == 0 and rows(recorder.rest()) == ["input 1", "mul.b", "mul"]


def test_what_nothing_uses_any_more_is_let_go_even_without_a_traversal(x, hooked):
    with hooked(RollingRecorder({"x": x}, kept_bytes=10 * (8000 + ROW_BYTES))) as recorder:
        with no_grad():
            for _ in range(95):
                x * 2
        assert recorder.ops == 95 and len(recorder.rest().recorder.tape.forward) == 5


def test_what_later_ops_use_is_never_let_go(x, hooked):
    with hooked(RollingRecorder({"x": x}, kept_bytes=10 * (8000 + ROW_BYTES))) as recorder:
        y = x
        for _ in range(95):
            y = y + x
        y.backward()
    assert rows(recorder.ended) == ["x", *["add"] * 95]
    lines = {origin.short for row in recorder.ended.recorder.tape.rows for origin in row.made_at}
    assert len(lines) == 1, "where each was made is known still"


def test_the_one_that_was_chosen_stays(x, hooked):
    with hooked(RollingRecorder({"x": x})) as recorder:
        y = x * 2
        recorder.choose(y)
        (y + 1).sum().backward()
        (x / 2).sum().backward()
    assert rows(recorder.chosen) == ["x", "mul.b", "mul"] and recorder.runs == 3
    assert rows(recorder.behind(y.node))[-1] == "mul"


def test_anything_that_is_still_held_can_be_opened(x, hooked):
    with hooked(RollingRecorder({"x": x})) as recorder:
        y = (x * 2) / 3
        for _ in range(3):
            x.sum().backward()
    assert rows(recorder.behind(y.node)) == ["input 1", "mul.b", "mul", "div.b", "div"]


def test_another_hook_hears_everything_first(x, hooked):
    class Ear:
        heard = []

        def applied(self, op, *_):
            self.heard.append((op.name, recorder.ops))

        def marked(self, step_id, *_):
            self.heard.append((step_id, recorder.ops))

        def traversed(self, root, seed):
            self.heard.append((root.node.op.name, recorder.runs))

    recorder = RollingRecorder({"x": x}, outer=Ear())
    with hooked(recorder):
        (x * 2).backward()
        recorder.marked("embed", x, None)
    assert Ear.heard == [("mul", 0), ("mul", 0), ("embed", 1)]
