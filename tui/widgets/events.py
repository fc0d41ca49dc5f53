"""The event list: every moment with its shape and state, and under it what belongs to the position."""

from collections.abc import Iterable, Sequence

from textual import events

from glassllm.debug.runs import next_tokens
from glassllm.debug.snapshot import Snapshot
from glassllm.debug.timeline import counted, event_at, event_of
from tui.draw.event_list import Line, NodeLines, block_name, head_row, line_of, line_row, lines_of, window
from tui.draw.leaf_list import leaf_rows, next_token_rows
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, blank, text_row

from .chosen import RowChosen
from .folded import Folded
from .page import Panel

NOTHING = -1
SIGNS = 3
"""Columns at the left in which a click opens and shuts."""


class EventsPanel(Panel):
    """Folds and scrolls by itself; moving the cursor asks for another selection and runs nothing.

    `collapse`: blocks are folded until they are opened; otherwise all are open at first.
    """

    def __init__(self, palette: Palette, collapse: bool = True):
        super().__init__(palette, "panel", id="events")
        self._collapse = collapse
        self._snapshot: Snapshot | None = None
        self._lines: Sequence[Line] = ()
        self._opened: frozenset[int] = frozenset()
        self._shut: frozenset[int] = frozenset()
        self._fold_row = NOTHING  # the selected row, where the fold it is in was meant
        self._made_for: object = None
        self._top = 0
        self._tops: dict[int, int] = {}  # by height of the list
        self._scrolled_for: object = None
        self._list_height = 0

    def draw(self, snapshot: Snapshot) -> None:
        """Show the snapshot. The blocks of position and selection open; others are as the user left them."""
        before, self._snapshot = self._snapshot, snapshot
        if before is None and not self._collapse:
            self._opened = frozenset(event.layer for event in snapshot.tape.events if event.layer is not None)
        if before is None or before.position != snapshot.position:
            self._shut = frozenset()
        elif before.selection != snapshot.selection != self._fold_row:
            self._shut -= {self._layer()}
        self._fold()
        self.paint()

    def _fold(self) -> None:
        assert self._snapshot is not None
        tape = self._snapshot.tape
        here = tape.events[event_at(tape, self._snapshot.position)].layer if tape.events else None
        inside = {layer for layer in (here, self._layer()) if layer is not None}
        open_layers = (self._opened | inside) - self._shut
        made_for = (id(tape.rows), len(tape.rows), open_layers)
        if made_for != self._made_for:
            self._made_for = made_for
            self._lines = lines_of(tape, open_layers)

    def _layer(self) -> int | None:
        """The block that the selection belongs to."""
        assert self._snapshot is not None
        tape = self._snapshot.tape
        row = tape.rows[self._snapshot.selection]
        if not tape.events:
            return None
        if row.kind == "leaf":
            uses = tape.consumers(row.id)
            return tape.events[event_of(tape, uses[0][0])].layer if len(uses) == 1 else None
        return tape.events[event_of(tape, row.id)].layer

    def paint(self) -> None:
        if (snapshot := self._snapshot) is None or not self.size.width:
            return
        width, height = self.size
        below = self._below(snapshot)
        self._list_height = height - 2 - len(below)
        cursor = self._cursor()
        self._scroll(cursor)
        shown = range(self._top, min(self._top + self._list_height, len(self._lines)))
        rows = [self._title(snapshot, len(shown)), self._heads(snapshot)]
        rows += [line_row(snapshot, self._lines[i], i == cursor, width, self.palette) for i in shown]
        rows += [blank(width, self.palette)] * (self._list_height - len(shown))
        self.show([*rows, *below])

    def _scroll(self, cursor: int) -> None:
        """Keep the cursor in the middle third; a height come back to has the window it had."""
        if self._scrolled_for != (self._made_for, cursor):
            self._scrolled_for = (self._made_for, cursor)
            self._tops.clear()
        top = self._tops.get(self._list_height, self._top)
        self._top = window(len(self._lines), cursor, top, self._list_height)
        self._tops[self._list_height] = self._top

    def _title(self, snapshot: Snapshot, shown: int) -> Row:
        here, total = counted(snapshot.tape, snapshot.position)
        if snapshot.position.traversal and snapshot.tape.events:
            here = total + 1 - here
        words = [
            Span("▌" if self.has_focus else " ", "bright"),
            Span(
                "events" if snapshot.tape.events else "nodes",
                "bright" if self.has_focus else "muted",
                self.has_focus,
            ),
        ]
        return text_row(words, self.size.width, self.palette, right=[Span(f"{here}/{total} ", "muted")])

    def _heads(self, snapshot: Snapshot) -> Row:
        return head_row("event" if snapshot.tape.events else "op", self.size.width, self.palette)

    def _below(self, snapshot: Snapshot) -> list[Row]:
        """The rows under the list, where there is something to say and room to say it."""
        width, height = self.size
        rows: list[Row] = []
        if snapshot.focus.row.name == "logits" or self._is_logits(snapshot):
            rows = self._next_tokens(snapshot)
        elif snapshot.position.traversal and height >= 30:
            rows = leaf_rows(snapshot, 7, width, self.palette)
        if not rows:
            return []
        line = [Span(" " + "─" * (width - 2), "line")]
        return [text_row(line, width, self.palette), *rows]

    def _is_logits(self, snapshot: Snapshot) -> bool:
        event = snapshot.focus.row.event
        return event >= 0 and snapshot.tape.events[event].step == "logits"

    def _next_tokens(self, snapshot: Snapshot) -> list[Row]:
        run, logits = snapshot.run, snapshot.focus.value
        if not run.vocabulary or logits.ndim != 2 or not snapshot.focus.recorded:
            return []
        at = min(self.token, len(run.tokens) - 1) if self.token >= 0 else len(run.tokens) - 1
        actual = run.vocabulary[run.targets[at]] if at < len(run.targets) else None
        best = next_tokens(logits[at], run.vocabulary, 10)
        return next_token_rows(run.tokens[at], best, actual, self.size.width, self.palette)

    token = -1  # the position whose next tokens are shown; the last one before the cell cursor says otherwise

    def follow_token(self, token: int) -> None:
        """Show what is likeliest after this position."""
        if token != self.token:
            self.token = token
            self.paint()

    def _cursor(self) -> int:
        assert self._snapshot is not None
        snapshot = self._snapshot
        row = snapshot.selection
        if snapshot.tape.rows[row].kind == "leaf" and (uses := snapshot.tape.consumers(row)):
            row = uses[0][0]
        return line_of(snapshot.tape, self._lines, row)

    def move(self, by: int) -> None:
        """Move the cursor `by` lines, over the heads of open blocks."""
        if self._snapshot is None:
            return
        if isinstance(self._lines, NodeLines):
            self._select(self._lines[max(0, min(self._cursor() + by, len(self._lines) - 1))])
            return
        at, step = self._cursor(), 1 if by > 0 else -1
        for _ in range(abs(by)):
            to = at + step
            while 0 <= to < len(self._lines) and self._lines[to].is_open:
                to += step
            if not 0 <= to < len(self._lines):
                break
            at = to
        self._select(self._lines[at])

    def _select(self, line: Line) -> None:
        """A fold is selected as it is; a block that is jumped into opens."""
        if line.layers and not line.is_open:
            self._fold_row = line.row
            self._shut |= set(line.layers)
        self.post_message(RowChosen(line.row))

    def page(self, by: int) -> None:
        self.move(by * max(self._list_height - 2, 1))

    def open_fold(self) -> bool:
        """Open the fold under the cursor; False where there is none."""
        if self._snapshot is None or not self._lines[self._cursor()].layers:
            return False
        self.toggle()
        return True

    def toggle(self) -> None:
        """Open the fold under the cursor, or just the block in it that is selected in; else shut the block."""
        if self._snapshot is None:
            return
        line, layer = self._lines[self._cursor()], self._layer()
        if not line.layers:
            self._shut_block(layer)
        elif layer is None or self._snapshot.selection == line.row:
            self._open_blocks(line.layers)
        else:
            self._open_blocks([layer])

    def _open_blocks(self, layers: Iterable[int]) -> None:
        self._turn(frozenset(layers), frozenset())

    def _shut_block(self, layer: int | None) -> None:
        if layer is not None:
            self._turn(frozenset(), frozenset({layer}))

    def _turn(self, opened: frozenset[int], shut: frozenset[int]) -> None:
        """Open and shut these blocks by hand, here and in the other panels."""
        self.post_message(Folded(*(frozenset(map(block_name, layers)) for layers in (opened, shut))))
        self._fold_by_hand(opened, shut)

    def fold(self, opened: frozenset[str], shut: frozenset[str]) -> None:
        """Open and shut blocks as they were in another panel."""
        self._fold_by_hand(self._layers(opened), self._layers(shut))

    def _layers(self, names: frozenset[str]) -> frozenset[int]:
        """The blocks among these groups."""
        events = self._snapshot.tape.events if self._snapshot is not None else ()
        layers = {event.layer for event in events if event.layer is not None}
        return frozenset(layer for layer in layers if block_name(layer) in names)

    def _fold_by_hand(self, opened: frozenset[int], shut: frozenset[int]) -> None:
        if self._snapshot is None or not (opened or shut):
            return
        self._opened = (self._opened | opened) - shut
        self._shut = (self._shut | shut) - opened
        if shut:
            self._fold_row = self._snapshot.selection
        self._fold()
        self.paint()

    def on_click(self, event: events.Click) -> None:
        """On a sign at the left: open or shut; elsewhere: select."""
        at = self._top + event.y - 2
        if not (0 <= event.y - 2 < self._list_height and at < len(self._lines)):
            return
        line = self._lines[at]
        if not line.layers or event.x > SIGNS:
            self._select(line)
        elif line.is_open:
            self._shut_block(line.layers.start)
        else:
            self._open_blocks(line.layers)

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)
