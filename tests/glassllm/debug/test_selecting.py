import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import log
from glassllm.debug.commands import run
from glassllm.debug.search import find_rows
from glassllm.debug.session import Session
from glassllm.debug.slices import finished
from glassllm.debug.snapshot import CommandError


def title(snapshot):
    return snapshot.focus.title


TARGETS = [
    ("blocks.1.attn.softmax", "blocks.1 · attn.softmax"),
    ("attn.softmax", "blocks.0 · attn.softmax"),
    ("softmax", "blocks.0 · attn.softmax"),
    ("E", "E"),
    ("blocks.1.ffn.W2", "blocks.1.ffn.W2"),
    ("attn.W_Q", "blocks.0.attn.W_Q"),
    ("loss.grad", "loss.grad"),
    ("1", "embed"),
    ("#0", "E"),
    ("norm.final.sqrt", "norm.final · sqrt"),
    ("norm.final sqrt", "norm.final · sqrt"),
    ("blocks.*.ffn.up", "blocks.0 · ffn.up"),
    ("**.ffn.up", "blocks.0 · ffn.up"),
]


@pytest.mark.parametrize(("target", "expected"), TARGETS, ids=[t for t, _ in TARGETS])
def test_a_row_is_meant_by(session, target, expected):
    assert title(run(session, f"select {target}")) == expected


def test_the_block_of_the_selection_is_meant_first(session):
    run(session, "select blocks.1.ffn.up")
    assert title(run(session, "select attn.softmax")) == "blocks.1 · attn.softmax"


def test_selecting_runs_nothing(session):
    before = session.position
    snapshot = run(session, "select logits")
    assert (snapshot.position, snapshot.focus.is_current, snapshot.focus.recorded) == (before, False, False)
    assert run(session, "here").focus.is_current


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("attn.sofmax", "did you mean attn.softmax"),
        ("logits[", r"did you mean logits\?"),
        ("999", "go up to"),
        ("#999", "go up to"),
    ],
)
def test_what_is_not_there(session, target, words):
    with pytest.raises(CommandError, match=words):
        run(session, f"select {target}")


PATTERNS = [
    ("blocks.*.attn.softmax", 2),
    ("**.ffn.gate", 2),
    ("blocks.0.norm.*", 2),
    ("blocks.0.norm.attn.**", 6),
    ("**", None),
    ("softmax", 2),
    ("cross_*", 1),
    ("rope", 4),
    ("no.such.*", 0),
    ("", 0),
    ("[", 0),
]


@pytest.mark.parametrize(("pattern", "count"), PATTERNS, ids=[p or "nothing" for p, _ in PATTERNS])
def test_patterns(session, pattern, count):
    assert len(finished(find_rows(session.tape, pattern))) == (len(session.tape.rows) if count is None else count)


def test_matches_are_walked_round(session):
    found = [title(run(session, "search blocks.*.attn.softmax"))]
    found += [title(run(session, "match")) for _ in range(2)]
    found += [title(run(session, "match-back"))]
    assert found == [f"blocks.{i} · attn.softmax" for i in (0, 1, 0, 1)]
    run(session, "select blocks.0.ffn.up")
    assert title(run(session, "match")) == "blocks.1 · attn.softmax"


def test_nothing_found_says_how_patterns_go(session):
    with pytest.raises(CommandError, match="by segment"):
        run(session, "search zebra")
    with pytest.raises(CommandError, match="search"):
        run(session, "match")


def test_events_up_and_down(session):
    assert title(run(session, "select-next 2")) == "blocks.0 · attn.q"
    assert title(run(session, "select-previous")) == "blocks.0 · norm.attn"
    assert title(run(session, "select-previous 9")) == "embed"
    run(session, "select norm.final sqrt")
    assert title(run(session, "select-next")) == "norm.final"
    run(session, "select norm.final sqrt")
    assert title(run(session, "select-previous")) == "blocks.1 · resid.ffn"
    assert title(run(session, "select-next 99")) == "loss.grad"


def test_producers_and_consumers_take_turns(session):
    run(session, "select blocks.0.resid.attn")
    up = []
    for _ in range(3):
        up.append(title(run(session, "producer")))
        run(session, "select blocks.0.resid.attn")
    assert up == ["embed", "blocks.0 · attn.out", "embed"]
    down = []
    for _ in range(2):
        down.append(title(run(session, "consumer")))
        run(session, "producer")
    assert down[0] != down[1]
    with pytest.raises(CommandError, match="given"):
        run(session, "select E") and run(session, "producer")
    with pytest.raises(CommandError, match="used by nothing"):
        run(session, "select loss") and run(session, "consumer")


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_the_next_value_that_is_not_finite():
    x = Tensor(np.array([0.0, 1.0]), requires_grad=True)
    session = Session.of(log(x).sum() + x.sum())
    run(session, "select input 1")
    assert title(run(session, "non-finite")) == "log"
    assert title(run(session, "non-finite")) == "tsum"
    run(session, "continue 2")
    run(session, "select add")
    assert title(run(session, "non-finite")) == "input 1"
    assert "Inf 1 in its gradient" in "".join(text for text, _ in session.snapshot().said)


def test_a_mask_is_no_fault(session):
    run(session, "continue 2")
    assert "finite" in "".join(text for text, _ in run(session, "non-finite").said)


def test_where_says_the_place(session):
    words = "".join(text for text, _ in run(session, "where").said)
    assert words == "▶ forward 1/41  embed  node 1 of 93  embedding  4×8"
    run(session, "backward")
    assert "visit 1 of " in "".join(text for text, _ in run(session, "where").said)
