"""The visits told from a manifest are those that a traversal makes."""

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import concat
from glassllm.debug.recorder import record
from glassllm.debug.recording.columns import COLUMNS, Columns
from glassllm.debug.recording.visits import Sends
from glassllm.debug.recording.write import described
from glassllm.debug.session import Session
from glassllm.debug.slices import finished
from tests.glassllm.debug.recording import small


def of_a_random_graph(seed):
    """Thirty nodes, each of up to three of the rows before it, among them leaves used again and again."""
    rng = np.random.default_rng(seed)
    known = [Tensor(np.ones(2), requires_grad=bool(i % 3)) for i in range(6)]
    with record() as tape:
        for _ in range(30):
            known.append(concat([known[i] for i in rng.integers(0, len(known), rng.integers(1, 4))])[:2])
    return Session.of(tape)


SESSIONS = [small.session, *(lambda seed=seed: of_a_random_graph(seed) for seed in range(5))]


def sends_of(session):
    members = described(session)
    columns = Columns(**{name: members[name] for name in COLUMNS})
    return columns, Sends(columns)


@pytest.mark.parametrize("made", SESSIONS)
def test_they_are_those_of_the_plan(made):
    tape = (session := made()).tape
    columns, sends = sends_of(session)
    for root in [*columns.tracked.tolist(), *columns.leaves.tolist()]:
        assert list(finished(sends.visits_from(root))) == list(tape.plan_from(root).order)


def test_a_model_s_too(session):
    _, sends = sends_of(session)
    order = finished(sends.visits_from(session.tape.default_root))
    assert list(order) == list(session.tape.default_plan.order)
