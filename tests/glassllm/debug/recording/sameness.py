"""Whether two sessions are the same in everything a person can see, bit for bit."""

from dataclasses import fields

import numpy as np

from glassllm.debug.commands import run

OPAQUE = ("op", "attrs", "saved")


def same_array(a, b):
    """Numbers, dtype and order in memory are equal; NaN equals the same NaN."""
    if a is None or b is None:
        return a is b
    return (
        (a.shape, a.dtype) == (b.shape, b.dtype)
        and a.tobytes() == b.tobytes()
        and a.flags.c_contiguous == b.flags.c_contiguous
        and a.flags.f_contiguous == b.flags.f_contiguous
    )


def same(a, b):
    """Values of any of the kinds a snapshot is made of."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and same_array(a, b)
    if isinstance(a, float) and a != a:
        return b != b
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(
            same(getattr(a, field.name), getattr(b, field.name)) for field in fields(a) if field.name not in OPAQUE
        )
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def assert_same_tape(a, b):
    assert len(a.rows) == len(b.rows)
    for row, other in zip(a.rows, b.rows, strict=True):
        for field in fields(row):
            if field.name not in OPAQUE:
                mine, others = getattr(row, field.name), getattr(other, field.name)
                assert same(mine, others), f"row {row.id}, {row.name}: {field.name}: {mine} {others}"
    for name in ("events", "forward", "leaves", "default_root"):
        assert list(np.atleast_1d(getattr(a, name))) == list(np.atleast_1d(getattr(b, name))), name


def assert_same_look(a, b):
    """The same snapshot, but for version and tape; every row has the same gradient, and came as far."""
    mine, others = a.snapshot(), b.snapshot()
    for name in ("run", "position", "current", "selection", "said", "value_health", "gradient_health"):
        assert same(getattr(mine, name), getattr(others, name)), name
    for field in fields(mine.focus):
        if field.name != "contributions":
            assert same(getattr(mine.focus, field.name), getattr(others.focus, field.name)), field.name
    assert same(list(mine.focus.contributions), list(others.focus.contributions))
    at = a.position
    for row in range(len(a.tape.rows)):
        assert a.tape.gradient_state(row, at) == b.tape.gradient_state(row, at)
        assert same(a.tape.gradient(row, at), b.tape.gradient(row, at)), f"the gradient of row {row} at {at}"


def saved_and_opened(session, path, open_recording):
    """Save the session, which stays as it is but for its status line, and open what was saved."""
    before = session.snapshot()
    run(session, f"save {path}")
    session.say(*before.said)
    opened = open_recording(path)
    opened.say(*before.said)
    return opened


def assert_same(session, opened):
    assert_same_tape(session.tape, opened.tape)
    assert_same_look(session, opened)


def assert_same_walk(session, opened, lines):
    for line in lines:
        run(session, line)
        run(opened, line)
        assert_same_look(session, opened)
