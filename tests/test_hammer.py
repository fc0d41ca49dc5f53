"""The engine's thread under much work from many threads; `python -m tests.hammer` gives it fifty times as much."""

from tests.hammer import MOST_GROWTH, hammer


def test_whatever_comes_slices_stay_apart_and_every_request_gets_one_answer():
    watch, grown = hammer(2_000)
    assert watch.faults == []
    assert watch.answered == 2_001  # the first of all opens the session
    assert set(watch.kinds) == {"SnapshotReady", "JobDone", "JobCancelled", "EngineFailed"}
    assert grown < MOST_GROWTH
