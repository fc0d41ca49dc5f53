"""The Generate screen: a text written on token by token, every choice open to be made otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from glassllm.debug.desk import WRITER
from glassllm.debug.snapshot import Said
from glassllm.generation import Written
from tui.draw.palette import Palette
from tui.draw.text import Row, Span
from tui.draw.writing import choice, page, timeline
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
    from glassllm.generation import Writer
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
        self.choice = choice.Choice()
        self.pace = Pace(self, self._play_on, lambda: not self.is_waiting)

    def subject(self) -> "Writer":
        return bench.writer(self.engine, self._file)

    def take(self, view: Written) -> None:
        before = self.view
        self.choice = choice.kept(before, view, self.choice)
        if before is not None and self.pace.is_playing and view.is_over(before):
            self.pace.stop()
        super().take(view)

    def failed(self, message: EngineFailed) -> None:
        self.pace.stop()
        super().failed(message)

    # What it shows

    def board_rows(self, view: Written, width: int, height: int) -> Sequence[Row]:
        return page.board(view, self.choice, width, height, self._palette)

    def track_row(self, view: Written, width: int) -> Row:
        is_writing = self._asked is not None and self._asked.name == "generate write"
        state = "playing" if self.pace.is_playing else "writing" if is_writing else "paused"
        return timeline.track(view, state, self.pace.speed, width, self._palette)

    def rule_rows(self, view: Written, width: int, count: int) -> Sequence[Row]:
        return rule(view, self.choice, width, count, self._palette)

    def facts(self, view: Written, width: int) -> list[list[Span]]:
        return timeline.facts(view, width)

    def saying(self, view: Written) -> Said:
        return said(view)

    def _choose(self, chosen: choice.Choice) -> None:
        self.choice = chosen
        self.repaint()

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
        if self.view is not None:
            self._choose(choice.moved(self.view, self.choice, by))

    def action_take_marked(self) -> None:
        if self.view is not None:
            self._do_any(choice.taking(self.view, self.choice))

    def _do_any(self, line: str) -> None:
        """Ask for this command; nothing where there is none."""
        if line:
            self.do(line)

    def action_head(self, by: int) -> None:
        if self.view is not None:
            self._choose(choice.turned(self.view, self.choice, by))

    def action_layer(self, by: int) -> None:
        if self.view is not None:
            self.action_head(by * self.view.heads)

    def action_toggle_lens(self) -> None:
        self._choose(replace(self.choice, has_lens=not self.choice.has_lens))

    def action_other_pane(self) -> None:
        self._choose(replace(self.choice, tab=1 - self.choice.tab))

    def action_toggle_greedy(self) -> None:
        if self.view is not None:
            self.do(f"greedy {'off' if self.view.sampling.greedy else 'on'}")

    def action_edit(self, setting: str) -> None:
        """Let a setting be typed over, as it stands."""
        if self.view is not None:
            now = getattr(self.view.sampling, setting.replace("-", "_"))
            self.action_command_line(f"{setting} {'off' if now is None else repr(now).removesuffix('.0')}")

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
            self._choose(replace(self.choice, rank=None))

    def action_open_step(self) -> None:
        """Record the pass that chooses the next token, and open it in the debugger."""
        view = self.view
        if view is not None:
            make = partial(bench.next_token, self.engine, self._file)
            lines = ["non-finite"] if view.fault else [f"next {view.event - 1}"] if view.event > 1 else []
            cast("GlassApp", self.app).open_run(make, f"token {view.depth + 1}", lines)

    # The mouse

    def pointed(self, column: int, row: int) -> None:
        """Mark the candidate, choose the head, or go back to the token that was clicked."""
        view, spot = self.view, self._spot(column, row)
        if view is None or spot is None:
            return
        if spot.what == "token":
            self._do_any(choice.going_to(view, self.choice, spot.number))
        elif spot.what == "head":
            self._choose(replace(self.choice, head=spot.number))
        else:
            self._choose(choice.marking(view, self.choice, spot.number))

    def pointed_twice(self, column: int, row: int) -> None:
        """Go on with the candidate, which the first click marked."""
        spot = self._spot(column, row)
        if spot is not None and spot.what == "candidate":
            self.action_take_marked()

    def _spot(self, column: int, row: int) -> Spot | None:
        if self.view is None:
            return None
        return spot_at(page.panes(self.view, self.choice, *self.board.size, self._palette), column, row)

    def wheel(self, by: int) -> None:
        self._mark(by)
