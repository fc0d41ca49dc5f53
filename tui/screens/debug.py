"""The debug screen: composes the panels, hands each the newest snapshot, and shows what it is told."""

from collections.abc import Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Horizontal

from glassllm.debug.commands import COMMANDS
from glassllm.debug.snapshot import Said, Snapshot
from tui.draw.palette import Palette
from tui.engine import Engine
from tui.keys import bindings, remapped
from tui.messages import JobProgress, Request
from tui.settings import DEFAULTS, Settings
from tui.widgets.command_line import CommandLine
from tui.widgets.events import EventsPanel
from tui.widgets.footer import Footer
from tui.widgets.graph import GraphPanel
from tui.widgets.header import Header
from tui.widgets.page import Page
from tui.widgets.rule import RulePanel
from tui.widgets.status import StatusRow
from tui.widgets.tensor import TensorPanel
from tui.widgets.tokens import TokenStrip
from tui.widgets.track import Track

from .actions import Actions
from .arrangement import Arrangement, arrange
from .holding import STATISTICS, holding
from .palette import PaletteCommands
from .small import small_rows
from .words import DEBUGGING

FIRST_LINE: Said = (
    ("n", "bright"), (" next event   ", "muted"), ("s", "bright"), (" next op   ", "muted"),
    ("c", "bright"), (" to the loss, and again back from it   ", "muted"), ("?", "bright"), (" all keys", "muted"),
)  # fmt: skip


class DebugScreen(Actions):
    """Everything a person does here is a command of the session, or a movement inside one panel."""

    BINDINGS = [replace(binding, priority=True) for binding in bindings()]
    """Each key is done with before the next is looked at: typed ahead, `:next` opens the line first."""
    COMMANDS = {PaletteCommands}

    def __init__(
        self,
        palette: Palette,
        file: str,
        engine: Engine,
        settings: Settings = DEFAULTS,
        faults: Sequence[str] = (),
    ):
        super().__init__()
        self.engine = engine
        self.key_table, faults_of_keys = remapped(settings.keys)
        self._faults = [*faults, *faults_of_keys]
        self.snapshot: Snapshot | None = None
        self.header = Header(palette, file)
        self.track = Track(palette)
        self.events = EventsPanel(palette, settings.collapse)
        self.graph = GraphPanel(palette, collapse=settings.collapse)
        self.tensor = TensorPanel(palette, settings.format)
        self.rule = RulePanel(palette)
        self.tokens = TokenStrip(palette)
        self.status = StatusRow(palette)
        self.line = CommandLine(palette, self.entered, {**COMMANDS, **DEBUGGING})
        self.keys = Footer(palette, self.key_table)
        self.gutters = [Page(palette, "bg", classes="gutter") for _ in range(2)]
        self.blank = Page(palette, "bg", id="blank")
        self.small = Page(palette, "bg", id="small")
        self._palette = palette
        self._file = file
        self.ended: Request | None = None
        """The other screens' work that ended last."""
        self._right = "tensor"  # which panel stands beside the events where only one fits

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.track
        with Horizontal(id="panels"):
            yield self.events
            yield self.gutters[0]
            yield self.graph
            yield self.gutters[1]
            yield self.tensor
        yield from (self.blank, self.rule, self.tokens, self.status, self.keys, self.line, self.small)

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, lambda _: self.frame(), immediate=True)
        self.events.focus()
        self.say((("opening ", "muted"), (self._file, "text")))

    # What it shows

    def take(self, snapshot: Snapshot) -> None:
        """Show a newer snapshot."""
        before, self.snapshot = self.snapshot, snapshot
        self.say(snapshot.said if before is not None else self._first_line(snapshot))
        if before is None and self._faults:
            self.said.extend(f"✗ {fault}" for fault in self._faults[1:])
            self.said.append("".join(words for words, _ in snapshot.said))
        if snapshot.focus.gradient is not None and snapshot.gradient_health is None:  # too large for a command
            self.engine.submit(lambda: self.engine.session.count_gradient(), STATISTICS)
        self.halt_at_end(before, snapshot)
        self.events.draw(snapshot)
        self.graph.draw(snapshot)
        self.tensor.draw(snapshot)
        self.frame()

    def _first_line(self, snapshot: Snapshot) -> Said:
        """What in the settings can't be used, else what the session has to say, else what to press."""
        if self._faults:
            more = f"   and {len(self._faults) - 1} more in the log" if len(self._faults) > 1 else ""
            return (("✗ ", "stop"), (self._faults[0], "text"), (more, "muted"))
        return snapshot.said if snapshot.run.notes else FIRST_LINE

    def take_statistics(self, gradient: object = None) -> None:
        """Show what has been counted since the snapshot: values; or a gradient, with its row and the position."""
        if (shown := self.snapshot) is None:
            return
        if isinstance(gradient, tuple) and gradient[:2] == (shown.selection, shown.position):
            shown = replace(shown, gradient_health=gradient[2])
        self.snapshot = replace(shown, value_health=shown.tape.health(shown.selection))
        self.events.draw(self.snapshot)
        self.tensor.draw(self.snapshot)

    def frame(self) -> None:
        """Paint the rows around the panels, which follow the cell cursor and the focus."""
        snapshot, cell = self.snapshot, self.tensor.cell
        place = arrange(self.size.width, self.size.height)
        self.header.draw(snapshot, self.activity_words())
        self.keys.draw(self.panel, snapshot is not None and snapshot.position.traversal > 0)
        self.blank.show([])
        if snapshot is not None:
            self.track.draw(snapshot)
            self.rule.draw(snapshot, cell, place.tensor_column, self.tensor.state.format)
            self.tokens.draw(snapshot, cell)

    def progress(self, news: JobProgress) -> None:
        total = f"/{news.total}" if news.total else ""
        self.status.pend(f"{news.job}  {news.done}{total}   esc stops")

    def activity_words(self) -> str:
        """Who holds the engine, where that is news."""
        return holding(self.engine.activity, self.ended)

    # Where it shows it

    def on_resize(self) -> None:
        self.lay_out()

    def on_descendant_focus(self) -> None:
        self.lay_out()

    def lay_out(self) -> None:
        """Give every panel its columns; widgets repaint themselves when their size changes."""
        if self.panel != "events":
            self._right = self.panel
        place = arrange(self.size.width, self.size.height)
        self._show_rows(place)
        self._show_panels(place)
        self.frame()

    def _show_rows(self, place: Arrangement) -> None:
        self.track.display = place.has_track
        self.blank.display = place.has_blank
        self.rule.display, self.rule.styles.height = place.rules > 0, place.rules or 1
        self.tokens.display = place.has_tokens
        self.small.display = place.is_too_small
        self.small.show(small_rows(self.size.width, self.size.height, self._palette))

    def _show_panels(self, place: Arrangement) -> None:
        columns = {"events": place.events, "graph": place.graph, "tensor": place.tensor}
        if self.is_enlarged or place.single:
            columns = dict.fromkeys(columns, 0) | {self.panel: self.size.width}
        elif place.tabs:
            columns = {"events": place.events, "graph": 0, "tensor": 0} | {self._right: place.tensor}
        for panel in (self.events, self.graph, self.tensor):
            wide = columns[panel.id or ""]
            panel.display, panel.styles.width = wide > 0, wide or 1
        self.gutters[0].display = columns["events"] > 0 and columns["graph"] + columns["tensor"] > 0
        self.gutters[1].display = columns["graph"] > 0 and columns["tensor"] > 0
