"""The tensor panel: one tensor as a map, its gradient, what was sent to it; and a cursor on one cell.

Looking runs nothing: everything here moves the cursor or changes how the tensor is laid out. The cursor remembers
its place per kind of axis, so a walk through the model stays at the same token, head and channel.
"""

import re
from dataclasses import replace

import numpy as np
from textual import events
from textual.message import Message

from glassllm.debug.snapshot import Focus, Said, Snapshot
from tui.draw import numbers
from tui.draw.formats import USUAL, Format
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.plane import Cell, PanelState, largest_cell, next_abnormal, next_axes, next_slice
from tui.draw.scale import Codes
from tui.draw.tensor_page import TensorPage, tensor_page
from tui.draw.tensor_words import place_words

from .page import Panel

STEPS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
TOKEN_AXES = ("token", "query", "key")  # in the order in which they are followed
SAME_PLACE = {"query": "token"}  # a query is a token in its role


def is_back(snapshot: Snapshot) -> bool:
    """Whether time runs back: then it is the gradient that a step changes."""
    return snapshot.position.traversal > 0


class TensorPanel(Panel):
    """Shows the selected tensor; the screen hands it snapshots and turns keys into its methods."""

    class CellMoved(Message):
        """The cursor is on another cell, in the tensor's own axes; `token` is −1 where none belongs to it."""

        def __init__(self, cell: Cell, token: int):
            super().__init__()
            self.cell = cell
            self.token = token

    def __init__(self, palette: Palette, how: Format = USUAL):
        super().__init__(palette, "panel", id="tensor")
        self.state = PanelState(format=how)
        self._snapshot: Snapshot | None = None
        self._page: TensorPage | None = None
        self._places: dict[str, int] = {}

    @property
    def cell(self) -> Cell | None:
        """The cursor in the axes of the tensor shown; None before there is one, and for a scalar."""
        return (self.state.cell or None) if self._snapshot is not None else None

    @property
    def token(self) -> int:
        """The position in the text that the cursor's cell belongs to, −1 for none."""
        names = [axis.name for axis in self._snapshot.focus.axes] if self._snapshot else []
        return next((self.state.cell[names.index(name)] for name in TOKEN_AXES if name in names), -1)

    @property
    def codes(self) -> tuple[tuple[str, Codes], ...]:
        """What each cell of the maps shown is, by the name of the map."""
        return self._page.codes if self._page is not None else ()

    # Drawing

    def draw(self, snapshot: Snapshot) -> None:
        """Show the snapshot's selection; the scale is kept while it is the same tensor."""
        before, self._snapshot = self._snapshot, snapshot
        is_same = before is not None and before.selection == snapshot.selection and before.run is snapshot.run
        if before is not None and is_back(before) != is_back(snapshot):
            self.state = replace(self.state, tab="gradient" if is_back(snapshot) else "value")
        if not is_same:
            self.state = replace(self.state, kept=(), axes=None, cell=self._cell_in(snapshot.focus))
        self.paint()

    def _cell_in(self, focus: Focus) -> Cell:
        """The remembered place in this tensor; at first the last token, and 0 elsewhere."""
        cell = []
        for axis, size in zip(focus.axes, focus.value.shape, strict=True):
            name = SAME_PLACE.get(axis.name, axis.name)
            first = size - 1 if name == "token" else 0
            cell.append(max(0, min(self._places.get(name, first), size - 1)))
        return tuple(cell)

    def paint(self) -> None:
        width, height = self.size
        if self._snapshot is None or not width or not height:
            return
        state = replace(self.state, focused=self.has_focus)
        self._page = tensor_page(self._snapshot, state, width, height, self.palette)
        kept = dict(self.state.kept) | dict(self._page.scales)
        self.state = replace(self.state, kept=tuple(kept.items()))
        self.show(self._page.rows)

    # The cursor

    def go(self, cell: Cell) -> None:
        """Put the cursor on a cell of the tensor shown."""
        if self._snapshot is None or len(cell) != self._snapshot.focus.value.ndim or cell == self.state.cell:
            return
        for axis, at, was in zip(self._snapshot.focus.axes, cell, self.state.cell, strict=True):
            if at != was:
                self._places[SAME_PLACE.get(axis.name, axis.name)] = at
        self.state = replace(self.state, cell=cell)
        self.paint()
        self.post_message(self.CellMoved(cell, self.token))

    def move(self, direction: str, by: int = 1) -> None:
        """Left, right, up or down on the map."""
        plane = self._page.plane if self._page else None
        if plane is not None:
            down, right = STEPS[direction]
            self.go(plane.at(plane.row + by * down, plane.column + by * right))

    def page(self, by: int) -> None:
        """As many rows up or down as are shown."""
        if self._page is not None and self._page.spots:
            fit = self._page.spots[0].fit
            self.move("down" if by > 0 else "up", abs(by) * max(1, fit.shown[0] * fit.pool[0] // 2))

    def go_to(self, text: str) -> Said:
        """Go to coordinates as typed, `8,7` or `1 8 7`: the last axes are meant. Says where, or why not."""
        shape = self._snapshot.focus.value.shape if self._snapshot else ()
        if not re.fullmatch(r"[\s\[\]()]*-?\d{1,18}([\s,]+-?\d{1,18})*[\s\[\]()]*", text):
            return (("✗ ", "stop"), ("expected whole numbers such as 8,7", "text"))
        given = [int(number) for number in re.findall(r"-?\d+", text)]
        if len(given) > len(shape):
            return (("✗ ", "stop"), (f"{numbers.shape(shape)} has {len(shape)} axes, not {len(given)}", "text"))
        sizes = shape[len(shape) - len(given) :]
        for at, size in zip(given, sizes, strict=True):
            if not -size <= at < size:
                return (("✗ ", "stop"), (f"{at} is outside {numbers.shape(shape)}", "text"))
        ends = tuple(at % size for at, size in zip(given, sizes, strict=True))
        self.go(self.state.cell[: len(shape) - len(given)] + ends)
        return (("cell ", "muted"), (numbers.coordinates(self.state.cell), "bright"))

    def go_to_token(self, token: int) -> None:
        """Go to a position of the text, where an axis of the tensor counts them."""
        names = [axis.name for axis in self._snapshot.focus.axes] if self._snapshot else []
        for name in TOKEN_AXES:
            if name in names and 0 <= token < self._values().shape[names.index(name)]:
                cell = list(self.state.cell)
                cell[names.index(name)] = token
                return self.go(tuple(cell))
        return None

    def go_to_largest(self) -> None:
        """Go to the largest magnitude of the array shown."""
        cell = largest_cell(self._values(), self._masked())
        if cell is not None:
            self.go(cell)

    def go_to_abnormal(self) -> bool:
        """Go to the next NaN or Inf of the array shown; False if there is none, or no other."""
        cell = next_abnormal(self._values(), self._masked(), self.state.cell)
        if cell is not None:
            self.go(cell)
        return cell is not None

    def show_abnormal(self) -> None:
        """Go to the first NaN or Inf of the tensor, on the tab that is open or on the one that has it."""
        opened = self.state
        for tab in (opened.tab, "value", "gradient"):
            self.state = replace(opened, tab=tab)
            cell = next_abnormal(self._values(), self._masked(), None)
            if cell is not None:
                self.paint()
                return self.go(cell)
        return self._look(opened)

    def _values(self) -> Array:
        """The array under the cursor: the gradient on its tab, where there is one, else the value."""
        if self._snapshot is None:
            return np.zeros(())
        focus = self._snapshot.focus
        is_gradient = self.state.tab != "value" and focus.gradient is not None
        return focus.gradient if is_gradient and focus.gradient is not None else focus.value

    def _masked(self) -> Array | None:
        focus = self._snapshot.focus if self._snapshot else None
        return focus.masked if focus is not None and self.state.tab == "value" else None

    # How it is looked at

    def turn_tab(self, by: int) -> None:
        tabs = self.state.tabs
        self._look(replace(self.state, tab=tabs[(tabs.index(self.state.tab) + by) % len(tabs)]))

    def show_tab(self, tab: str) -> None:
        self._look(replace(self.state, tab=tab))

    def turn_slice(self, by: int) -> None:
        """Another slice: the next index of the axes that are not drawn."""
        plane = self._page.plane if self._page else None
        if plane is not None:
            self.go(next_slice(plane, by))

    def turn_axes(self) -> None:
        """Another choice of which axes are rows and columns."""
        self._look(replace(self.state, axes=next_axes(self._values().ndim, self.state.axes)))

    def toggle_scale(self) -> None:
        """One scale for all slices, or one for each."""
        self._look(replace(self.state, scale="slice" if self.state.scale == "shared" else "shared"))

    def set_format(self, how: Format) -> None:
        """Write single numbers in this form from now on."""
        self._look(replace(self.state, format=how))

    def _look(self, state: PanelState) -> None:
        self.state = state
        self.paint()

    def copied(self) -> str:
        """The cell as a line of text, then its row of the map with full digits."""
        plane = self._page.plane if self._page else None
        if self._snapshot is None:
            return ""
        focus, values = self._snapshot.focus, self._values()
        if plane is None:
            return f"{focus.title} {values[()] if values.ndim == 0 else ''}".rstrip()
        value = numbers.formatted(values[self.state.cell], self.state.format)
        line = f"{focus.title} {numbers.coordinates(self.state.cell)} {value}"
        row = plane.values[plane.row] if plane.values.size else ()
        return f"{line}  {place_words(focus, plane)}".rstrip() + "\n" + " ".join(str(x) for x in row)

    # The mouse

    def on_click(self, event: events.Click) -> None:
        if self._page is None:
            return
        tab = self._page.tab_at(event.x, event.y)
        cell = self._page.cell_at(event.x, event.y)
        if tab is not None:
            self._look(replace(self.state, tab=tab))
        elif cell is not None:
            self.go(cell)
