"""Random programs over a few leaves: whatever is composed of the functions, its gradient is its slope."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from glassllm.autograd import (
    Tensor,
    clip,
    concat,
    embedding,
    exp,
    gelu,
    log_softmax,
    masked_fill,
    matmul,
    mean,
    sigmoid,
    silu,
    softmax,
    sqrt,
    tanh,
    transpose,
    tsum,
    where,
)

SHAPES = [(2, 3), (3,), (2, 1), ()]  # all broadcast to the first
MASK = np.array([[True, False, True], [False, False, True]])


def whole(t):
    """`t` broadcast to the full shape."""
    return t + np.zeros(SHAPES[0])


PROBE = np.random.default_rng(5).normal(size=SHAPES[0])

# Every step takes two earlier values, of shapes that broadcast together, and makes one of such a shape.
STEPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (1.5 + b * b),
    "square": lambda a, b: a**2,
    "negate": lambda a, b: -a,
    "tanh": lambda a, b: tanh(a),
    "exp of tanh": lambda a, b: exp(tanh(a)),
    "sqrt": lambda a, b: sqrt(1 + a * a),
    "sigmoid": lambda a, b: sigmoid(a),
    "silu": lambda a, b: silu(a),
    "gelu": lambda a, b: gelu(a),
    "clip": lambda a, b: clip(a, -1e3, 1e3),
    "sum": lambda a, b: tsum(a),
    "mean": lambda a, b: mean(whole(a), axis=-1, keepdims=True),
    "column sums": lambda a, b: whole(a).sum(axis=0),
    "softmax": lambda a, b: softmax(whole(a)),
    "log_softmax": lambda a, b: log_softmax(whole(a), axis=0),
    "where": lambda a, b: where(MASK, a, b),
    "masked_fill": lambda a, b: masked_fill(whole(a), MASK, b),
    "gram": lambda a, b: matmul(matmul(whole(a), transpose(whole(b))), whole(a)),
    "rows": lambda a, b: whole(a)[[1, 1]],
    "column": lambda a, b: whole(a)[:, 1:2],
    "halves": lambda a, b: concat([whole(a)[:1], whole(b)[1:]]),
    "reshaped": lambda a, b: whole(a).reshape(3, 2).transpose(),
    "lookup": lambda a, b: embedding(whole(a), [1, -2]),
}

programs = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=9
)


def run(program, data, requires_grad=False):
    """All values of a program over leaves of such data, and one number to which each of them matters."""
    values = [Tensor(d, requires_grad=requires_grad) for d in data]
    for name, first, second in program:
        values.append(STEPS[name](values[first % len(values)], values[second % len(values)]))
    total = Tensor(0.0)
    for value in values:
        total = total + (value * PROBE).sum()
    return values, total


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(program=programs, seed=st.integers(0, 2**16))
def test_a_programs_gradient_is_its_slope(program, seed):
    rng = np.random.default_rng(seed)
    data = [rng.uniform(-1.5, 1.5, shape) for shape in SHAPES]
    values, total = run(program, data, requires_grad=True)
    assume(max(np.max(np.abs(v.data)) for v in values) < 100)
    total.backward()
    for k, leaf in enumerate(values[: len(data)]):
        np.testing.assert_allclose(leaf.grad, slopes(program, data, k), rtol=1e-5, atol=1e-5)


def slopes(program, data, k, step=1e-5):
    """Central differences of the total with respect to leaf k."""
    out = np.zeros(data[k].shape)
    for place in np.ndindex(out.shape):
        ends = []
        for sign in (1, -1):
            moved = [d.copy() for d in data]
            moved[k][place] += sign * step
            ends.append(float(run(program, moved)[1].data))
        out[place] = (ends[0] - ends[1]) / (2 * step)
    return out
