"""When something goes wrong or takes long: the screen says so, answers keys, and lets the user leave."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from glassllm import GlassLM
from glassllm.debug.commands import COMMANDS
from tests.tui.driving import (
    PATIENCE,
    command,
    has_opened,
    press,
    row,
    send,
    settled,
    started,
    text,
    wait_for,
)
from tui.app import GlassApp
from tui.messages import Progress
from tui.task import Priority


def broken(session) -> None:
    raise RuntimeError("the roof \x1b[31mis on fire")


def broken_midway(session):
    yield from session.next(3)
    raise RuntimeError("the floor gave way")


@pytest.fixture
def where(monkeypatch):
    """Put another method in the place of the command `where`."""

    def put(method) -> None:
        monkeypatch.setitem(COMMANDS, "where", replace(COMMANDS["where"], method=method))

    return put


# Failures


async def test_a_failure_of_ours_is_written_down_and_the_session_goes_on(sample, tmp_path, where):
    where(broken)
    log = tmp_path / "logs" / "today.log"
    async with started(sample, log_file=log) as pilot:
        before = text(pilot).splitlines()[:-2]
        await command(pilot, "where")
        shown = text(pilot)
        assert "✗ engine stopped   during where" in shown
        assert "RuntimeError" in shown
        assert "the roof ␛[31mis on fire" in shown
        assert log.name in shown
        written = log.read_text()
        assert "in broken" in written
        assert "the roof" in written
        await press(pilot, "escape")
        assert text(pilot).splitlines()[:-2] == before
        await press(pilot, "n")
        assert "forward 2/77" in row(pilot, 0)


async def test_a_failure_midway_leaves_the_session_where_it_came_to(sample, tmp_path, where):
    where(broken_midway)
    async with started(sample, log_file=tmp_path / "log") as pilot:
        await command(pilot, "where")
        assert "the floor gave way" in text(pilot)
        await press(pilot, "escape")
        assert "forward 4/77" in row(pilot, 0)
        await press(pilot, "N")
        assert "forward 3/77" in row(pilot, 0)


async def test_without_a_place_for_the_log_the_failure_is_shown_all_the_same(sample, tmp_path, where):
    where(broken)
    (tmp_path / "file").write_text("")
    async with started(sample, log_file=tmp_path / "file" / "log") as pilot:
        await command(pilot, "where")
        assert "no log: its folder cannot be written" in text(pilot)


# Opening


async def leave(app: GlassApp) -> None:
    """Run the application until it has left by itself."""
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(pilot, lambda: app.return_code is not None, "the end")


def bad_files(folder, sample):
    whole = sample.read_bytes()
    yield folder / "missing.npz", None, "missing.npz"
    yield folder, b"", str(folder.name)
    yield folder / "text.npz", b"once upon a time", "text.npz"
    yield folder / "cut.npz", whole[: len(whole) // 2], "cut.npz"
    yield folder / "empty.npz", b"", "empty.npz"


async def test_a_bad_file_is_one_line_for_the_shell_and_exit_code_2(tmp_path, sample):
    for path, content, named in bad_files(tmp_path, sample):
        if content is not None and not path.is_dir():
            path.write_bytes(content)
        app = GlassApp(path, colors="truecolor")
        await leave(app)
        assert app.return_code == 2
        assert named in app.refusal
        assert "\n" not in app.refusal
        assert "Traceback" not in app.refusal


async def test_ids_the_model_lacks_are_refused_the_same_way(sample):
    app = GlassApp(sample, ids=[1, 99999], colors="truecolor")
    await leave(app)
    assert app.return_code == 2
    assert "99999" in app.refusal


async def test_a_failure_of_ours_while_opening_names_the_log(sample, tmp_path):
    def build() -> object:
        raise RuntimeError("no floor")

    log = tmp_path / "log"
    app = GlassApp(sample, colors="truecolor", build=build, log_file=log)
    await leave(app)
    assert app.return_code == 2
    assert app.refusal == f"{sample}: RuntimeError: no floor; see {log}"
    assert "in build" in log.read_text()


async def test_the_first_line_says_what_to_press_and_notes_go_before_it(sample, tmp_path):
    async with started(sample) as pilot:
        assert row(pilot, -2).startswith(" n next event   s next op   c to the loss")
        await press(pilot, "n")
        assert "next event" not in row(pilot, -2)
    plain = GlassLM.load(sample)
    plain.sample, plain.tokenizer = None, None
    plain.save(tmp_path / "plain.npz")
    async with started(tmp_path / "plain.npz") as pilot:
        assert "no sample, no tokenizer: ids from 0" in row(pilot, -2)


# While the engine is busy


@pytest.fixture
def gate():
    """A gate that holds the engine inside a slice: (entered, opened, the work)."""
    entered, opened = threading.Event(), threading.Event()

    def stand() -> None:
        entered.set()
        assert opened.wait(PATIENCE)

    yield entered, opened, stand
    opened.set()


async def test_inside_a_slow_slice_cursor_and_help_answer_and_the_screen_says_what_it_waits_for(sample, gate):
    entered, opened, stand = gate
    async with started(sample, (160, 45)) as pilot:
        screen = pilot.app.debugger
        await command(pilot, "run-to blocks.1.attn.softmax")
        pilot.app.engine.submit(stand, "hold")
        await wait_for(pilot, entered.is_set, "the engine is inside")
        at = screen.tensor.cell
        send(pilot, "tab", "tab", "right", "up")
        await wait_for(pilot, lambda: screen.tensor.cell == (at[0], at[1] - 1, at[2] + 1), "a move")
        send(pilot, "?")
        await wait_for(pilot, lambda: "help  tensor panel" in text(pilot), "the help")
        send(pilot, "escape")
        await wait_for(pilot, lambda: pilot.app.screen is screen, "the help has closed")
        send(pilot, "n")
        await wait_for(pilot, lambda: "waits for hold   esc stops" in row(pilot, -2), "what it waits for")
        assert not opened.is_set()
        send(pilot, "escape")
        await wait_for(pilot, lambda: not pilot.app.engine.activity.waiting, "the command is taken back")
        opened.set()
        await wait_for(pilot, lambda: row(pilot, -2).startswith(" stopped  next"), "the command was stopped")
        await settled(pilot)
        assert "waits for" not in row(pilot, -2)
        assert screen.snapshot.selection == screen.snapshot.current


async def test_between_the_slices_of_a_job_commands_are_answered(sample):
    ended = threading.Event()

    def slices():
        while not ended.is_set():
            yield Progress(0)

    async with started(sample) as pilot:
        job = pilot.app.engine.submit(slices, "grind")
        for i in range(1, 6):
            send(pilot, "n")
            await wait_for(pilot, lambda i=i: f"forward {i + 1}/77" in row(pilot, 0), "the answer")
        send(pilot, "j")
        await wait_for(pilot, lambda: "▷" in row(pilot, -2), "the selection")
        assert not pilot.app.engine.activity.is_idle
        pilot.app.engine.cancel(job)
        await settled(pilot)
        ended.set()


async def test_a_long_command_counts_and_escape_stops_it_where_it_has_come_to(sample, where):
    def march(session):
        while True:
            yield from session.next(1)
            yield 3, 1000
            if session.position.place > 20:
                yield from forever()

    def forever():
        while True:
            yield 21, 1000

    where(march)
    async with started(sample) as pilot:
        pilot.app.debugger.ask("where")
        await wait_for(pilot, lambda: "where  21/1000   esc stops" in row(pilot, -2), "how far it is")
        send(pilot, "escape")
        await wait_for(pilot, lambda: row(pilot, -2).startswith(" stopped  where"), "it has stopped")
        await settled(pilot)
        assert "esc stops" not in row(pilot, -2)
        assert pilot.app.debugger.snapshot.position.place > 20
        await press(pilot, "g")
        assert "forward 1/77" in row(pilot, 0)


async def test_a_slow_command_of_ones_own_says_computing(sample, where, gate):
    entered, opened, stand = gate
    where(lambda session: stand())
    async with started(sample) as pilot:
        pilot.app.debugger.ask("where")
        await wait_for(pilot, lambda: "computing…   esc stops" in row(pilot, -2), "computing")
        opened.set()
        await settled(pilot)
        await wait_for(pilot, lambda: "computing" not in row(pilot, -2), "it is done")
        assert entered.is_set()


# Leaving


async def test_quitting_does_not_wait_for_a_slow_slice(sample, gate):
    entered, opened, stand = gate
    async with started(sample) as pilot:
        app = pilot.app
        app.engine.submit(stand, "hold", Priority.COMMAND)
        await wait_for(pilot, entered.is_set, "the engine is inside")
        began = time.monotonic()
        send(pilot, "q")
        await wait_for(pilot, lambda: app.return_code == 0, "the end")
    assert time.monotonic() - began < 2.0
    assert not opened.is_set()
    assert app.engine._thread.is_alive()
    opened.set()
    app.engine._thread.join(PATIENCE)
    assert not app.engine._thread.is_alive()


async def test_nothing_is_posted_once_the_screen_is_gone_and_the_thread_ends(sample):
    async with started(sample) as pilot:
        app = pilot.app
        thread = app.engine._thread
        assert sum(t.name == "engine" for t in threading.enumerate() if t is thread) == 1
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert has_opened(app)


async def test_nan_in_a_weight_is_shown_as_a_fault_and_found(sample, tmp_path):
    model = GlassLM.load(sample)
    model.named_parameters()["blocks.1.ffn.W1"].data[3, 5] = np.nan
    model.save(tmp_path / "nan.npz")
    async with started(tmp_path / "nan.npz", (160, 45)) as pilot:
        await press(pilot, "c")
        assert "loss nan" in row(pilot, 0).lower()
        await press(pilot, "g !")
        assert "NaN" in row(pilot, -2)
        assert "blocks.1" in row(pilot, -2)
        assert "×" in text(pilot)
        panel, gate = pilot.app.debugger.tensor, pilot.app.debugger.snapshot.focus
        found = [panel.cell]
        for _ in gate.value:
            await press(pilot, "!")
            found.append(panel.cell)
        *cells, elsewhere = found
        assert cells == [(token, 5) for token in range(len(gate.value))], "one after the other"
        after = pilot.app.debugger.snapshot.focus
        assert after.row.id != gate.row.id, "then on to the next tensor, the cursor on its first"
        assert np.isnan(after.value[elsewhere])
