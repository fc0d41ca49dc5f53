"""A tree of texts: `generate` to the bit as long as nothing is changed, and exact on the way back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassllm import Config, GlassLM, no_grad
from glassllm.generation import Continuations, continuations
from glassllm.model import Sampling

TINY = Config(vocab_size=11, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=10, init_std=0.4)
PROMPT = [3, 1, 4, 1]


@pytest.fixture(scope="module")
def model():
    return GlassLM(TINY, seed=1)


def tokens(tree, count):
    return [tree.advance().token for _ in range(count)]


def text(tree):
    return [node.token for node in tree.path()]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"greedy": True},
        {"temperature": 0.7, "top_k": 4},
        {"temperature": 1.7, "top_p": 0.8},
        {"top_k": 3, "top_p": 0.5},
    ],
)
@pytest.mark.parametrize("prompt", [[2], PROMPT, list(range(10)), [5] * 13])
def test_it_is_generate_token_for_token(model, options, prompt):
    """Also past max_len, where the window slides."""
    wanted = list(model.generate(prompt, 15, seed=7, **options))
    tree = Continuations(model, prompt, Sampling(**options), seed=7)
    for new in wanted:
        assert np.array_equal(tree.candidates.probs, new.probs)
        assert tree.advance().token == new.token
    assert tree.ids() == (*prompt, *(new.token for new in wanted))


def test_a_step_back_and_on_again_writes_the_same(model):
    tree = Continuations(model, PROMPT, seed=3)
    first = tokens(tree, 12)
    for count in (1, 5, 12, 99):
        tree.back(count)
        assert tree.node.depth == max(0, 12 - count)
        assert text(tree) + tokens(tree, 12 - tree.node.depth) == first
    assert len(tree.nodes) == 13


def test_another_token_by_hand_opens_a_branch(model):
    tree = Continuations(model, PROMPT, seed=3)
    first = tokens(tree, 6)
    tree.back(3)
    other = next(c.token for c in tree.candidates.top(11) if c.token != first[3])
    p = tree.candidates.probs[other]
    node = tree.take(other)
    assert (node.how, node.probability) == ("by hand", p)
    assert node.rng == tree.nodes[node.parent].rng
    tokens(tree, 4)
    assert text(tree)[:4] == [*first[:3], other] and len(tree.nodes) == 12
    wanted = np.array([step.probs for step in model.generate(tree.ids()[:8], 1)])
    assert tree.go(node.number).depth == 4
    np.testing.assert_allclose(tree.candidates.probs, wanted[0], atol=1e-6)
    assert tree.back().depth == 3 and tree.follow().number == node.number


def test_the_same_token_is_the_same_node(model):
    tree = Continuations(model, PROMPT, seed=3)
    node = tree.advance()
    tree.back()
    assert tree.take(node.token).number == node.number and tree.node.how == "by hand"
    tree.back()
    assert tree.advance() == node and len(tree.nodes) == 2


def test_settings_may_change_between_tokens(model):
    tree = Continuations(model, PROMPT, seed=3)
    first = tokens(tree, 3)
    tree.sampling = Sampling(greedy=True)
    greedy = tree.advance()
    assert greedy.how == "greedy" and greedy.token == tree.model.forward(tree.ids()[:-1]).data[0, -1].argmax()
    assert greedy.rng == tree.nodes[greedy.parent].rng
    tree.sampling = Sampling(top_k=1)
    assert tree.advance().probability == 1 and text(tree)[:3] == first
    assert [node.sampling for node in tree.path()[2:]] == [Sampling(), Sampling(greedy=True), Sampling(top_k=1)]


def test_a_new_seed_draws_otherwise_from_here_on(model):
    tree = Continuations(model, PROMPT, Sampling(5.0), seed=3)
    first = tokens(tree, 5)
    tree.back(5)
    tree.reseed(4)
    assert tree.seed == 4
    assert tokens(tree, 5) == [new.token for new in model.generate(PROMPT, 5, 5.0, seed=4)] != first


def test_without_a_seed_one_is_chosen_and_can_be_repeated(model):
    tree = Continuations(model, PROMPT)
    assert tokens(tree, 5) == tokens(Continuations(model, PROMPT, seed=tree.seed), 5)


def test_the_number_drawn_falls_into_the_share_of_its_token(model):
    tree = Continuations(model, PROMPT, Sampling(top_k=5), seed=8)
    assert tree.drawn() is None
    for _ in range(6):
        candidates = tree.candidates
        node = tree.advance()
        share = candidates.of(node.token)
        assert share.low <= tree.drawn() < share.high
    tree.take(1)
    assert tree.drawn() is None


@pytest.mark.parametrize("prompt", [[2], PROMPT, [5, 6] * 6])
def test_perplexity_is_that_of_the_whole_text(model, prompt):
    tree = Continuations(model, prompt, seed=1)
    assert (tree.perplexity is None) == (len(prompt) == 1)
    tokens(tree, 4)
    ids = tree.ids()
    surprisals = []
    with no_grad():
        for i in range(max(1, len(prompt) - 9), len(ids)):
            seen = ids[max(0, len(prompt) - 10) : i] if i < len(prompt) else ids[max(0, i - 10) : i]
            logits = model.forward(seen).data[0, -1].astype(np.float64)
            surprisals.append(np.log(np.exp(logits).sum()) - logits[ids[i]])
    assert tree.perplexity == pytest.approx(np.exp(np.mean(surprisals)), rel=1e-5)


def test_logits_forgotten_are_computed_again_to_the_bit(model, monkeypatch):
    whole = Continuations(model, PROMPT, seed=3)
    monkeypatch.setattr(continuations, "KEPT_BYTES", 100)
    tree = Continuations(model, PROMPT, seed=3)
    assert tokens(tree, 12) == tokens(whole, 12)
    for number in (0, 5, 12, 2, 1, 11, 0):
        assert np.array_equal(
            tree.go(number) and tree.candidates.logits, whole.go(number) and whole.candidates.logits
        )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(st.just("on"), st.just("follow"), st.integers(1, 6), st.integers(-10, -1)), max_size=20))
def test_any_walk_ends_where_a_straight_one_does(model, walk):
    tree = Continuations(model, PROMPT, seed=3)
    for move in walk:
        if move == "on":
            tree.advance()
        elif move == "follow":
            tree.follow()
        elif move > 0:
            tree.back(move)
        else:
            tree.take(-move)
    straight = Continuations(model, PROMPT, seed=3)
    for node in tree.path():
        straight.take(node.token)
    assert np.array_equal(tree.candidates.logits, straight.candidates.logits)
    assert tree.ids() == straight.ids()
    assert tree.perplexity == pytest.approx(straight.perplexity, rel=1e-12)


@pytest.mark.parametrize(("prompt", "error"), [([], ValueError), ([99], IndexError), ([[1], [2]], ValueError)])
def test_bad_prompts_are_refused(model, prompt, error):
    with pytest.raises(error):
        Continuations(model, prompt)


def test_tokens_and_nodes_that_do_not_exist(model):
    tree = Continuations(model, PROMPT)
    with pytest.raises(IndexError, match="token 11"):
        tree.take(11)
    with pytest.raises(IndexError, match="node 1 "):
        tree.go(1)
    assert tree.follow() is None and len(tree.nodes) == 1


def test_logits_that_are_not_finite_are_refused_where_a_token_is_chosen():
    broken = GlassLM(TINY)
    broken.E.data[:] = np.nan
    tree = Continuations(broken, PROMPT)
    with pytest.raises(ValueError, match="NaN or Inf"):
        tree.advance()
    assert tree.here == 0
