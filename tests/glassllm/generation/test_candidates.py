"""Candidates: the stages of a Sampling one by one, and what each took away."""

import numpy as np
import pytest

from glassllm.generation import Candidates, entropy
from glassllm.model import Sampling

LOGITS = np.array([2.0, 0.0, 1.0, 1.0, -3.0], np.float32)


def test_each_stage_has_one_setting_more():
    found = Candidates(LOGITS, Sampling(0.5, top_k=3, top_p=0.7))
    assert [stage.name for stage in found.stages] == ["model", "temperature", "top-k", "top-p"]
    settings = [Sampling(), Sampling(0.5), Sampling(0.5, top_k=3), Sampling(0.5, top_k=3, top_p=0.7)]
    for stage, sampling in zip(found.stages, settings, strict=True):
        assert np.array_equal(stage.probs, sampling.probs(LOGITS))
        assert stage.entropy == entropy(stage.probs)
    assert [stage.kept for stage in found.stages] == [5, 5, 3, 1]
    warm, limited = found.stages[1].probs, found.stages[2].probs
    assert [stage.cut for stage in found.stages] == [0, 0, warm[[1, 4]].sum(), limited[[2, 3]].sum()]
    assert found.probs is found.stages[-1].probs and not found.probs.flags.writeable


@pytest.mark.parametrize(
    ("sampling", "count"), [(Sampling(), 2), (Sampling(top_p=0.5), 3), (Sampling(top_k=1), 3)]
)
def test_a_limit_that_is_not_set_is_no_stage(sampling, count):
    assert len(Candidates(LOGITS, sampling).stages) == count


def test_a_candidate_in_all_stages():
    found = Candidates(LOGITS, Sampling(top_k=4, top_p=0.7))
    assert [c.token for c in found.top(9)] == [0, 2, 3, 1, 4] and [c.rank for c in found.top(9)] == [1, 2, 3, 4, 5]
    assert [c.cut_by for c in found.top(9)] == [None, None, "top-p", "top-p", "top-k"]
    assert found.of(4).probs[2:] == (0, 0) and found.likeliest == 0
    with pytest.raises(IndexError, match="token 5 is not from 0 to 4"):
        found.of(5)


def test_shares_are_where_a_draw_falls():
    found = Candidates(LOGITS, Sampling(top_k=3))
    for seed in range(50):
        token, u = found.choose(np.random.default_rng(seed)), np.random.default_rng(seed).random()
        assert found.of(token).low <= u < found.of(token).high
    shares = [found.of(i) for i in range(5)]
    assert shares[0].low == 0 and shares[-1].high == 1
    assert [c.high - c.low for c in shares] == pytest.approx(list(found.probs))


def test_entropy_and_surprisal_in_nats():
    even = Candidates(np.zeros(8), Sampling(0.1, top_k=2))
    assert even.entropy == pytest.approx(np.log(8)) and even.stages[-1].entropy == pytest.approx(np.log(2))
    assert even.surprisal(7) == pytest.approx(np.log(8))
    assert Candidates(np.array([0.0, -1e9]), Sampling()).surprisal(1) == np.inf


def test_logits_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="NaN or Inf"):
        Candidates(np.array([0.0, np.nan]), Sampling())
