"""News from the engine: as much as a screen can show, the newest never lost."""

from collections.abc import Iterator

import pytest
from textual.app import App
from textual.message import Message

from tests.tui.engine.desk import Desk
from tui.engine import NEWS_INTERVAL
from tui.messages import EngineFailed, JobDone, JobProgress, Request, SnapshotReady


def test_news_comes_thirty_times_a_second_at_most_and_the_newest_is_never_lost() -> None:
    now = [0.0]
    desk = Desk(clock=lambda: now[0])
    desk.engine.start()

    def job() -> Iterator[tuple[int, int] | str]:
        for i in range(10):
            now[0] = i * NEWS_INTERVAL / 4
            yield i, 10
        yield "a snapshot"
        return "done"

    request = desk.engine.submit(job, "job")
    desk.end_of(request)
    said = desk.inbox.of(request)
    told = [(m.done, m.total) for m in said if isinstance(m, JobProgress)]
    assert told == [(0, 10), (4, 10), (8, 10), (9, 10)]
    assert [type(m) for m in said[-2:]] == [SnapshotReady, JobDone]
    desk.engine.close()


JOB, OTHER = Request(1, "train"), Request(2, "generate")


@pytest.mark.parametrize(
    ("older", "newer", "replaces"),
    [
        (SnapshotReady("a", 1), SnapshotReady("b", 2), True),
        (JobProgress(JOB, 1), JobProgress(JOB, 2), True),
        (JobProgress(JOB, 1), JobProgress(OTHER, 2), False),
        (SnapshotReady("a"), JobProgress(JOB, 1), False),
        (JobDone(JOB), JobDone(JOB), False),
        (EngineFailed(JOB, "a"), EngineFailed(JOB, "b"), False),
    ],
)
def test_which_news_takes_the_place_of_which(older: Message, newer: Message, replaces: bool) -> None:
    assert older.can_replace(newer) is replaces


async def test_a_screen_that_is_behind_reads_only_the_newest_snapshot() -> None:
    class Reader(App[None]):
        read: tuple[object, ...] = ()

        def on_snapshot_ready(self, message: SnapshotReady) -> None:
            self.read += (message.snapshot,)

    app = Reader()
    async with app.run_test() as pilot:
        for i in range(100):
            app.post_message(SnapshotReady(i))  # type: ignore[arg-type]
        await pilot.pause()
        assert app.read == (99,)
