"""The Generate screen: a text written on token by token, every choice open to be made otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from glassllm.debug.desk import WRITER
from glassllm.debug.snapshot import Said
from glassllm.generation import Written
from tui.draw.palette import Palette
from tui.draw.text import Row, Span
from tui.draw.writing import page
from tui.draw.writing.choice import Choice, heads, marked, name
from tui.engine import Engine

from . import bench
from .pace import Pace
from .palette import PaletteCommands
from .room import Room, bound
from .room_keys import GENERATE_KEYS

if TYPE_CHECKING:
    from tui.app import GlassApp


class GenerateScreen(Room):
    """Its view is a place in the tree of continuations; what is marked on it is the screen's own."""

    BINDINGS = bound(GENERATE_KEYS)
    COMMANDS = {PaletteCommands}
    name_of_room = "generate"
    table = WRITER
    lasting = frozenset(("write",))
    tracks = False
    view: Written | None

    def __init__(self, palette: Palette, file: str, engine: Engine):
        super().__init__(palette, file, engine, GENERATE_KEYS)
        self.choice = Choice()
        self.pace = Pace(self, lambda: self.do("next"), lambda: not self.is_waiting)

    def subject(self) -> object:
        return bench.writer(self.engine, self._file)

    def take(self, view: Written) -> None:
        before = self.view
        has_moved = before is None or before.path != view.path
        if has_moved:
            self.choice = replace(self.choice, rank=None)
        if before is None and view.attention is not None:  # open with the last layer, which decides
            layers, each = heads(view)
            self.choice = replace(self.choice, head=(layers - 1) * each)
        if self.pace.is_playing and not has_moved:
            self.pace.stop()
        super().take(view)

    # What it shows

    def board_rows(self, width: int, height: int) -> Sequence[Row]:
        assert self.view is not None
        return page.board(self.view, self.choice, width, height, self._palette)

    def track_row(self, width: int) -> Row:
        assert self.view is not None
        is_writing = self.is_waiting and self._asked is not None and self._asked.name == "generate write"
        state = "playing" if self.pace.is_playing else "writing" if is_writing else "paused"
        return page.track(self.view, state, self.pace.speed, width, self._palette)

    def rule_rows(self, width: int, count: int) -> Sequence[Row]:
        assert self.view is not None
        return page.rule(self.view, self.choice, width, count, self._palette)

    def facts(self, width: int) -> list[list[Span]]:
        assert self.view is not None
        return page.facts(self.view, width)

    def saying(self) -> Said:
        view = self.view
        if view is None or view.candidates is None:
            return ((view.fault if view else "", "stop"),)
        if not view.path:
            return (("▶ ", "fwd"), ("the prompt", "bright"), (f"  {view.prompt} tokens; ", "muted"),
                    ("n", "bright"), (" writes the next, ", "muted"), ("c", "bright"),
                    (f" the next {view.goal}", "muted"))  # fmt: skip
        node = view.path[-1]
        kept = f" with p {node.probability:.3f}" if node.how == "drawn" else ""
        forks = f"   {view.branches} forks in the tree" if view.branches else ""
        return (("▶ ", "fwd"), (f"token {view.depth}", "bright"), (f"  {name(view, node.token)}", "text"),
                (f"  {node.how}{kept}{forks}", "muted"))  # fmt: skip

    def repaint(self) -> None:
        """Show another choice on the same view."""
        if self.view is not None:
            self.lay_out()

    # Keys

    def action_play(self) -> None:
        self.pace.toggle()
        self.repaint()

    def action_speed(self, by: int) -> None:
        self.pace.change(by)
        self.repaint()

    def action_move(self, direction: str) -> None:
        view = self.view
        if view is None or view.candidates is None:
            return
        by = self.counted() or 1
        if direction in ("left", "right"):
            self.do(f"{'back' if direction == 'left' else 'next'} {by}")
            return
        here = marked(view, self.choice)
        rank = (here.rank - 1 if here else 0) + (by if direction == "down" else -by)
        rank = max(0, min(rank, len(view.candidates.order) - 1))
        self.choice = replace(self.choice, rank=rank)
        self.repaint()

    def action_take_marked(self) -> None:
        if self.view is not None and (found := marked(self.view, self.choice)) is not None:
            is_next = found.token == self.view.upcoming
            self.do("next" if is_next else f"take {found.token}")

    def action_head(self, by: int) -> None:
        if self.view is not None:
            layers, each = heads(self.view)
            self.choice = replace(self.choice, head=(self.choice.head + by) % max(layers * each, 1))
            self.repaint()

    def action_layer(self, by: int) -> None:
        if self.view is not None:
            self.action_head(by * heads(self.view)[1])

    def action_toggle_lens(self) -> None:
        self.choice = replace(self.choice, has_lens=not self.choice.has_lens)
        self.repaint()

    def action_other_pane(self) -> None:
        self.choice = replace(self.choice, tab=1 - self.choice.tab)
        self.repaint()

    def action_toggle_greedy(self) -> None:
        if self.view is not None:
            self.do(f"greedy {'off' if self.view.sampling.greedy else 'on'}")

    def action_edit_temperature(self) -> None:
        if self.view is not None:
            self.action_command_line(f"temperature {self.view.sampling.temperature:g}")

    def action_edit_top_k(self) -> None:
        if self.view is not None:
            self.action_command_line(f"top-k {self.view.sampling.top_k or 'off'}")

    def action_edit_top_p(self) -> None:
        if self.view is not None:
            self.action_command_line(f"top-p {self.view.sampling.top_p or 'off'}")

    def action_leave(self) -> None:
        """Stop what goes on; else forget what is marked."""
        if self.pace.is_playing:
            self.action_play()
        elif self._asked is not None:
            self.engine.cancel(self._asked)
            self.do("look")
        else:
            self.choice = replace(self.choice, rank=None)
            self.repaint()

    def action_open_step(self) -> None:
        """Record the pass that chooses the next token, and open it in the debugger."""
        view = self.view
        if view is None or view.upcoming is None:
            return
        token, engine, file = view.upcoming, self.engine, self._file

        def make() -> object:
            from glassllm.debug.replays import TokenRun

            return TokenRun.at(bench.writer(engine, file).tree, token, file)

        cast("GlassApp", self.app).open_run(make, f"token {view.depth + 1}")
