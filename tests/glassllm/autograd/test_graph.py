"""The graph and its one traversal: order, completeness, what half of it does, and how a graph ends."""

import gc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest

from glassllm.autograd import Tensor, no_grad, op
from glassllm.autograd import graph as graphs
from glassllm.autograd.graph import Node, backward_steps, reach, seed_for, unbroadcast


def leaf(data=1.0):
    return Tensor(np.array(data, float), requires_grad=True)


@contextmanager
def no_garbage_collection():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# The traversal --------------------------------------------------------------------------------------------------


def test_each_place_comes_once_after_all_its_consumers():
    x, w = leaf([1.0, 2.0]), leaf([3.0])
    a = x * w
    b = a + x
    c = (a * b).sum() + a.max()
    visited = []
    for visit in backward_steps(c.node, seed_for(c.data)):
        visited.append(visit.place)
    assert len(visited) == len(set(visited)) == 8
    for i, place in enumerate(visited):
        for source in place.inputs if isinstance(place, Node) else ():
            assert visited.index(source) > i


def test_visits_carry_complete_gradients_and_one_contribution_per_input():
    x, constant = leaf([3.0]), Tensor([5.0])
    y = x * x
    z = y * constant + x
    visits = {visit.place: visit for visit in backward_steps(z.node, np.array([2.0]))}
    assert visits[z.node].grad.tolist() == [2]
    assert visits[y.node].grad.tolist() == [10]
    assert [c.tolist() for c in visits[y.node].contributions] == [[30], [30]]
    assert [c is None for c in visits[z.node.inputs[0]].contributions] == [False, True]
    assert visits[x].grad.tolist() == [62]
    assert visits[x].contributions == ()


def test_leaves_come_as_soon_as_they_are_complete():
    early, late = leaf([1.0]), leaf([2.0])
    y = late * late
    z = y + early
    places = [visit.place for visit in backward_steps(z.node, np.ones(1))]
    assert places == [z.node, early, y.node, late]


def test_half_a_traversal_writes_nothing_and_computes_nothing_later():
    calls = []

    @op
    def counted(x):
        return x + 1

    @counted.rule
    def _(g, y, x):
        calls.append(y)
        return g

    x = leaf([0.0])
    chain = [x]
    for _ in range(5):
        chain.append(counted(chain[-1]))
    steps = backward_steps(chain[-1].node, np.ones(1))
    for pulled in range(1, 4):
        next(steps)
        assert len(calls) == pulled
    assert [t.grad for t in chain] == [None] * 6
    assert [y.tolist() for y in calls] == [[5], [4], [3]]


def test_visits_are_never_written_to_afterwards():
    x = leaf([1.0, 2.0])
    y = x
    for k in range(6):
        y = y * x + x * k + y
    kept, copies = [], []
    for visit in backward_steps(y.node, np.ones(2)):
        arrays = [a for a in (visit.grad, *visit.contributions) if a is not None]
        kept.append(arrays)
        copies.append([a.copy() for a in arrays])
    for arrays, copied in zip(kept, copies, strict=True):
        for a, b in zip(arrays, copied, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_given_seed_is_not_written_to():
    x = leaf([1.0])
    seed = np.ones(1)
    seed.flags.writeable = False
    y = x + x
    for _ in backward_steps((y + y + y).node, seed):
        pass
    for _ in backward_steps(x, seed):
        pass


def test_reach_counts_the_edges_into_each_place():
    x, unwanted = leaf([1.0]), Tensor([1.0])
    y = x * x
    z = y + unwanted
    found = reach(z.node)
    assert found.nodes == [z.node, y.node]
    assert found.edges == {z.node: 0, y.node: 1, x: 2}
    assert reach(x).nodes == []


def test_backward_drains_the_one_traversal(monkeypatch):
    x = leaf([1.0])
    y = x * 2
    monkeypatch.setattr(graphs, "backward_steps", lambda *args: iter(()))
    y.backward()
    assert x.grad is None


def test_only_contributions_calls_rules(monkeypatch):
    x = leaf([1.0])
    y = x * 2
    monkeypatch.setattr(graphs, "contributions", lambda node, g: (np.array([42.0]), None))
    y.backward()
    assert x.grad.tolist() == [42]


@pytest.mark.parametrize(
    ("given", "shape"),
    [((2, 3), ()), ((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((4, 2, 3), (1, 3)), ((0, 3), (1, 3))],
)
def test_unbroadcast_is_the_transpose_of_broadcasting(given, shape):
    grad = np.random.default_rng(0).normal(size=given)
    x = np.random.default_rng(1).normal(size=shape)
    back = unbroadcast(grad, shape, np.float64)
    assert back.shape == shape
    np.testing.assert_allclose((back * x).sum(), (grad * np.broadcast_to(x, given)).sum(), atol=1e-15)
    assert unbroadcast(grad, shape, np.float32).dtype == np.float32


def test_a_gradient_short_of_axes_is_spread():
    assert unbroadcast(2.0, (2, 1), np.float32).tolist() == [[2], [2]]


@pytest.mark.parametrize(("given", "shape"), [((3,), (2,)), ((2, 3), (2,)), ((2,), (2, 3))])
def test_unbroadcast_refuses_what_does_not_fit(given, shape):
    with pytest.raises(ValueError, match="gradient of shape"):
        unbroadcast(np.zeros(given), shape, np.float64)


# Size, and the end ----------------------------------------------------------------------------------------------


def test_a_chain_of_a_million_nodes():
    with no_garbage_collection():
        x = leaf(1.0)
        y = x
        for _ in range(1_000_000):
            y = -y
        y.backward()
        assert x.grad == 1
        ends = [weakref.ref(y), weakref.ref(y.node), weakref.ref(x)]
        del x, y
        assert [end() for end in ends] == [None] * 3


def test_a_ladder_of_diamonds_is_linear():
    x = leaf(1.0)
    y = x
    for _ in range(40):
        y = y + y
    assert len(list(backward_steps(y.node, np.ones(())))) == 41
    y.backward()
    assert x.grad == 2.0**40


@pytest.mark.parametrize("traversed", ["not", "half", "twice", "under no_grad"])
def test_graphs_are_freed_by_reference_counting_alone(traversed):
    with no_garbage_collection():
        x = leaf(np.ones((2, 2)))
        y = (x @ x).reshape(-1)
        z = (Tensor(y.data, parents=(y,), backward=lambda g: g) * x[0, 0]).sum()
        if traversed == "half":
            steps = backward_steps(z.node, np.ones(()))
            next(steps)
            del steps
        elif traversed == "twice":
            z.backward()
            z.backward()
        elif traversed == "under no_grad":
            with no_grad():
                z.backward()
        ends = [weakref.ref(t) for t in (x, y, z, y.node, z.node)]
        del x, y, z
        assert [end() for end in ends] == [None] * 5


def test_a_node_does_not_keep_its_output_alive():
    x = leaf([1.0])
    y = x * 2
    z = y * 3
    lost = weakref.ref(y)
    del y
    assert lost() is None
    z.backward()
    assert x.grad.tolist() == [6]
