"""The Train screen, and the one engine under all of them: runs are watched, held, looked into, and not changed."""

import numpy as np
import pytest

from glassllm import GlassLM
from glassllm.train import RunSettings, Trainer, read_corpus
from tests.tui.driving import press, row, send, settled, started, text, wait_for
from tests.tui.train_screen import SETTINGS, trained
from tui.engine import Activity, Engine
from tui.task import Priority


def alone(sample, corpus):
    """The weights of the same run, left alone."""
    model, settings = GlassLM.load(sample), RunSettings(**SETTINGS)
    ids = read_corpus(corpus, model.tokenizer, settings.seq_len)
    trainer = Trainer(GlassLM(model.config, 0), ids.train, settings, ids.valid)
    for _ in trainer.run():
        pass
    return {name: p.data for name, p in trainer.model.named_parameters().items()}


async def weights(pilot):
    """Those of the run on the screen, as the engine's thread has them."""
    found = []
    app = pilot.app

    def look():
        trainer = app.engine.bench["training"].trainer
        found.append({name: p.data.copy() for name, p in trainer.model.named_parameters().items()})

    app.engine.submit(look, "look")
    await wait_for(pilot, lambda: found, "the weights are read")
    return found[0]


@pytest.mark.parametrize("size", [(160, 45), (120, 36), (80, 24), (60, 18)])
async def test_a_run_from_beginning_to_end(sample, corpus, options, size):
    async with started(sample, size, **options) as pilot:
        room = await trained(pilot)
        assert "step 0/8" in row(pilot, 0)
        await press(pilot, "s")
        assert "step 1/8" in row(pilot, 0)
        assert room.view.state == "paused"
        await press(pilot, "space")
        await settled(pilot)
        assert room.view.state == "done"
        assert "step 8/8" in row(pilot, 0)
        assert f"{room.view.report.loss:.3f}" in text(pilot)
        assert (options["folder"] / "tiny-trained.npz").exists()
        found, expected = await weights(pilot), alone(sample, corpus)
        assert all(np.array_equal(found[name], expected[name]) for name in expected)


async def test_a_step_that_was_answered_is_in_no_ones_way(sample, options, monkeypatch):
    """The engine tells of it a moment longer."""
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot)
        await press(pilot, "s")
        with monkeypatch.context() as patch:
            patch.setattr(Engine, "activity", property(lambda _: Activity(running=room._ended)))
            room.action_run_or_hold()
        await settled(pilot)
        assert room.view.state == "done"


async def test_generating_and_debugging_in_between_changes_no_bit(sample, corpus, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot)
        await pilot.app.show_screen("generate")
        await settled(pilot)
        writer = pilot.app.screen
        await pilot.app.show_screen("train")
        send(pilot, "space")
        for i in range(8):
            await wait_for(pilot, lambda i=i: room.view.step >= min(i, 8), f"step {i} is taken")
            for line in ("next", "temperature .7", "again"):
                writer.do(line)
            for line in ("next", "continue", "next 3", "rerun"):
                pilot.app.debugger.ask(line)
        await settled(pilot)
        assert room.view.state == "done"
        assert writer.view.depth > 0
        found, expected = await weights(pilot), alone(sample, corpus)
        assert all(np.array_equal(found[name], expected[name]) for name in expected)


async def test_a_command_goes_between_two_steps(sample, options):
    """Asked for while a run goes on, it is answered before the run has taken more than the step under way."""
    async with started(sample, (120, 36), **options) as pilot:
        app, room = pilot.app, await trained(pilot, steps=100_000)
        send(pilot, "space")
        await wait_for(pilot, lambda: room.view.step >= 2, "the run goes on")
        taken = []

        def command():
            """From inside a slice: what is asked for now is next, whatever the run has still to do."""
            taken.append(app.engine.bench["training"].trainer.step)
            app.engine.submit(
                lambda: taken.append(app.engine.bench["training"].trainer.step), "look", Priority.COMMAND
            )

        app.engine.submit(command, "look", Priority.JOB)
        await wait_for(pilot, lambda: len(taken) == 2, "the command is answered")
        assert taken[1] == taken[0]
        app.debugger.ask("next")
        await wait_for(pilot, lambda: app.debugger._asked is None, "the debugger has answered")
        assert any(each.name == "train run" for each in alive(app))
        send(pilot, "space")
        await settled(pilot)
        assert room.view.state == "paused"


def alive(app):
    activity = app.engine.activity
    return [each for each in (activity.running, *activity.waiting) if each is not None]


async def test_the_header_says_who_holds_the_engine(sample, options):
    async with started(sample, (160, 45), **options) as pilot:
        room = await trained(pilot, steps=100_000)
        send(pilot, "space")
        await wait_for(pilot, lambda: room.view.step >= 1, "the run goes on")
        await pilot.app.show_screen("debug")
        await wait_for(pilot, lambda: "engine train run" in row(pilot, 0), "the debugger says who works")
        room.do("hold")
        await settled(pilot)
        assert "engine" not in row(pilot, 0)


async def test_d_opens_the_last_step_with_the_trainer_s_gradients_before_clipping(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        app, room = pilot.app, await trained(pilot, max_norm=0.1)
        await press(pilot, "s s s d")
        await wait_for(pilot, lambda: app.screen is app.debugger, "the debugger is shown")
        await settled(pilot)
        assert f"clipped by {room.view.report.clip_factor:.4g}" in row(pilot, -2)
        await press(pilot, "c c")
        snapshot, last = app.debugger.snapshot, []
        app.engine.submit(lambda: last.append(app.engine.bench["training"].last_step), "look")
        await settled(pilot)
        tape = snapshot.tape
        assert snapshot.run.loss == pytest.approx(last[0].loss, rel=1e-6)
        rows = {tape.rows[leaf].name: leaf for leaf in tape.leaves}
        for name, expected in last[0].gradients.items():
            found = tape.gradient(rows[name], snapshot.position)
            assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max(), name


async def test_a_run_asked_for_and_held_at_once_stands(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, steps=100_000)
        send(pilot, "space", "space")
        await settled(pilot)
        assert room.view.state in ("not begun", "paused")
        send(pilot, "space")
        await wait_for(pilot, lambda: room.view.step >= 2, "the run goes on")
        send(pilot, "space")
        await settled(pilot)
        assert room.view.state == "paused"


async def test_settings_are_edited_before_it_begins_and_refused_in_the_middle(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot)
        await press(pilot, "e")
        assert "steps=8" in text(pilot)
        await press(pilot, "escape s")
        room.do("set lr=0.1")
        await settled(pilot)
        assert "under way; stop it first" in row(pilot, -2)
        await press(pilot, "x")
        room.do("set lr=0.1 weights=kept")
        await settled(pilot)
        assert (room.view.settings.lr, room.view.fresh) == (0.1, False)


async def test_curves_survive_another_size_and_another_screen(sample, options):
    async with started(sample, (160, 45), **options) as pilot:
        await trained(pilot)
        await press(pilot, "s s s s")
        before = text(pilot)
        for size in ((80, 24), (50, 10), (120, 36), (160, 45)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
        await press(pilot, "\\ \\ \\")
        assert text(pilot) == before


async def test_going_astray_pauses_the_run_and_says_where_to_look(sample, options):
    async with started(sample, (120, 36), **options) as pilot:
        room = await trained(pilot, steps=60, lr=10, warmup=0, weight_decay=10)
        await press(pilot, "space")
        await settled(pilot)
        assert room.view.state == "astray"
        assert room.view.fault.place in text(pilot)
        assert row(pilot, -2).startswith(" ! ")
        await press(pilot, "d")
        await wait_for(pilot, lambda: pilot.app.screen is pilot.app.debugger, "the step is shown")


async def test_a_text_that_is_not_there_is_said(sample, tmp_path):
    async with started(sample, (80, 24), corpus=tmp_path / "none.txt", folder=tmp_path) as pilot:
        await pilot.app.show_screen("train")
        await settled(pilot)
        await press(pilot, "s")
        assert "none.txt" in row(pilot, -2)
