"""A writer: going on is what generate does, branches stay, and a view says what is there."""

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.generation import Sampling, Writer
from glassllm.tokenizer import EOS

CONFIG = Config(vocab_size=20, d_model=8, n_layers=2, n_heads=2, n_kv_heads=1, max_len=12)


@pytest.fixture
def model():
    return GlassLM(CONFIG, seed=1)


def tokens(writer):
    return [node.token for node in writer.tree.path()]


def test_going_on_is_generate_and_every_step_was_foretold(model):
    writer = Writer(model, [1, 2, 3], seed=5)
    expected = [new.token for new in model.generate([1, 2, 3], 20, seed=5)]
    for token in expected:
        view = writer.view()
        assert view.upcoming == token
        found = view.candidates.of(token)
        assert found.low <= view.drawn < found.high
        writer.next()
    assert tokens(writer) == expected


def test_back_and_on_again_is_the_same_text_and_a_token_by_hand_stays_the_way(model):
    writer = Writer(model, [1, 2, 3], seed=5)
    writer.next(4)
    before = tokens(writer)
    writer.back(3)
    writer.next(3)
    assert tokens(writer) == before
    writer.back(2)
    other = next(int(i) for i in writer.view().candidates.order if i != before[2])
    writer.take(other)
    writer.back()
    view = writer.view()
    assert (view.upcoming, view.how) == (other, "by hand before")
    assert set(view.taken) == {before[2], other}
    writer.next()
    assert tokens(writer) == [*before[:2], other]
    assert writer.view().branches == 1


def test_changed_settings_draw_anew_and_the_old_branch_stays(model):
    writer = Writer(model, [1, 2, 3], seed=5)
    writer.next(2)
    old = writer.tree.here
    writer.first()
    writer.set(greedy=True)
    view = writer.view()
    assert (view.upcoming, view.how, view.drawn) == (view.candidates.likeliest, "greedy", None)
    writer.next()
    assert writer.tree.nodes[old].depth == 2
    assert writer.view().sampling == Sampling(greedy=True)


def test_another_seed_draws_what_it_draws(model):
    writer = Writer(model, [1, 2, 3], seed=5)
    writer.next()
    writer.first()
    writer.reseed(9)
    writer.next(3)
    assert tokens(writer) == [new.token for new in model.generate([1, 2, 3], 3, seed=9)]


def test_writing_goes_to_the_goal_and_no_further(model):
    writer = Writer(model, [1, 2, 3], seed=5)
    news = list(writer.writing())
    expected = [new.token for new in model.generate([1, 2, 3], 40, seed=5)]
    end = expected.index(EOS) + 1 if EOS in expected else 40
    assert tokens(writer) == expected[:end]
    assert len(news) >= end - 1


def test_a_view_is_frozen_and_of_the_place_it_was_taken_at(model):
    writer = Writer(model, [1, 2, 3], seed=5)
    view = writer.view()
    writer.next(15)
    assert (view.depth, len(view.tokens), view.unseen) == (0, 3, 0)
    assert view.attention.shape == (2, 2, 3)
    assert not view.attention.flags.writeable
    later = writer.view()
    assert (later.depth, later.unseen, later.attention.shape[-1]) == (15, 6, 12)
    assert later.goal == 40
    assert later.seconds > 0


def test_a_prompt_in_words_needs_a_tokenizer_and_some_words(model):
    with pytest.raises(ValueError, match="without a tokenizer"):
        Writer(model, [1]).write_after("a fox")
    tokenizer = Tokenizer.train("a fox and an owl " * 5, 20)
    small = GlassLM(Config(vocab_size=tokenizer.vocab_size, d_model=8, n_layers=1, n_heads=2, max_len=12))
    small.tokenizer = tokenizer
    writer = Writer(small)
    with pytest.raises(ValueError, match="empty"):
        writer.write_after("")
    writer.write_after("an owl")
    assert "".join(writer.view().tokens).strip() == "an owl"


def test_logits_that_are_not_finite_are_a_fault_of_the_view(model):
    model.norm_f.gamma.data[:] = np.nan
    with np.errstate(all="ignore"):
        view = Writer(model, [1, 2]).view()
    assert "NaN" in view.fault
    assert view.candidates is view.upcoming is view.lens is None
