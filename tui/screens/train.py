"""The Train screen: a run on a text, its curves, what it writes, and its steps, which the debugger opens."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from glassllm.debug.arguments import whole
from glassllm.debug.desk import TRAINING, settings_line
from glassllm.debug.snapshot import CommandError, Said
from glassllm.train import Trained
from tui.draw.palette import Palette
from tui.draw.text import Row, Span
from tui.draw.training import page, status, timeline
from tui.draw.training.rule import rule
from tui.draw.training.updates import groups
from tui.engine import Engine
from tui.messages import JobDone, Request

from . import bench
from .palette import PaletteCommands
from .replay import Replay, replay, show_gradient
from .room import Room, Then, bound
from .room_keys import TRAIN_KEYS
from .words import EVERYWHERE, Word

if TYPE_CHECKING:
    from glassllm.train import Training
    from tui.app import GlassApp

WORDS = EVERYWHERE | {"debug": Word("debug", "open a step in the debugger, by default the last", "[STEP]")}


class TrainScreen(Room):
    """Its view is a run as it stands. `text` is the first to train on, `folder` where runs are saved."""

    BINDINGS = bound(TRAIN_KEYS)
    COMMANDS = {PaletteCommands}
    name_of_room = "train"
    table = TRAINING
    words = WORDS
    lasting = frozenset(("run", "step", "text", "save", "stop", "validate", "resume"))
    tracks = True
    view: Trained | None

    def __init__(
        self, palette: Palette, file: str, engine: Engine, text: Path | None = None, folder: Path | None = None
    ):
        super().__init__(palette, file, engine, TRAIN_KEYS)
        self.look = page.Look()
        self._replay: Request | None = None  # the step that was taken again last
        self._text, self._folder = text or bench.corpus_path(), folder or Path.cwd()

    def subject(self) -> "Training":
        return bench.training(self.engine, self._file, self._text, self._folder)

    # What leaving would lose

    @property
    def unsaved(self) -> str:
        return "" if self.view is None else status.unsaved(self.view)

    def save(self, then: Then) -> None:
        self.do("hold")
        self.do("save", then)

    # What it shows

    def board_rows(self, view: Trained, width: int, height: int) -> Sequence[Row]:
        return page.board(view, self.look, width, height, self._palette)

    def track_row(self, view: Trained, width: int) -> Row:
        return timeline.track(view, width, self._palette)

    def rule_rows(self, view: Trained, width: int, count: int) -> Sequence[Row]:
        return rule(view, width, count, self._palette)

    def facts(self, view: Trained, width: int) -> list[list[Span]]:
        return timeline.facts(view, width)

    def saying(self, view: Trained) -> Said:
        return status.said(view)

    # Keys

    def action_run_or_hold(self) -> None:
        if not self._is_running():
            self.do("run")
        elif self.view is not None and self.view.state == "training":
            self.do("hold")
        elif self._asked is not None:  # it has not begun yet, so there is nothing that could hear of holding
            self.engine.cancel(self._asked)
            self.do("look")

    def _is_running(self) -> bool:
        return any(each.name in ("train run", "train step") for each in self._alive())

    def _alive(self) -> list[Request]:
        """What is being worked on, or waits for its turn; what has been answered does neither any more."""
        activity = self.engine.activity
        return [each for each in (activity.running, *activity.waiting) if each not in (None, self._ended)]

    def action_leave(self) -> None:
        """Stop what goes on: a step that is taken again, the run, or else what was asked for last."""
        if self._replay in self._alive():
            self._leave_replay()
        elif self._is_running():
            self.do("hold")
        elif self._asked in self._alive():
            self.engine.cancel(self._asked)

    def action_move(self, by: int) -> None:
        self._mark(self.look.here + by * (self.counted() or 1))

    def _mark(self, group: int) -> None:
        if self.view is not None:
            self._look_at(page.marking(self.view, self.look, group))

    def _look_at(self, look: page.Look) -> None:
        self.look = look
        self.repaint()

    def action_toggle_log(self) -> None:
        self._look_at(self.look._replace(is_log=not self.look.is_log))

    def action_other_pane(self) -> None:
        self._look_at(self.look._replace(turned=self.look.turned + 1))

    def action_edit_settings(self) -> None:
        if self.view is not None:
            self.action_command_line(f"set {settings_line(self.view.settings, self.view.fresh)}")

    # The mouse

    def pointed(self, column: int, row: int) -> None:
        if self.view is not None:
            self._look_at(page.pointed(self.view, self.look, *self.board.size, column, row))

    def pointed_twice(self, column: int, row: int) -> None:
        view = self.view
        if view is not None and page.group_at(view, self.look, *self.board.size, column, row) is not None:
            self.action_open_group()

    def wheel(self, by: int) -> None:
        self._mark(self.look.here + by)

    # Steps in the debugger

    def action_open_step(self) -> None:
        self._take_again()

    def action_open_group(self) -> None:
        """Open the last step where its gradients are final, at the marked group's first parameter."""
        if self.view is not None and (names := groups(self.view)):
            self._take_again(group=names[self.look.here])

    def action_debug(self, words: str = "") -> None:
        """Open a step by its number, from 1; without one the last."""
        try:
            number = whole("a step")(words) if words else None
        except CommandError as error:
            self.refuse(str(error))
        else:
            self._take_again(number)

    def _take_again(self, number: int | None = None, group: str = "") -> None:
        """Take a step again, and open it; what is being taken again now is left."""
        again = partial(replay, self.subject, self._file, number, group)
        self._leave_replay()
        self._replay = self.engine.submit(again, "train debug", tracking=True)

    def _leave_replay(self) -> None:
        if self._replay is not None:
            self.engine.cancel(self._replay)

    def done(self, message: JobDone) -> None:
        if isinstance(message.result, Replay):
            self._answered(message.job)
            name, run, lines = message.result
            then = show_gradient if lines else None
            self._replay = cast("GlassApp", self.app).open_run(lambda: run, name, lines, then)
        else:
            super().done(message)
