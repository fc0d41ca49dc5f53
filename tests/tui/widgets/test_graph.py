"""The graph panel in an app: which view, what keys and the mouse ask for, and what is drawn elsewhere."""

import threading

import pytest
from textual.app import App, ComposeResult

from tests.tui.fake_tape import back_to, flat, forward_to, row_at, snapshot, transformer
from tui.draw.palette import Palette
from tui.graph_layout import album
from tui.widgets.chosen import RowChosen
from tui.widgets.drawing import Drawing
from tui.widgets.graph import GraphPanel

TAPE = transformer()
SOFTMAX = row_at(TAPE, "blocks.1.attn.softmax")


class GraphApp(App[None]):
    CSS = "GraphPanel { width: 1fr; height: 1fr; }"

    def __init__(self, drawing: Drawing | None = None) -> None:
        super().__init__()
        self.panel = GraphPanel(Palette(), drawing) if drawing else GraphPanel(Palette())
        self.asked = []

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_row_chosen(self, message: RowChosen) -> None:
        self.asked.append(message.row)


@pytest.mark.parametrize(("size", "view"), [((50, 37), "layered"), ((38, 28), "rails")])
async def test_the_view_is_the_one_that_fits(size, view):
    app = GraphApp()
    async with app.run_test(size=size) as pilot:
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
        await pilot.pause()
        assert app.panel.view == view
        assert len(app.panel.rows) <= size[1]
        app.panel.toggle_view()
        assert app.panel.view != view


async def test_stepping_repaints_two_chips_and_moves_nothing():
    app = GraphApp()
    async with app.run_test(size=(50, 37)) as pilot:
        before = row_at(TAPE, "blocks.1.attn.mask")
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, before)))
        await pilot.pause()
        rows = app.panel.rows
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
        changed = [y for y, (old, new) in enumerate(zip(rows, app.panel.rows, strict=True)) if old != new]
        assert len(changed) <= 5  # two chips, the lines into them, the legend
        texts = ["".join(segment.text for segment in row) for row in rows]
        assert [text for text in texts if "layered ‹v› rails" in text] == texts[:1]


async def test_arrows_ask_for_the_next_chip_and_run_nothing():
    app = GraphApp()
    async with app.run_test(size=(50, 37)) as pilot:
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
        await pilot.pause()
        app.panel.move("down")
        app.panel.move("up", 2)
        app.panel.move("left")
        await pilot.pause()
        assert app.asked == [row_at(TAPE, f"blocks.1.attn.{step}") for step in ("mix", "scores")]


async def test_a_click_asks_for_the_chip_under_it():
    app = GraphApp()
    async with app.run_test(size=(50, 37)) as pilot:
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
        await pilot.pause()
        y = next(
            i
            for i, row in enumerate(app.panel.rows)
            if any(" mix " in segment.text or segment.text == "mix" for segment in row)
        )
        x = "".join(segment.text for segment in app.panel.rows[y]).index("mix")
        await pilot.click(offset=(x, y))
        await pilot.click(offset=(1, y))
        await pilot.pause()
        assert app.asked == [row_at(TAPE, "blocks.1.attn.mix")]


async def test_opening_and_closing():
    app = GraphApp()
    norm = row_at(TAPE, "blocks.1.norm.attn")
    async with app.run_test(size=(60, 45)) as pilot:
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, norm)))
        await pilot.pause()
        app.panel.toggle()
        assert "div" in app.panel.text()
        app.panel.toggle()
        assert "div" not in app.panel.text() and "norm.attn" in app.panel.text()


async def test_groups_are_open_from_the_start_where_they_are_not_to_be_folded():
    app = GraphApp()
    app.panel = GraphPanel(Palette(), collapse=False)
    async with app.run_test(size=(60, 45)) as pilot:
        for view in ("layered", "rails"):
            app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
            await pilot.pause()
            assert app.panel.view == view
            groups = {item.group for item in app.panel._picture.graph.items}
            assert groups >= {"blocks.0", "blocks.1", "blocks.2"}
            app.panel.toggle_view()
        app.panel.fold(frozenset(), frozenset({"blocks.2"}))
        groups = {item.group for item in app.panel._picture.graph.items}
        assert "blocks.2" not in groups and "blocks.0" in groups


async def test_the_wheel_moves_the_window_until_the_selection_moves():
    app = GraphApp()
    async with app.run_test(size=(50, 20)) as pilot:
        app.panel.toggle_view()
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
        await pilot.pause()
        before = app.panel.text()
        app.panel.on_mouse_scroll_down()
        assert app.panel.text() != before
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX), row_at(TAPE, "blocks.1.attn.mix")))
        app.panel.draw(snapshot(TAPE, forward_to(TAPE, SOFTMAX)))
        assert "softmax" in app.panel.text()


async def test_a_large_picture_is_drawn_by_the_drawing_thread(monkeypatch):
    monkeypatch.setitem(album.AT_ONCE, "rails", 10)
    monkeypatch.setitem(album.AT_ONCE, "layered", 10)
    names = []
    drawn = album.Album._drawn
    monkeypatch.setattr(
        album.Album,
        "_drawn",
        lambda self, wish: names.append(threading.current_thread().name) or drawn(self, wish),
    )
    tape = flat([(i - 1,) if i else () for i in range(50)])
    app = GraphApp(Drawing())
    async with app.run_test(size=(50, 37)) as pilot:
        app.panel.draw(snapshot(tape, back_to(tape, tape.forward[20])))
        for _ in range(200):
            if "op20" in app.panel.text():
                break
            await pilot.pause(0.01)
        assert "op20" in app.panel.text()
        assert set(names) == {"drawing"}


def test_of_one_owners_requests_only_the_newest_is_drawn():
    drawing, begun, go, done = Drawing(), threading.Event(), threading.Event(), threading.Event()
    results = []
    drawing.ask("first", lambda: begun.set() or go.wait(5), results.append)
    assert begun.wait(5)
    drawing.ask("panel", lambda: "old", results.append)
    drawing.ask("panel", lambda: "new", lambda result: results.append(result) or done.set())
    go.set()
    assert done.wait(5)
    assert results == [True, "new"]


def test_what_a_drawing_raises_is_handed_over_and_the_thread_goes_on():
    drawing, done, results = Drawing(), threading.Event(), []
    drawing.ask("a", lambda: 1 / 0, results.append)
    drawing.ask("b", lambda: 2, lambda result: results.append(result) or done.set())
    assert done.wait(5)
    assert isinstance(results[0], ZeroDivisionError) and results[1] == 2
