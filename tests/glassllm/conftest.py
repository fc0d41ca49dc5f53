"""What several engine tests share."""

from contextlib import contextmanager

import pytest

from glassllm.autograd import tensor as engine


@contextmanager
def _hooked(hook):
    before = engine.set_hook(hook)
    try:
        yield hook
    finally:
        engine.set_hook(before)


@pytest.fixture
def hooked():
    """`with hooked(hook):` installs an engine hook and takes it out again."""
    return _hooked
