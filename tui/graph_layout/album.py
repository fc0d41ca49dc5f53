"""The pictures of one recording, each drawn once: by view, what is open, and how wide it may be."""

from typing import Literal, NamedTuple

from glassllm.debug.snapshot import TapeView

from .groups import Outline
from .items import Graph
from .layout import layered
from .phrases import chip_label
from .rails import rails
from .window import Picture, height_of, span_of

View = Literal["layered", "rails"]

AT_ONCE = {"layered": 300, "rails": 2_000}
"""Items up to which a picture takes a moment only; also the nodes up to which an album does."""
MOST_RANKED = 1_000
"""Items that can stand in ranks: more are no picture any more, and take minutes."""
MOST_INPUTS = 100
"""Inputs that an item in ranks can have."""
MOST_NODES = 150
"""Nodes of a recording without events up to which it can stand in ranks of its own accord."""
MOST_PICTURES = 32


class Wish(NamedTuple):
    """Which picture: `columns` matter to the layered view only."""

    view: View
    open: frozenset[str]
    columns: int


class Album:
    """What is known of a tape's pictures. It describes the tape as it was when the album was made."""

    def __init__(self, tape: TapeView):
        self.outline = Outline(tape)
        self._pictures: dict[Wish, Picture] = {}
        self._has_ranks: dict[frozenset[str], bool] = {}
        self._heights: dict[int, int] = {}  # of what must fit, by columns

    def is_of(self, tape: TapeView) -> bool:
        return self.outline.rows is tape.rows and len(self.outline.forward) == len(tape.forward)

    def graph(self, wish: Wish) -> Graph:
        return self.outline.graph(wish.open)

    def takes_long(self, wish: Wish) -> bool:
        """Whether the picture is better drawn in another thread."""
        return wish not in self._pictures and self.outline.size(wish.open) > AT_ONCE[wish.view]

    def has_ranks(self, opened: frozenset[str]) -> bool:
        """Whether what is visible can stand in ranks."""
        if opened not in self._has_ranks:
            self._has_ranks[opened] = self.outline.size(opened) <= MOST_RANKED and self._is_narrow(opened)
        return self._has_ranks[opened]

    def _is_narrow(self, opened: frozenset[str]) -> bool:
        return max((len(edges) for edges in self.outline.graph(opened).into), default=0) <= MOST_INPUTS

    def picture(self, wish: Wish) -> Picture:
        if wish not in self._pictures:
            if len(self._pictures) >= MOST_PICTURES:
                self._pictures.clear()
            self._pictures[wish] = self._drawn(wish)
        return self._pictures[wish]

    def _drawn(self, wish: Wish) -> Picture:
        graph = self.graph(wish)
        if wish.view == "rails":
            made = rails(graph)
            assert made.name_width >= 0  # counted now, not while a frame waits
            return made
        rows, has_events = self.outline.rows, self.outline.has_events
        labels = [chip_label(item, rows, has_events) for item in graph.items]
        return layered(graph, labels, wish.columns)

    def layered_height(self, columns: int) -> int | None:
        """Rows of the largest block in ranks, or of all nodes where there are no events; None: far too many."""
        if columns not in self._heights:
            folds = [section for section in self.outline.sections if section.foldable]
            if self.outline.has_events:
                folds = sorted(folds, key=lambda section: section.stop - section.start)[-1:]
            elif len(self.outline.forward) > MOST_NODES:
                return None
            wish = Wish("layered", frozenset(section.key for section in folds), columns)
            if self.takes_long(wish) or not self.has_ranks(wish.open):
                return None
            self._heights[columns] = self._height(self.picture(wish))
        return self._heights[columns]

    def _height(self, picture: Picture) -> int:
        inside = next((i for i, item in enumerate(picture.graph.items) if item.group), None)
        if not self.outline.has_events or inside is None:
            return height_of(picture)
        first, last = span_of(picture, inside)
        return last - first + 1
