"""The Train screen: a run on a text, its curves, and the step finished last, which the debugger opens."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from glassllm.debug.desk import TRAINING, settings_line
from glassllm.debug.snapshot import Said
from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span
from tui.draw.training import page
from tui.engine import Engine

from . import bench
from .palette import PaletteCommands
from .room import Room, Then, bound
from .room_keys import TRAIN_KEYS

if TYPE_CHECKING:
    from tui.app import GlassApp


class TrainScreen(Room):
    """Its view is a run as it stands. `text` is the first to train on, `folder` where runs are saved."""

    BINDINGS = bound(TRAIN_KEYS)
    COMMANDS = {PaletteCommands}
    name_of_room = "train"
    table = TRAINING
    lasting = frozenset(("run", "step", "text", "save"))
    tracks = True
    view: Trained | None

    def __init__(
        self, palette: Palette, file: str, engine: Engine, text: Path | None = None, folder: Path | None = None
    ):
        super().__init__(palette, file, engine, TRAIN_KEYS)
        self.group = 0
        self.is_log = False
        self.tab = 0
        self._text, self._folder = text or bench.corpus_path(), folder or Path.cwd()

    def subject(self) -> object:
        return bench.training(self.engine, self._file, self._text, self._folder)

    # What leaving would lose

    @property
    def unsaved(self) -> str:
        view = self.view
        saved = 0 if view is None else view.saved or 0
        if view is None or view.step <= saved:
            return ""
        steps = f"a run of {numbers.count(view.step)} step{'s' * (view.step > 1)}"
        return f"{numbers.count(view.step - saved)} of {steps} not saved yet" if saved else f"{steps} is not saved"

    def save(self, then: Then) -> None:
        self.do("hold")
        self.do("save", then)

    # What it shows

    def board_rows(self, width: int, height: int) -> Sequence[Row]:
        assert self.view is not None
        return page.board(self.view, self.group, self.is_log, self.tab, width, height, self._palette)

    def track_row(self, width: int) -> Row:
        assert self.view is not None
        return page.track(self.view, width, self._palette)

    def rule_rows(self, width: int, count: int) -> Sequence[Row]:
        assert self.view is not None
        return page.rule(self.view, width, count, self._palette)

    def facts(self, width: int) -> list[list[Span]]:
        assert self.view is not None
        return page.facts(self.view, width)

    def saying(self) -> Said:
        view = self.view
        assert view is not None
        if view.fault is not None:
            place = f"{view.fault.where} {view.fault.place}; "
            return (("! ", "stop"), (f"{view.fault.fault}: ", "bright"), (place, "text"), ("d", "bright"),
                    (" looks at this step, ", "muted"), ("space", "bright"), (" goes on", "muted"))  # fmt: skip
        every = view.settings.eval_every
        ahead = every - view.step % every
        words = {
            "not begun": f"{view.corpus}, {numbers.count(view.settings.steps)} steps; space begins",
            "training": f"validation every {every} steps; next in {ahead}"
            if view.tokens[1]
            else "no validation: short text",
            "paused": f"after step {numbers.count(view.step)}; space goes on, s takes one, d looks at the last",
            "done": f"{view.saved_in} is written; space begins another run",
            "astray": "",
        }[view.state]
        return (
            ("▶ " if view.state == "training" else "‖ ", "fwd"),
            (view.state, "bright"),
            (f"  {words}", "muted"),
        )

    def repaint(self) -> None:
        if self.view is not None:
            self.lay_out()

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
        activity = self.engine.activity
        return any(each is not None and each.name == "train run" for each in (activity.running, *activity.waiting))

    def action_leave(self) -> None:
        if self._is_running():
            self.do("hold")

    def action_move(self, by: int) -> None:
        self.group = max(self.group + by * (self.counted() or 1), 0)
        self.repaint()

    def action_toggle_log(self) -> None:
        self.is_log = not self.is_log
        self.repaint()

    def action_other_pane(self) -> None:
        self.tab = 1 - self.tab
        self.repaint()

    def action_edit_settings(self) -> None:
        if self.view is not None:
            self.action_command_line(f"set {settings_line(self.view.settings, self.view.fresh)}")

    def action_open_step(self) -> None:
        """Take the last finished step again, and open it in the debugger."""
        engine, file, text, folder = self.engine, self._file, self._text, self._folder

        def make() -> object:
            from glassllm.debug.replays import StepRun
            from glassllm.debug.snapshot import CommandError

            try:
                return StepRun.of_step(bench.training(engine, file, text, folder).last_step, file)
            except ValueError as error:
                raise CommandError(str(error)) from error

        cast("GlassApp", self.app).open_run(make, "step")
