"""A page shows its rows, fills the rest, and repaints only what changed."""

from textual.app import App, ComposeResult

from tui.draw.palette import Palette
from tui.draw.text import text_row
from tui.widgets.page import Page


class PageApp(App[None]):
    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.page = Page(palette)

    def compose(self) -> ComposeResult:
        yield self.page


def rows(*texts: str, palette: Palette):
    return [text_row([(text, "text")], 20, palette) for text in texts]


async def test_only_changed_lines_are_drawn_again(monkeypatch):
    app = PageApp(Palette())
    async with app.run_test(size=(20, 5)) as pilot:
        app.page.show(rows("one", "two", "three", palette=app.page.palette))
        await pilot.pause()
        drawn = []
        render = app.page.render_line
        monkeypatch.setattr(app.page, "render_line", lambda y: drawn.append(y) or render(y))
        app.page.show(rows("one", "TWO", "three", palette=app.page.palette))
        await pilot.pause()
        assert drawn == [1]
        app.page.show(rows("one", "TWO", palette=app.page.palette))
        await pilot.pause()
        assert drawn == [1, 2]
        assert app.page.text() == "one\nTWO"


async def test_every_cell_has_the_pages_own_colours_and_codes_stay_codes():
    palette = Palette("dark", "256")
    app = PageApp(palette)
    async with app.run_test(size=(20, 3)) as pilot:
        app.page.show(rows("one", palette=palette))
        await pilot.pause()
        lines = app.screen._compositor.render_strips()
        assert [line.cell_length for line in lines] == [20, 20, 20]
        assert {segment.style.bgcolor for line in lines for segment in line} == {palette.color("panel")}
