"""The two lines about the selected row: which numbers are put in, and when."""

import numpy as np
import pytest

from glassllm.autograd import softmax, where
from glassllm.autograd.tensor import Tensor
from glassllm.debug.explain.rule import rule_lines
from glassllm.debug.session import Session, drain


def focus_at_end(session, name):
    """The focus on the first row of that name once every gradient is final."""
    drain(session.proceed())
    drain(session.proceed())
    row = next(row.id for row in session.tape.rows if row.name == name)
    session.selection = row
    return session.snapshot().focus


@pytest.fixture
def attention():
    """Masked scores (1, 2, 2, 2), their softmax, and a sum of one of its rows."""
    scores = Tensor(np.array([[[[1.0, 2.0], [3.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]]), requires_grad=True)
    hidden = np.array([[False, True], [False, False]])
    weights = softmax(where(hidden, -np.inf, scores))
    return Session.of((weights * np.array([1.0, 0.0])).sum(), names={"scores": scores})


def test_the_rank_counts_what_no_mask_excluded(attention):
    focus = focus_at_end(attention, "softmax")
    assert rule_lines(focus, (0, 0, 0, 0)).rank == "rank 1 of 1 in its row"
    assert rule_lines(focus, (0, 0, 0, 1)).rank == ""
    assert rule_lines(focus, (0, 0, 1, 1)).rank == "rank 2 of 2 in its row"
    assert rule_lines(focus, (0, 1, 1, 1)).rank == "rank 1 of 2 in its row"


def test_a_masked_score_has_no_rank_and_is_no_rival(attention):
    focus = focus_at_end(attention, "where")
    assert rule_lines(focus, (0, 0, 0, 1)).rank == ""
    assert rule_lines(focus, (0, 0, 0, 0)).rank == "rank 1 of 1 in its row"


def test_a_softmax_ranks_along_its_own_axis():
    a = Tensor(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 4.0]]), requires_grad=True)
    focus = focus_at_end(Session.of(softmax(a, axis=0).sum()), "softmax")
    assert rule_lines(focus, (0, 1)).rank == "rank 2 of 3 along axis 0"


def test_numbers_and_gradients_are_the_cell_s(attention):
    lines = rule_lines(focus_at_end(attention, "softmax"), (0, 0, 1, 0))
    assert lines.numbers == "= exp(+3.000) / 22.804 = +0.8808"
    assert lines.gradients == "= +0.8808 × (+1.0000 − 0.8808) = +0.1050"
    assert (lines.value, lines.gradient) == ("+0.8808", "+1.0000")


@pytest.mark.parametrize("cell", [None, (), (0, 0), (0, 0, 0, 2), (0, 0, -1, 0)])
def test_without_a_cell_there_are_only_the_formulas(attention, cell):
    lines = rule_lines(focus_at_end(attention, "softmax"), cell)
    assert lines.forward and lines.backward and lines.words
    assert not (lines.numbers or lines.gradients or lines.value or lines.gradient or lines.rank)


def test_before_the_gradient_is_there_only_forward_has_numbers(attention):
    drain(attention.proceed())
    attention.selection = next(row.id for row in attention.tape.rows if row.name == "softmax")
    lines = rule_lines(attention.snapshot().focus, (0, 0, 1, 0))
    assert lines.numbers and not lines.gradients and not lines.gradient


def test_a_leaf_is_given(attention):
    lines = rule_lines(focus_at_end(attention, "scores"), (0, 0, 1, 0))
    assert (lines.name, lines.words, lines.forward) == ("scores", "parameter", "given, not computed")
    assert (lines.numbers, lines.gradient) == ("= +3.0000", "+0.1050")


def test_a_constant_takes_no_gradient(attention):
    lines = rule_lines(focus_at_end(attention, "mul.b"), (1,))
    assert (lines.words, lines.backward, lines.value, lines.gradient) == ("constant", "takes no gradient", "0", "")


def test_a_batch_that_is_not_shown_is_put_back(model):
    """The event drops its batch of one; the op's arrays have it."""
    session = Session.open(model, ids=[1, 2, 3, 4])
    event = next(e for e in session.tape.events if e.step == "attn.softmax")
    drain(session.proceed())
    drain(session.proceed())
    session.selection = event.row
    focus = session.snapshot().focus
    assert focus.value.ndim == 3 and focus.row.array.ndim == 4
    lines = rule_lines(focus, (1, 2, 1))
    assert lines.numbers.endswith(lines.value) and lines.gradients.startswith(f"= {lines.value} × (")
    assert lines.rank.endswith("of 3 in its row")
    assert rule_lines(focus, (1, 1, 2)).numbers.endswith("= 0")
    assert rule_lines(focus, (1, 1, 2)).rank == ""


def test_every_cell_of_every_row_of_a_model_can_be_said(session):
    drain(session.proceed())
    drain(session.proceed())
    for row in session.tape.rows:
        session.selection = row.id
        focus = session.snapshot().focus
        cells = list(np.ndindex(focus.value.shape))
        for cell in {cells[0], cells[-1]}:
            lines = rule_lines(focus, cell)
            assert lines.numbers.endswith(f"= {lines.value}"), row
            assert bool(lines.gradients) == (row.kind == "node" and focus.gradient is not None), row


def test_a_distribution_names_the_axis_it_is_over(session, attention):
    weights = next(e.row for e in session.tape.events if e.step == "attn.softmax")
    session.selection = weights
    assert rule_lines(session.snapshot().focus, None).words == "over keys"
    assert rule_lines(focus_at_end(attention, "softmax"), None).words == "over axis 3"
