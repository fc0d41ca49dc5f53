"""The visits told from a manifest are those that a traversal makes."""

import json

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import concat
from glassllm.debug.recorder import record
from glassllm.debug.recording.manifest import read_manifest
from glassllm.debug.recording.visits import visits_from
from glassllm.debug.recording.write import RECORDING, described
from glassllm.debug.session import Session
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


@pytest.mark.parametrize("made", SESSIONS)
def test_they_are_those_of_the_plan(made):
    tape = (session := made()).tape
    manifest = read_manifest(json.dumps(json.loads(str(described(session)[RECORDING]))))
    sends = {row: manifest.carried(row) for row in manifest.created}
    for root in [*manifest.created, *manifest.leaves]:
        assert list(visits_from(root, sends)) == list(tape.plan_from(root).order)


def test_a_model_s_too(session):
    manifest = read_manifest(str(described(session)[RECORDING]))
    sends = {row: manifest.carried(row) for row in manifest.created}
    assert list(visits_from(session.tape.default_root, sends)) == list(session.tape.default_plan.order)
