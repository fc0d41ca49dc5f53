"""Closing the engine: it costs nothing, waits for nothing, and says nothing more."""

import threading
import time
from collections.abc import Iterator

import numpy as np

from glassllm.autograd.tensor import Tensor
from tests.tui.engine.desk import PATIENCE, Desk, state
from tui.messages import Progress


def test_closing_during_a_long_job_costs_nothing_and_silences_the_engine() -> None:
    desk, begun = Desk(), threading.Event()

    def job() -> Iterator[Progress]:
        x = Tensor(np.ones(2))
        for i in range(100_000):
            x = x + 1
            begun.set()
            yield Progress(i, 100_000)

    desk.engine.start()
    desk.engine.submit(job, "job")
    desk.engine.submit(job, "another")
    assert begun.wait(PATIENCE)
    before = time.thread_time()
    desk.engine.close()
    assert time.thread_time() - before < 0.001
    said = len(desk.inbox.messages)
    desk.engine._thread.join(PATIENCE)
    assert not desk.engine._thread.is_alive()
    assert len(desk.inbox.messages) == said
    assert state() == (True, None)


def test_closing_abandons_a_slice_that_does_not_end() -> None:
    desk = Desk()
    desk.engine.start()
    gate = desk.hold()
    waiting = desk.engine.command("note", "x")
    desk.engine.close()
    assert desk.engine._thread.is_alive()
    assert desk.engine._thread.daemon
    gate.set()
    desk.engine._thread.join(PATIENCE)
    assert not desk.engine._thread.is_alive()
    assert desk.inbox.of(waiting) == []
    assert desk.session.seen == []


def test_closing_before_the_start_and_twice_is_harmless() -> None:
    desk = Desk()
    desk.engine.close()
    desk.engine.close()
    desk.engine.start()
    desk.engine._thread.join(PATIENCE)
    assert desk.inbox.messages == []
