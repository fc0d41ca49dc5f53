"""The desk every test of the engine sits at."""

from collections.abc import Iterator

import pytest

from glassllm.autograd import tensor
from tests.tui.engine.desk import PATIENCE, Desk


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    made.engine.start()
    yield made
    made.engine.close()
    made.engine._thread.join(PATIENCE)
    assert not made.engine._thread.is_alive()
    assert tensor.tracking is True
    assert tensor.hook is None
