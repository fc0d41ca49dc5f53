"""Where tracking is off, and that it is always put back."""

import threading

import numpy as np
import pytest

from glassllm.autograd import Tensor, no_grad
from glassllm.autograd import tensor as engine


@pytest.fixture
def x():
    return Tensor([3.0], requires_grad=True)


@pytest.fixture(autouse=True)
def tracking_at_rest():
    assert engine.tracking is True
    yield
    assert engine.tracking is True


def test_results_inside_keep_nothing(x):
    with no_grad():
        results = [x * x, -x, x[0], x.sum(), Tensor([0.0], parents=(x,), backward=lambda g: g)]
    for y in results:
        assert y.node is None
        assert y.requires_grad is False
        y.backward()
    assert x.grad is None


def test_existing_and_new_leaves_are_left_alone(x):
    with no_grad():
        new = Tensor([1.0], requires_grad=True)
        assert x.requires_grad is True
        assert new.requires_grad is True
    (x * new).backward()
    assert new.grad.tolist() == [3]


def test_a_graph_may_be_traversed_inside(x):
    y = x * x
    with no_grad():
        y.backward()
    assert x.grad.tolist() == [6]


def test_nesting_and_exceptions_restore(x):
    context = no_grad()
    with context:
        with context, no_grad():
            assert (x * x).node is None
        assert (x * x).node is None
        with pytest.raises(KeyError), no_grad():
            raise KeyError
        assert (x * x).node is None
    assert (x * x).node is not None


def test_as_a_decorator(x):
    @no_grad()
    def square(t, *, times=1):
        """What it says."""
        return t * t * times

    assert square(x, times=2).node is None
    assert square(x).data.tolist() == [9]
    assert (square.__name__, square.__doc__) == ("square", "What it says.")
    assert (x * x).node is not None


def test_a_decorated_function_that_raises_or_recurses(x):
    @no_grad()
    def sink(depth):
        assert not engine.tracking
        if not depth:
            raise ZeroDivisionError
        sink(depth - 1)

    with pytest.raises(ZeroDivisionError):
        sink(3)


def test_the_state_is_one_for_all_threads(x):
    seen = []
    with no_grad():
        worker = threading.Thread(target=lambda: seen.append((x * x).node))
        worker.start()
        worker.join()
    assert seen == [None]


# Generators -----------------------------------------------------------------------------------------------------


def conversation(x, log):
    """Yields whether tracking is on at each resumption, and notes what it is sent, thrown and closed with."""
    try:
        for _ in range(3):
            try:
                log.append((yield engine.tracking))
            except KeyError as error:
                log.append(error)
        return "done"
    finally:
        log.append(("tracking", engine.tracking))


def test_a_decorated_generator_is_untracked_within_each_step_only(x):
    log = []
    steps = no_grad()(conversation)(x, log)
    assert next(steps) is False
    assert engine.tracking is True
    assert steps.send("hello") is False
    assert engine.tracking is True
    error = KeyError("k")
    assert steps.throw(error) is False
    assert engine.tracking is True
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == "done"
    assert log == ["hello", error, None, ("tracking", False)]


def test_between_steps_tracking_is_the_callers(x):
    steps = no_grad()(conversation)(x, [])
    with no_grad():
        next(steps)
        assert engine.tracking is False
    next(steps)
    with no_grad():
        assert engine.tracking is False
        steps.close()
        assert engine.tracking is False


def test_closing_runs_the_rest_untracked(x):
    log = []
    steps = no_grad()(conversation)(x, log)
    next(steps)
    steps.close()
    assert log == [("tracking", False)]
    with pytest.raises(StopIteration):
        next(steps)


def test_closing_before_the_first_step(x):
    log = []
    no_grad()(conversation)(x, log).close()
    assert log == []


def test_an_error_from_inside_passes_through(x):
    @no_grad()
    def broken():
        yield 1
        raise OSError("inside")

    steps = broken()
    assert next(steps) == 1
    with pytest.raises(OSError, match="inside"):
        next(steps)
    steps = broken()
    next(steps)
    with pytest.raises(RuntimeError, match="mine"):
        steps.throw(RuntimeError("mine"))


def test_a_thrown_stop_is_no_silent_end(x):
    steps = no_grad()(conversation)(x, [])
    next(steps)
    with pytest.raises(RuntimeError):
        steps.throw(StopIteration("early"))


def test_delegating_hands_the_return_value_on(x):
    def outer():
        return (yield from no_grad()(conversation)(x, []))

    steps = outer()
    assert [next(steps) for _ in range(3)] == [False] * 3
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == "done"


def test_results_of_a_decorated_generator_keep_nothing(x):
    @no_grad()
    def squares():
        for k in range(3):
            yield x * k

    products = []
    for y in squares():
        assert y.node is None
        products.append(y * x)
    assert all(p.node is not None for p in products)
    assert np.concatenate([p.data for p in products]).tolist() == [0, 9, 18]
