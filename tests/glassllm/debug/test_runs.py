import numpy as np
import pytest

from glassllm import Tokenizer
from glassllm.debug.commands import run
from glassllm.debug.runs import next_tokens
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError


@pytest.fixture
def spoken(model):
    """The model with a tokenizer of its size."""
    model.tokenizer = Tokenizer("▁abcdefghijkl", [])
    assert model.tokenizer.vocab_size == model.config.vocab_size
    return model


def test_each_id_has_the_next_as_its_target(model):
    facts = Session.open(model, ids=[3, 1, 4], name="tiny.npz").facts
    assert (facts.ids, facts.targets) == ((3, 1), (1, 4))
    assert facts.loss == pytest.approx(float(model.loss([3, 1], [1, 4]).data))
    assert (facts.name, facts.events, facts.dtype, facts.tracked) == ("tiny.npz", 41, "float32", True)
    assert facts.parameters == sum(p.size for p in model.parameters())
    assert facts.notes == ()


def test_given_targets_are_taken_as_they_are(model):
    facts = Session.open(model, ids=[3, 1, 4], targets=[0, 0, 0]).facts
    assert (facts.ids, facts.targets) == ((3, 1, 4), (0, 0, 0))


def test_one_id_runs_forward_alone(model):
    session = Session.open(model, ids=[3])
    assert (session.facts.events, session.facts.loss, session.facts.targets) == (39, None, ())
    assert "no loss" in session.facts.notes[0]
    assert session.facts.notes[0] in "".join(text for text, _ in session.snapshot().said)
    run(session, "continue 2")
    assert session.tape.rows[session.tape.root(1)].scope == "logits"


def test_too_many_ids_are_cut_and_said(model):
    session = Session.open(model, ids=range(10))
    assert (session.facts.ids, session.facts.targets) == (tuple(range(6)), tuple(range(1, 7)))
    assert session.facts.notes == ("took the first 7 of 10 tokens, max_len is 6",)


def test_a_text_is_run_by_its_tokens(spoken):
    facts = Session.open(spoken, text="ab cd").facts
    assert facts.tokens == ("a", "b", " ", "c")
    assert facts.vocabulary[4:7] == (" ", "a", "b")


def test_what_runs_by_default(spoken):
    spoken.sample = [7, 8, 9]
    assert Session.open(spoken).facts.ids == (7, 8)
    spoken.sample = np.array([9, 8, 7])  # as a checkpoint has it
    assert Session.open(spoken).facts.ids == (9, 8)
    spoken.sample = []
    assert Session.open(spoken).facts.ids[:2] == (1, 1)
    spoken.sample = None
    assert Session.open(spoken).facts.ids[:3] == (1, 1, 7)  # O and n are unknown, then c
    spoken.tokenizer = None
    plain = Session.open(spoken).facts
    assert plain.ids == tuple(range(6))
    assert (plain.tokens[:2], plain.vocabulary) == (("0", "1"), ())


BAD = [
    ({"ids": []}, "at least one id"),
    ({"ids": [3, 99]}, "from 0 to 16"),
    ({"ids": [3, 1], "targets": [1]}, "2 ids need 2 targets"),
    ({"text": "abc"}, "without a tokenizer"),
]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_what_cannot_run_is_refused(model, given, words):
    with pytest.raises(CommandError, match=words):
        Session.open(model, **given)


def test_running_again(spoken):
    session = Session.open(spoken, text="abcde")
    first = session.facts.loss
    spoken.E.data[:] = spoken.E.data * 2
    assert run(session, "rerun").run.loss != first
    assert run(session, "text help fab").run.tokens == ("h", "e", "l", "<unk>", " ", "f")
    assert run(session, "ids 3, 1, 4").run.ids == (3, 1)
    assert run(session, "targets 0 0").run.targets == (0, 0)
    assert run(session, "targets off").run.loss is None
    assert not run(session, "no_grad on").run.tracked
    assert run(session, "no_grad off").run.tracked
    with pytest.raises(CommandError, match="2 ids need"):
        run(session, "targets 1 2 3")
    with pytest.raises(CommandError, match="from 0 to 16"):
        run(session, "ids 1 2000")
    assert session.facts.ids == (3, 1), "what fails leaves the session as it was"


def test_running_again_stays_where_it_was(session):
    run(session, "run-to blocks.1.attn.softmax")
    run(session, "select blocks.0.attn.q")
    snapshot = run(session, "ids 1 2 3")
    assert snapshot.tape.rows[snapshot.current].scope == "blocks.1.attn.softmax"
    assert snapshot.focus.title == "blocks.0 · attn.q"
    assert snapshot.focus.value.shape == (4, 2, 2)
    run(session, "backward")
    assert run(session, "rerun").position == session.places.end(0)
    assert session.tape.traversals == []


def test_the_likeliest_next_tokens():
    logits = np.log(np.array([0.1, 0.6, 0.3]))
    assert next_tokens(logits, ("a", "b"), k=2) == [("b", pytest.approx(0.6)), ("2", pytest.approx(0.3))]
    assert next_tokens(np.array([np.nan, 1.0]), ()) == []
    assert next_tokens(np.array([]), ()) == []
    assert next_tokens(np.array([-np.inf, 0.0]), ("a", "b")) == [("b", 1.0), ("a", 0.0)]
