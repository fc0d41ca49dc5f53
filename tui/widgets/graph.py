"""The graph panel: chips in ranks where a block fits, one line an item elsewhere, in the state of the snapshot."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from textual import events
from textual.message import Message

from glassllm.debug.snapshot import Snapshot
from tui.draw.palette import Palette
from tui.draw.text import Row, blank
from tui.graph_layout.album import AT_ONCE, Album, View, Wish
from tui.graph_layout.captions import facts, legend, title
from tui.graph_layout.folds import Folds
from tui.graph_layout.layout import Layout
from tui.graph_layout.paint import Moment, chip_at, layered_rows, rails_rows
from tui.graph_layout.rails import Rails
from tui.graph_layout.window import Corner, Picture, corner, entered, height_of, moved

from .chosen import RowChosen
from .drawing import Drawing, drawing
from .folded import Folded
from .page import Panel

HEAD = 2
"""Rows above the picture: the title and a blank one."""
UNDER_RANKS = 3  # a blank row, the legend, a blank row
UNDER_RAILS = 6  # a blank row, four facts, a blank row
LEAST_WITH_FACTS = 14
COMPUTING_AFTER = 0.08  # seconds


class GraphPanel(Panel):
    """Shows what is open around the selection; moving in it asks for another selection and runs nothing.

    `collapse`: groups are folded until they are opened; otherwise all are open at first.
    """

    class Drawn(Message):
        """What the drawing thread made for this panel, or what stopped it."""

        def __init__(self, made: Album | Picture | Exception):
            super().__init__()
            self.made = made

    def __init__(self, palette: Palette, drawing: Drawing = drawing, collapse: bool = True):
        super().__init__(palette, "panel", id="graph")
        self._drawing = drawing
        self._collapse = collapse
        self._snapshot: Snapshot | None = None
        self._view: View | None = None  # None: whichever fits
        self._folds = Folds()
        self._album: Album | None = None
        self._picture: Picture | None = None
        self._awaited: object = None  # a wish, or the rows of a tape
        self._corner = Corner()
        self._nudge = 0  # rows that the wheel moved the window by

    # What it shows

    def draw(self, snapshot: Snapshot) -> None:
        """Show the snapshot; the group of the selection is open, others as the user left them."""
        if self._snapshot is None or snapshot.selection != self._snapshot.selection:
            self._nudge = 0
        self._snapshot = snapshot
        self.paint()

    @property
    def view(self) -> View:
        """The view shown."""
        return "layered" if isinstance(self._picture, Layout) else "rails"

    def paint(self) -> None:
        if self._snapshot is None or self.size.width < 8 or self.size.height <= HEAD:
            return
        if (picture := self._find(self._snapshot)) is None:
            return
        self._picture = picture
        moment = Moment(picture.graph, self._snapshot, self.palette)
        self._scroll(picture, moment)
        rows = self._ranks(picture, moment) if isinstance(picture, Layout) else self._lines(picture, moment)
        head = title(moment.group, self.has_focus, self.view, self.size.width, self.palette)
        self.show([head, blank(self.size.width, self.palette), *rows])

    def _ranks(self, layout: Layout, moment: Moment) -> list[Row]:
        width = self.size.width
        rows = layered_rows(layout, moment, self._corner.left, self._corner.top, width, self._room("layered"))
        return [*rows, blank(width, self.palette), legend(moment, width)]

    def _lines(self, drawn: Rails, moment: Moment) -> list[Row]:
        width, start = self.size.width, self._corner.top
        stop = min(start + self._room("rails"), len(drawn.graph.items))
        rows = rails_rows(drawn, moment, start, stop, width)
        if self.size.height >= LEAST_WITH_FACTS:
            rows += [blank(width, self.palette), *facts(moment, width)]
        return rows

    def _room(self, view: View) -> int:
        """Rows that the picture gets."""
        under = UNDER_RANKS if view == "layered" else UNDER_RAILS if self.size.height >= LEAST_WITH_FACTS else 0
        return max(self.size.height - HEAD - under, 1)

    def _scroll(self, picture: Picture, moment: Moment) -> None:
        """Put the window where the selection is, and then where the wheel took it."""
        item = moment.selected if moment.selected is not None else moment.current or 0
        height = self._room(self.view)
        at = corner(picture, item, self._corner, self.size.width, height)
        top = max(min(at.top + self._nudge, max(height_of(picture) - height, at.top)), min(0, at.top))
        self._nudge = top - at.top
        self._corner = Corner(at.left, top)

    # Pictures

    def _find(self, snapshot: Snapshot) -> Picture | None:
        """The picture to show; None while another thread draws it, and the last one stays."""
        tape = snapshot.tape
        album = self._album
        if album is None or not album.is_of(tape):
            if len(tape.forward) > AT_ONCE["rails"]:
                self._ask(tape.rows, partial(Album, tape))
                return None
            album = self._take(Album(tape))
        opened = self._open_keys()
        view = self._view or self._fitting(album)
        if view == "layered" and not album.has_ranks(opened):
            view = "rails"
        wish = Wish(view, opened, self.size.width - 2 if view == "layered" else 0)
        if album.takes_long(wish):
            self._ask(wish, partial(album.picture, wish))
            return None
        return album.picture(wish)

    def _take(self, album: Album) -> Album:
        """Draw from this album; the groups of the first are open where they are not to be folded."""
        if self._album is None and not self._collapse:
            self._folds.open_all(album.outline)
        self._album = album
        return album

    def _fitting(self, album: Album) -> View:
        """Ranks where a block has room for its own."""
        height = album.layered_height(self.size.width - 2)
        return "rails" if height is None or height > self._room("layered") else "layered"

    def _ask(self, wanted: object, work: Callable[[], Album | Picture]) -> None:
        """Have it drawn elsewhere, unless that is being done."""
        if wanted is self._awaited or wanted == self._awaited:
            return
        self._awaited = wanted

        def deliver(made: Album | Picture | Exception) -> None:
            with suppress(RuntimeError):  # the app has ended meanwhile
                self.post_message(self.Drawn(made))

        self._drawing.ask(self, work, deliver)
        self.set_timer(COMPUTING_AFTER, self._say_computing)

    def on_graph_panel_drawn(self, message: Drawn) -> None:
        message.stop()
        self._awaited = None
        if isinstance(message.made, Exception):
            raise message.made
        if isinstance(message.made, Album):
            self._take(message.made)
        self.paint()

    def _say_computing(self) -> None:
        if self._awaited is not None and self._snapshot is not None:
            self.show([title("", self.has_focus, "computing…", self.size.width, self.palette), *self.rows[1:]])

    # What keys do

    def move(self, direction: str, by: int = 1) -> None:
        """Select what stands `by` chips up, down, left or right."""
        if (picture := self._picture) is None or (start := self._selected()) is None:
            return
        item = moved(picture, start, direction, by)
        if item != start:
            self.post_message(RowChosen(entered(picture, item, direction)))

    def page(self, by: int) -> None:
        rows = self._room(self.view) // (2 if self.view == "layered" else 1)
        self.move("down" if by > 0 else "up", max(rows - 2, 1))

    def toggle(self) -> None:
        """Open the selected group or event, or close what the selection is in."""
        album, picture, snapshot = self._album, self._picture, self._snapshot
        if album is None or picture is None or snapshot is None or (item := self._selected()) is None:
            return
        before = self._open_keys()
        self._folds.toggle(album.outline, picture.graph.items[item], snapshot.selection)
        after = self._open_keys()
        self.paint()
        self.post_message(Folded(after - before, before - after))

    def fold(self, opened: frozenset[str], shut: frozenset[str]) -> None:
        """Open and close groups as they were in another panel."""
        self._folds.fold(opened, shut)
        self.paint()

    def _open_keys(self) -> frozenset[str]:
        if self._album is None or self._snapshot is None:
            return frozenset()
        return self._folds.keys(self._album.outline, self._snapshot.selection)

    def toggle_view(self) -> None:
        """The other view, from now on."""
        self._view = "rails" if self.view == "layered" else "layered"
        self._corner = Corner()
        self.paint()

    def _selected(self) -> int | None:
        if self._snapshot is None or self._picture is None:
            return None
        return self._picture.graph.item_of(self._snapshot.selection)

    # The mouse

    def on_click(self, event: events.Click) -> None:
        if self._picture is None or self._snapshot is None or not 0 <= event.y - HEAD < self._room(self.view):
            return
        x, y = event.x + self._corner.left, event.y - HEAD + self._corner.top
        item = chip_at(self._picture, x, y)
        if item is not None:
            self.post_message(RowChosen(self._picture.graph.items[item].boundary))

    def on_mouse_scroll_down(self) -> None:
        self._turn(3)

    def on_mouse_scroll_up(self) -> None:
        self._turn(-3)

    def _turn(self, by: int) -> None:
        self._nudge += by
        self.paint()
