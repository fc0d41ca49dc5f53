import numpy as np
import pytest

from glassllm import Tensor
from glassllm.autograd import concat, log, masked_fill, reshape, softmax, transpose, where
from glassllm.debug.recorder import record

HIDDEN = np.array([[False, True], [False, False]])


def last_mask(compute):
    x = Tensor(np.zeros((2, 2)), requires_grad=True)
    with record() as tape:
        compute(x)
    return tape.rows[tape.forward[-1]].masked


MASKED = [
    ("fill", lambda x: masked_fill(x, HIDDEN, -np.inf), HIDDEN),
    ("where", lambda x: where(HIDDEN, np.full((2, 2), -np.inf), x), HIDDEN),
    ("reshape", lambda x: reshape(masked_fill(x, HIDDEN, -np.inf), 4), HIDDEN.reshape(4)),
    ("transpose", lambda x: transpose(masked_fill(x, HIDDEN, -np.inf)), HIDDEN.T),
    ("getitem", lambda x: masked_fill(x, HIDDEN, -np.inf)[0], HIDDEN[0]),
    ("concat", lambda x: concat([x, masked_fill(x, HIDDEN, -np.inf)]), np.concatenate([np.zeros((2, 2)), HIDDEN])),
    ("where over masked", lambda x: where(~HIDDEN, x, masked_fill(x, HIDDEN, -np.inf)), HIDDEN),
    ("broadcast", lambda x: masked_fill(x, np.array([False, True]), -np.inf), [[False, True], [False, True]]),
]


@pytest.mark.parametrize(("compute", "expected"), [m[1:] for m in MASKED], ids=[m[0] for m in MASKED])
def test_where_the_mark_is(compute, expected):
    assert np.array_equal(last_mask(compute), expected)


UNMASKED = [
    ("another fill", lambda x: masked_fill(x, HIDDEN, -1e9)),
    ("nothing hidden", lambda x: masked_fill(x, HIDDEN & False, -np.inf)),
    ("the visible part", lambda x: masked_fill(x, HIDDEN, -np.inf)[1]),
    ("arithmetic", lambda x: masked_fill(x, HIDDEN, -np.inf) * 1.0),
    ("softmax", lambda x: softmax(masked_fill(x, HIDDEN, -np.inf))),
]


@pytest.mark.parametrize("compute", [m[1] for m in UNMASKED], ids=[m[0] for m in UNMASKED])
def test_where_no_mark_is(compute):
    assert last_mask(compute) is None


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_an_inf_that_arithmetic_makes_is_no_mask():
    x = Tensor(np.zeros((2, 2)), requires_grad=True)
    with record() as tape:
        where(HIDDEN, log(x), x)
    assert tape.rows[tape.forward[-1]].masked is None
    assert tape.count_health(tape.forward[-1]).inf == 1


def test_masked_cells_are_counted_as_masked_not_as_inf():
    x = Tensor(np.zeros((2, 2)), requires_grad=True)
    with record() as tape:
        masked_fill(x, HIDDEN, -np.inf)
    health = tape.count_health(tape.forward[-1])
    assert (health.masked, health.inf, health.zero) == (1, 0, 3)
