"""Generation: what is drawn, from what, and that stepping it leaves tracking as the caller had it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassllm import STEPS, Config, GlassLM, Tensor, no_grad
from glassllm.autograd import softmax_np
from glassllm.model import Sampling

TINY = Config(vocab_size=11, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=10, init_std=0.4)
PROMPT = [3, 1, 4, 1]


@pytest.fixture(scope="module")
def model():
    return GlassLM(TINY, seed=1)


def last_logits(model, ids):
    with no_grad():
        return model.forward(ids[-TINY.max_len :]).data[0, -1].astype(np.float64)


@pytest.mark.parametrize("greedy", [True, False])
def test_tokens_and_probabilities_are_those_of_whole_forwards(model, greedy):
    """Also past max_len, where the window slides."""
    ids, rng = list(PROMPT), np.random.default_rng(7)
    for new in model.generate(PROMPT, 14, temperature=0.7, greedy=greedy, seed=7):
        wanted = softmax_np(last_logits(model, ids) / 0.7)
        assert new.probs.dtype == np.float64 and new.probs.shape == (11,)
        np.testing.assert_allclose(new.probs, wanted, rtol=0, atol=1e-5)
        assert new.token == (new.probs.argmax() if greedy else rng.choice(11, p=new.probs))
        assert type(new.token) is int and new.trace is None
        ids.append(new.token)
    assert len(ids) == 18


def test_a_prompt_longer_than_max_len_counts_by_its_end(model):
    long = np.random.default_rng(0).integers(0, 11, 25)
    first = next(model.generate(long, 1, greedy=True))
    np.testing.assert_allclose(first.probs, softmax_np(last_logits(model, long)), rtol=0, atol=1e-5)


def test_a_seed_repeats_and_no_seed_does_not(model):
    def tokens(**settings):
        return [new.token for new in model.generate(PROMPT, 30, temperature=5.0, **settings)]

    assert tokens(seed=3) == tokens(seed=3)
    assert tokens(seed=3) != tokens(seed=4)
    assert tokens() != tokens()


def test_a_traced_token_has_77_records_in_the_default_model():
    model = GlassLM(Config())
    first, second = model.generate([1, 2, 3], 2, trace=True, seed=0)
    assert first.trace is not second.trace
    for new, n, m in ((first, 3, 3), (second, 1, 4)):
        assert len(new.trace.records) == 77
        assert new.trace.step_ids()[-4:] == ["norm.final", "logits", "probs", "sample"]
        assert new.trace.get("logits").shape == (n, 1024)
        assert new.trace.get("attn.k", 2).shape == (2, n, 32)
        assert new.trace.get("attn.softmax", 3).shape == (4, n, m)
        assert np.array_equal(new.trace.get("probs").value, new.probs)
        assert new.trace.get("sample").value == new.token and new.trace.get("sample").shape == ()


def test_the_hook_hears_each_token(model, hooked):
    heard = []

    class Ear:
        def applied(self, *application):
            pass

        def marked(self, step_id, value, layer):
            heard.append(step_id)

    with hooked(Ear()):
        list(model.generate(PROMPT, 2))
    a_token = ["embed", *[id for id, step in STEPS.items() if step.in_block] * 2, "norm.final", "logits"]
    assert heard == [*a_token, "probs", "sample"] * 2


def test_no_token_builds_a_graph(model, hooked):
    """Neither with the cache nor past max_len, where it no longer serves."""
    untracked = []

    class Ear:
        def applied(self, op, inputs, attrs, saved, result):
            untracked.append(not result.requires_grad)

        def marked(self, step_id, value, layer):
            pass

    with hooked(Ear()):
        list(model.generate(PROMPT, 9))
    assert len(untracked) > 100 and all(untracked)


LOGITS = np.array([2.0, 0.0, 1.0, 1.0, -3.0], np.float32)
SHARES = np.exp(LOGITS.astype(np.float64)) / np.exp(LOGITS.astype(np.float64)).sum()


@pytest.mark.parametrize(
    "limits, kept",
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"top_k": 9}, [0, 1, 2, 3, 4]),
        ({"top_k": 1}, [0]),
        ({"top_k": 2}, [0, 2]),
        ({"top_k": 3}, [0, 2, 3]),
        ({"top_p": 1.0}, [0, 1, 2, 3, 4]),
        ({"top_p": 1e-9}, [0]),
        ({"top_p": SHARES[0] + 1e-9}, [0, 2]),
        ({"top_p": SHARES[0] - 1e-9}, [0]),
        ({"top_k": 2, "top_p": 0.9999}, [0, 2]),
    ],
)
def test_limits_keep_the_likeliest_and_share_out_the_rest(limits, kept):
    probs = Sampling(**limits).probs(LOGITS)
    wanted = np.zeros(5)
    wanted[kept] = SHARES[kept] / SHARES[kept].sum()
    np.testing.assert_allclose(probs, wanted, rtol=1e-12)


@pytest.mark.parametrize("temperature", [1e-320, 1e-3, 1.0, 1e300])
def test_any_temperature_above_zero_gives_a_distribution(temperature):
    probs = Sampling(temperature).probs(LOGITS)
    assert probs.sum() == pytest.approx(1) and (probs >= 0).all()
    assert probs.argmax() == 0 if temperature <= 1 else probs == pytest.approx(0.2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("greedy", [True, False])
def test_logits_that_are_not_finite_are_refused(bad, greedy):
    with pytest.raises(ValueError, match="NaN or Inf"):
        Sampling(greedy=greedy).probs(np.array([0.0, bad]))


@pytest.mark.parametrize(
    "arguments, named",
    [
        ({"temperature": 0}, "temperature"),
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": np.nan}, "temperature"),
        ({"temperature": np.inf}, "temperature"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"n_new": -1}, "n_new"),
        ({"ids": []}, "at least one id"),
        ({"ids": [[1, 2], [3, 4]]}, "one prompt"),
    ],
)
def test_bad_arguments_are_refused_at_the_call(model, arguments, named):
    with pytest.raises(ValueError, match=named):
        model.generate(**{"ids": PROMPT, "n_new": 3, **arguments})


def is_tracking():
    return (2 * Tensor(np.ones(1), requires_grad=True)).requires_grad


@settings(max_examples=40, deadline=None)
@given(
    moves=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["step", "close", "throw"])), max_size=12),
    untracked=st.booleans(),
)
def test_generators_in_any_order_leave_tracking_alone(model, moves, untracked):
    running = [model.generate(PROMPT, 3, seed=i) for i in range(3)]

    def play(moves):
        before = is_tracking()
        for which, move in moves:
            if move == "step":
                next(running[which], None)
            elif move == "close":
                running[which].close()
            else:
                with pytest.raises(KeyboardInterrupt):
                    running[which].throw(KeyboardInterrupt)
            assert is_tracking() is before

    half = len(moves) // 2
    if untracked:
        with no_grad():
            play(moves[:half])
    else:
        play(moves[:half])
    play(moves[half:])
    running.clear()  # whatever is left is abandoned here
    assert is_tracking()


def test_a_failing_step_leaves_tracking_on():
    broken = GlassLM(TINY)
    broken.E.data[:] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        next(broken.generate(PROMPT, 1))
    assert is_tracking()
