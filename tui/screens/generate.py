"""The Generate screen: a text written on token by token, every choice open to be made otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from glassllm.debug.desk import WRITER
from glassllm.debug.snapshot import Said
from glassllm.generation import Written
from glassllm.tokenizer import EOS
from tui.draw.palette import Palette
from tui.draw.text import Row, Span
from tui.draw.writing import page, timeline
from tui.draw.writing.choice import Choice, head_in_layer, marked
from tui.draw.writing.rule import rule
from tui.draw.writing.spots import Spot, spot_at
from tui.draw.writing.status import said
from tui.engine import Engine
from tui.messages import EngineFailed

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
        self.pace = Pace(self, self._play_on, lambda: not self.is_waiting)

    def subject(self) -> object:
        return bench.writer(self.engine, self._file)

    def take(self, view: Written) -> None:
        before = self.view
        has_moved = before is None or before.path != view.path
        if has_moved or (before is not None and before.event != view.event):
            self.choice = replace(self.choice, rank=None)
        if before is None:  # open with the last layer, which decides
            self.choice = replace(self.choice, head=(view.layers - 1) * view.heads)
        if (moment := view.moment) is not None and moment.step == "attn.softmax":  # the text shows who looks now
            head = (moment.layer or 0) * view.heads + head_in_layer(view, self.choice)
            self.choice = replace(self.choice, head=head)
        if before is not None and self.pace.is_playing and self._is_over(before, view):
            self.pace.stop()
        super().take(view)

    def _is_over(self, before: Written, view: Written) -> bool:
        """Whether playing led nowhere, or to the end of the text."""
        if before.path == view.path:
            return before.event == view.event
        return bool(view.path) and view.path[-1].token == EOS

    def failed(self, message: EngineFailed) -> None:
        self.pace.stop()
        super().failed(message)

    # What it shows

    def board_rows(self, width: int, height: int) -> Sequence[Row]:
        assert self.view is not None
        return page.board(self.view, self.choice, width, height, self._palette)

    def track_row(self, width: int) -> Row:
        assert self.view is not None
        is_writing = self.is_waiting and self._asked is not None and self._asked.name == "generate write"
        state = "playing" if self.pace.is_playing else "writing" if is_writing else "paused"
        return timeline.track(self.view, state, self.pace.speed, width, self._palette)

    def rule_rows(self, width: int, count: int) -> Sequence[Row]:
        assert self.view is not None
        return rule(self.view, self.choice, width, count, self._palette)

    def facts(self, width: int) -> list[list[Span]]:
        assert self.view is not None
        return timeline.facts(self.view, width)

    def saying(self) -> Said:
        assert self.view is not None
        return said(self.view)

    def repaint(self) -> None:
        """Show another choice on the same view."""
        if self.view is not None:
            self.lay_out()

    # Keys

    def action_play(self) -> None:
        self.pace.toggle()
        self.repaint()

    def _play_on(self) -> None:
        """What playing does next: an event while the token is gone through by them, else a token."""
        self.do("event" if self.view is not None and self.view.event else "next")

    def action_speed(self, by: int) -> None:
        self.pace.change(by)
        self.repaint()

    def action_move(self, direction: str) -> None:
        by = self.counted() or 1
        if direction in ("left", "right"):
            self.do(f"{'back' if direction == 'left' else 'next'} {by}")
        else:
            self._mark(by if direction == "down" else -by)

    def _mark(self, by: int) -> None:
        """Move the mark along the candidates."""
        if self.view is not None and (here := marked(self.view, self.choice)) is not None:
            assert self.view.candidates is not None
            rank = max(0, min(here.rank - 1 + by, len(self.view.candidates.order) - 1))
            self.choice = replace(self.choice, rank=rank)
            self.repaint()

    def action_take_marked(self) -> None:
        """Go on with it; before there are candidates, go on to them."""
        if self.view is None:
            return
        if (found := marked(self.view, self.choice)) is not None:
            is_next = found.token == self.view.upcoming
            self.do("next" if is_next else f"take {found.token}")
        elif self.view.is_waiting:
            self.do("event-at probs")

    def action_head(self, by: int) -> None:
        if self.view is not None:
            every = self.view.layers * self.view.heads
            self.choice = replace(self.choice, head=(self.choice.head + by) % every)
            self.repaint()

    def action_layer(self, by: int) -> None:
        if self.view is not None:
            self.action_head(by * self.view.heads)

    def action_toggle_lens(self) -> None:
        self.choice = replace(self.choice, has_lens=not self.choice.has_lens)
        self.repaint()

    def action_other_pane(self) -> None:
        self.choice = replace(self.choice, tab=1 - self.choice.tab)
        self.repaint()

    def action_toggle_greedy(self) -> None:
        if self.view is not None:
            self.do(f"greedy {'off' if self.view.sampling.greedy else 'on'}")

    def action_edit(self, setting: str) -> None:
        """Let a setting be typed over, as it stands."""
        if self.view is not None:
            now = getattr(self.view.sampling, setting.replace("-", "_"))
            self.action_command_line(f"{setting} {'off' if now is None else f'{now:g}'}")

    def action_leave(self) -> None:
        """Stop what goes on; else forget what is marked."""
        if self.pace.is_playing:
            self.action_play()
        elif self._asked is not None:
            self.engine.cancel(self._asked)
            self.do("look")
        elif self.choice.rank is None and self.view is not None and self.view.event:
            self.do("whole")
        else:
            self.choice = replace(self.choice, rank=None)
            self.repaint()

    def action_open_step(self) -> None:
        """Record the pass that chooses the next token, and open it in the debugger."""
        view = self.view
        if view is None or view.fault:
            return
        engine, file = self.engine, self._file
        lines = [f"next {view.event - 1}"] if view.event > 1 else []

        def make() -> object:
            from glassllm.debug.replays import TokenRun

            writer = bench.writer(engine, file)
            return TokenRun.at(writer.tree, writer.upcoming()[0], file)

        cast("GlassApp", self.app).open_run(make, f"token {view.depth + 1}", lines)

    # The mouse

    def pointed(self, column: int, row: int) -> None:
        """Mark the candidate, choose the head, or go back to the token that was clicked."""
        view, spot = self.view, self._spot(column, row)
        if view is None or spot is None:
            return
        if spot.what == "token":
            self._go_to_token(view, spot.number)
        elif spot.what == "head":
            self.choice = replace(self.choice, head=spot.number)
        elif view.candidates is not None:
            self.choice = replace(self.choice, rank=view.candidates.of(spot.number).rank - 1)
        self.repaint()

    def pointed_twice(self, column: int, row: int) -> None:
        """Go on with the candidate, which the first click marked."""
        spot = self._spot(column, row)
        if spot is not None and spot.what == "candidate":
            self.action_take_marked()

    def _spot(self, column: int, row: int) -> Spot | None:
        if self.view is None:
            return None
        return spot_at(page.panes(self.view, self.choice, *self.board.size, self._palette), column, row)

    def _go_to_token(self, view: Written, number: int) -> None:
        """To where this token of the text was taken; one of the prompt: to the prompt."""
        if number >= len(view.tokens):
            self.action_take_marked()
        elif (back := len(view.tokens) - 1 - max(number, view.prompt - 1)) > 0:
            self.do(f"back {back}")

    def wheel(self, by: int) -> None:
        self._mark(by)
