"""The panel's cursor moves, says where it is, remembers its place, and repaints only what changed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from textual.app import App, ComposeResult

from glassllm.debug.health import health_of
from glassllm.debug.snapshot import Axis, Focus, GradientState, Position, Row, RunFacts, Snapshot
from tui.draw.palette import Palette
from tui.widgets.tensor import TensorPanel

WORDS = ("Once", " upon", " a", " time", " there", " was")
RUN = RunFacts("tiny", WORDS, (), (), (), "float32", True, False, None, 77, 402, 100)


def snapshot_of(value, axes, selection=0, gradient=None):
    """One tensor in focus; axes named after tokens are labelled with words."""
    labelled = tuple(Axis(name, WORDS if name in ("query", "key", "token") else None) for name in axes)
    row = Row(selection, "node", "op", "", value, number=selection + 1)
    state = GradientState(True, int(gradient is not None), 1)
    focus = Focus(row, f"tensor {selection}", labelled, value, None, state, gradient, (), (), True, True)
    tape = SimpleNamespace(rows=[row], events=[], staleness=lambda _: "")
    gradient_health = None if gradient is None else health_of(gradient)
    return Snapshot(
        1, RUN, Position(0, 0), selection, selection, (), tape, focus, health_of(value), gradient_health
    )


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


ATTENTION = snapshot_of(normal(4, 6, 6), ("head", "query", "key"))
STREAM = snapshot_of(normal(6, 64), ("token", "channel"), 1)


class PanelApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.panel = TensorPanel(Palette())
        self.moves: list[TensorPanel.CellMoved] = []

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_tensor_panel_cell_moved(self, message: TensorPanel.CellMoved) -> None:
        self.moves.append(message)


async def test_an_empty_panel_takes_every_action():
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        panel = app.panel
        panel.move("left")
        panel.page(1)
        panel.turn_slice(1)
        panel.turn_axes()
        panel.go_to_largest()
        panel.go_to_token(1)
        assert (panel.cell, panel.copied(), panel.go_to_abnormal()) == (None, "", False)
        assert panel.go_to("1")[0][1] == "stop"


async def test_it_opens_at_the_last_token_and_moves_inside_the_tensor():
    app = PanelApp()
    async with app.run_test(size=(74, 37)) as pilot:
        panel = app.panel
        panel.draw(ATTENTION)
        assert (panel.cell, panel.token) == ((0, 5, 0), 5)
        panel.move("up", 2)
        panel.move("right")
        panel.move("left", 9)
        panel.turn_slice(-1)
        await pilot.pause()
        assert [message.cell for message in app.moves] == [(0, 3, 0), (0, 3, 1), (0, 3, 0), (3, 3, 0)]
        assert [message.token for message in app.moves] == [3, 3, 3, 3]


async def test_the_place_is_remembered_by_the_kind_of_axis():
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        panel = app.panel
        panel.draw(ATTENTION)
        panel.go((2, 4, 1))
        panel.draw(STREAM)
        assert panel.cell == (4, 0)
        panel.go((3, 17))
        panel.draw(ATTENTION)
        assert panel.cell == (2, 3, 1)


@pytest.mark.parametrize(
    ("text", "cell", "tone"),
    [
        ("2,1", (0, 2, 1), "bright"),
        ("[3 2 1]", (3, 2, 1), "bright"),
        ("-1", (0, 5, 5), "bright"),
        ("9,9", (0, 5, 0), "text"),
        ("1,1,1,1", (0, 5, 0), "text"),
        ("x", (0, 5, 0), "text"),
    ],
)
async def test_coordinates_are_gone_to_or_refused_in_words(text, cell, tone):
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        app.panel.draw(ATTENTION)
        said = app.panel.go_to(text)
        assert (app.panel.cell, said[-1][1]) == (cell, tone)


async def test_the_largest_and_the_next_abnormal_cell_are_found():
    value = normal(4, 6, 6)
    value[1, 2, 3], value[2, 0, 0], value[3, 3, 3] = np.nan, np.inf, -50
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        panel = app.panel
        panel.draw(snapshot_of(value, ("head", "query", "key")))
        panel.go_to_largest()
        assert panel.cell == (3, 3, 3)
        found = []
        while panel.go_to_abnormal():
            found.append(panel.cell)
        assert found == [(1, 2, 3), (2, 0, 0)]
        panel.show_abnormal()
        assert panel.cell == (1, 2, 3)


async def test_tabs_scale_and_axes_turn():
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        panel = app.panel
        panel.draw(ATTENTION)
        panel.turn_tab(1)
        assert "not reached" in panel.text()
        panel.turn_tab(-1)
        panel.toggle_scale()
        assert "scale this head" in panel.text()
        panel.turn_axes()
        assert panel.state.axes not in (None, (1, 2))
        panel.draw(STREAM)
        assert panel.state.axes is None


async def test_a_cursor_move_draws_few_lines(monkeypatch):
    app = PanelApp()
    async with app.run_test(size=(74, 37)) as pilot:
        app.panel.draw(ATTENTION)
        await pilot.pause()
        drawn = []
        render = app.panel.render_line
        monkeypatch.setattr(app.panel, "render_line", lambda y: drawn.append(y) or render(y))
        app.panel.move("up")
        await pilot.pause()
        assert 0 < len(drawn) <= 8


async def test_clicks_choose_cells_slices_and_tabs():
    app = PanelApp()
    async with app.run_test(size=(74, 37)) as pilot:
        panel = app.panel
        panel.draw(ATTENTION)
        await pilot.pause()
        await pilot.click(panel, offset=(8 + 4 * 2, 9 + 2 * 1))
        assert panel.cell == (0, 1, 2)
        thumbnail = next(spot for spot in panel._page.spots if spot.cell and spot.cell[0] == 3)
        await pilot.click(panel, offset=(thumbnail.x + 1, thumbnail.y + 1))
        assert panel.cell == (3, 1, 2)
        await pilot.click(panel, offset=(10, 1))
        assert panel.state.tab == "gradient"


async def test_the_scale_stays_while_it_is_the_same_tensor():
    gradient = normal(4, 6, 6)
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        panel = app.panel
        panel.turn_tab(1)
        names = ("head", "query", "key")
        panel.draw(snapshot_of(normal(4, 6, 6), names, 0, gradient))
        before = dict(panel.state.kept)["gradient"]
        panel.draw(replace(snapshot_of(normal(4, 6, 6), names, 0, gradient / 2)))
        assert dict(panel.state.kept)["gradient"] == before
        panel.draw(snapshot_of(normal(4, 6, 6), names, 1, gradient / 2))
        assert dict(panel.state.kept)["gradient"] != before


async def test_what_is_copied_has_all_digits():
    app = PanelApp()
    async with app.run_test(size=(74, 37)):
        app.panel.draw(STREAM)
        app.panel.go((2, 3))
        first, second = app.panel.copied().splitlines()
        assert first.startswith("tensor 1 [2,3] ")
        assert second.split() == [str(x) for x in STREAM.focus.value[2]]


async def test_a_smaller_size_is_drawn_anew():
    app = PanelApp()
    async with app.run_test(size=(74, 37)) as pilot:
        app.panel.draw(ATTENTION)
        await pilot.resize_terminal(49, 18)
        await pilot.pause()
        assert {sum(segment.cell_length for segment in row) for row in app.panel.rows} == {49}
        assert "[5,0]" in app.panel.text()
