"""The application: one engine thread behind, one screen in front, and messages between them."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import Input

from . import log
from .chrome import chrome
from .draw.colors import Colors, Theme
from .engine import NEWS_INTERVAL, Engine
from .filters import filters_for
from .messages import EngineFailed, JobCancelled, JobDone, JobProgress, Request, SnapshotReady
from .opening import opening, perform
from .screens.fault import FaultScreen, ProgramFaultScreen
from .screens.holding import STATISTICS
from .screens.leave import LeaveScreen
from .screens.loading import LoadingScreen
from .screens.overlay import Overlay
from .screens.rooms import Rooms
from .screens.trouble import refusal
from .settings import DEFAULTS, Settings
from .signals import Endings
from .task import Cancelled
from .usage import INTERRUPTED

if TYPE_CHECKING:
    from glassllm.debug.script import Script
    from glassllm.debug.snapshot import Said, Snapshot

    from .screens.debug import DebugScreen

USER_FAULTS = ("CommandError", "CheckpointError")
"""Exceptions whose text is meant for the person at the keys; all others are failures of ours."""

TO_DEBUG = "debug "
"""How requests are named that open something from another screen in the debugger."""


class GlassApp(App[None]):
    """`path` is opened on the engine thread after the first frame; `refusal` is set where it cannot be.

    A user's program takes `arguments`, and `root` names the variable of it to open. `theme` and `colors` go
    before those of `settings`; `faults` say what in these could not be used. `corpus` is the text to train on,
    the sample's own where none is given; `folder` is where runs are saved, the current one where none is given.
    """

    CSS_PATH = "app.tcss"
    TITLE = "glassllm-tui"
    COMMANDS = set()  # none of Textual's own: its themes would take our colours away

    def __init__(
        self,
        path: Path,
        text: str | None = None,
        ids: Sequence[int] | None = None,
        theme: Theme | None = None,
        colors: Colors | None = None,
        build: "Callable[[], object] | None" = None,
        settings: Settings = DEFAULTS,
        faults: Sequence[str] = (),
        log_file: Path | None = None,
        arguments: Sequence[str] = (),
        root: str | None = None,
        corpus: Path | None = None,
        folder: Path | None = None,
    ):
        self.settings = replace(settings, theme=theme or settings.theme, color=colors or settings.color)
        self.palette = self.settings.palette
        super().__init__(ansi_color=self.palette.is_flat or None)
        self.path = path
        self.refusal = ""
        self._text, self._ids = text, ids
        self._arguments, self._root = arguments, root
        self._faults = faults
        self._log_file = log_file
        self.register_theme(chrome(self.palette))
        self.theme = "glass"
        self.engine = Engine(self.post_message, partial(self._opening, build or self._open), perform)
        self._debugger: DebugScreen | None = None
        self.rooms = Rooms(self.palette, path.name, self.engine, corpus, folder)
        self._endings: Endings | None = None  # none in a test's loop
        self._then: tuple[Request, Callable[[DebugScreen], None]] | None = None  # once that is shown
        self._version = 0
        self._counted: object = None  # the rows of the recording whose statistics were asked for last

    def _opening(self, build: Callable[[], object]) -> Generator[object, None, object]:
        """Open, and keep what was opened for the other screens and to go back to; on the engine thread."""
        session = yield from opening(build)
        from .screens.bench import keep

        keep(self.engine, self.path.name, session)
        return session

    def _open(self) -> object:
        """On the engine thread: numpy, the engine and the panels are imported while the first frame stands."""
        from glassllm.debug.opening import PROGRAM, open_script, opening_file

        from .screens import debug

        assert debug
        is_program = self.path.suffix == PROGRAM
        return open_script(self._script()) if is_program else opening_file(self.path, self._text, self._ids)

    def _script(self) -> "Script":
        """The program: it stops at its next op when its task is cancelled, and says now and then how far it is."""
        from glassllm.debug.script import Script

        told_at = 0.0

        def heard(ops: int, runs: int) -> None:
            nonlocal told_at
            if monotonic() - told_at >= NEWS_INTERVAL and (job := self.engine.activity.running) is not None:
                told_at = monotonic()
                self.post_message(JobProgress(job, ops, None, f"run {runs + 1}"))

        return Script(
            self.path, self._arguments, self._root, stop=Cancelled, stopped=self.engine.spare, heard=heard
        )

    def run(self, **options: Any) -> Any:
        self._endings = Endings()
        try:
            return super().run(**options)
        finally:
            self._endings.settle()

    def on_mount(self) -> None:
        if self._endings is not None:
            self._endings.hear(self.on_terminal_gone)
        self.push_screen(LoadingScreen(self.palette, self.path.name))
        self.call_after_refresh(self.engine.start)

    def on_terminal_gone(self) -> None:
        self.rooms.end(self.exit)

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice, but at terminals of Unix our own."""
        chosen = super().get_driver_class()
        if chosen.__name__ != "LinuxDriver":
            return chosen
        from .keyboard import TerminalDriver

        return TerminalDriver

    async def on_event(self, event: events.Event) -> None:
        """What was typed is in its line before a key is looked at that may enter it."""
        if isinstance(event, events.Key) and not event.is_printable and isinstance(self.focused, Input):
            done = asyncio.Event()
            if self.focused.call_later(done.set):
                await done.wait()
        await super().on_event(event)

    def action_help_quit(self) -> None:
        """What ctrl+c does: it interrupts elsewhere, so here it says what does."""
        from .widgets.status import StatusRow

        rows = [row for screen in self.screen_stack for row in screen.query(StatusRow)]
        for row in rows:
            row.say((("q", "bright"), (" quits   ", "muted"), ("esc", "bright"), (" stops what runs", "muted")))
        if not rows:
            self.exit(return_code=INTERRUPTED)  # nothing is open yet

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What Textual needs, and last what the terminal does."""
        return [*super().get_line_filters(), *filters_for(self.palette)]

    def on_unmount(self) -> None:
        self.engine.close()

    @property
    def debugger(self) -> "DebugScreen":
        """The debug screen, also while something lies over it or another is shown."""
        assert self._debugger is not None, "nothing is open yet"
        return self._debugger

    def reopen(self, name: str) -> None:
        """Show what was opened under this name in the debugger, as it was left; without one, what was there before
        what is there now."""
        from .screens.bench import shelf

        self.engine.open(lambda: shelf(self.engine).take(name), f"{TO_DEBUG}{name or 'the one before'}")

    async def action_quit(self) -> None:
        """Leave, unless a run would be lost: then ask first, once."""
        room = self.rooms.unsaved
        if room is None or isinstance(self._top, LeaveScreen):
            self.exit()
        else:
            self.push_screen(LeaveScreen(self.palette, room))

    @property
    def _top(self) -> Screen[Any] | None:
        """The screen in front; None while the program ends, when messages may still come in."""
        stack = self.screen_stack
        return stack[-1] if stack else None

    async def show_screen(self, name: str) -> None:
        """Show the debugger, or a room beside it; what was there goes on, and is there again later."""
        shown = self.debugger if name == "debug" else self.rooms.named(name)
        if not self.is_screen_installed(shown):
            self.install_screen(shown, name)
        if self.screen is not shown and not isinstance(self.screen, Overlay):
            await self.switch_screen(shown)
            shown.lay_out()

    def open_run(
        self,
        make: Callable[[], Any],
        name: str,
        lines: Sequence[str] = (),
        then: "Callable[[DebugScreen], None] | None" = None,
    ) -> Request:
        """Record the run that `make` gives on the engine thread, do these commands on it, and show it in the
        debugger, which `then` is called with; it can be gone back to by its name."""

        def build() -> Generator[object, None, object]:
            from glassllm.debug.commands import perform as run
            from glassllm.debug.session import Session

            from .screens.bench import keep

            found = make()
            made = replace(found, name=f"{found.name} {name}")
            tape, facts = made.record()
            session = Session(tape, facts, made)
            yield from opening(lambda: session)
            for line in lines:
                yield from run(session, line)
            keep(self.engine, name, session)
            return session

        asked = self.engine.open(build, f"{TO_DEBUG}{name}")
        self._then = None if then is None else (asked, then)
        return asked

    async def on_snapshot_ready(self, message: SnapshotReady) -> None:
        if not self._version:
            await self._open_debug()
        if message.version > self._version:
            self._version = message.version
            self._meet(message.snapshot)
            self.debugger.take(message.snapshot)
        if message.is_last:
            self.debugger.answered(message.request)
            if message.request is not None and message.request.name.startswith(TO_DEBUG):
                await self.show_screen("debug")
                if self._then is not None and self._then[0] == message.request:
                    self._then[1](self.debugger)

    def _meet(self, snapshot: "Snapshot") -> None:
        """Have the statistics of a new recording taken, between commands; show what ended its program."""
        if snapshot.tape.rows is not self._counted:
            self._counted = snapshot.tape.rows
            self.engine.submit(lambda: self.engine.session.statistics(), STATISTICS)
            if snapshot.run.fault is not None:
                self.push_screen(ProgramFaultScreen(self.palette, snapshot.run.fault))

    def on_job_done(self, message: JobDone) -> None:
        if (room := self.rooms.of(message.job)) is not None:
            room.done(message)
            self.debugger.ended = message.job
            self._say_who_works()
        elif message.job.name == STATISTICS:
            self.debugger.take_statistics(message.result)
            if isinstance(self._top, Overlay):
                self._top.place()

    async def _open_debug(self) -> None:
        """Take the place of the loading screen; what the screen draws with was imported by the engine thread."""
        from .keys import keymap
        from .screens.debug import DebugScreen

        screen = DebugScreen(self.palette, self.path.name, self.engine, self.settings, self._faults)
        self._debugger = screen
        self.install_screen(screen, "debug")
        self.set_keymap(keymap(screen.key_table))
        await self.switch_screen(screen)

    def on_job_progress(self, message: JobProgress) -> None:
        if (room := self.rooms.of(message.job)) is not None:
            room.progress(message)
            self._say_who_works()
        elif self._version and message.job.name != STATISTICS:
            (self.rooms.shown(self._top) or self.debugger).progress(message)
        elif isinstance(self._top, LoadingScreen):
            self._top.progress(message)

    def _say_who_works(self) -> None:
        if self._version and self._top is self.debugger:
            self.debugger.frame()

    def action_stop_opening(self) -> None:
        """Stop what is being opened, at its next op."""
        if (running := self.engine.activity.running) is not None:
            self.engine.cancel(running)

    def on_job_cancelled(self, message: JobCancelled) -> None:
        if not self._version:
            from glassllm.files import shown

            self.refusal = f"{shown(self.path)}: stopped before anything was recorded"
            self.exit(return_code=2)
            return
        if (room := self.rooms.of(message.job)) is not None:
            room.stopped(message.job)
            return
        self.debugger.answered(message.job)
        self._tell((("stopped  ", "stop"), (str(message.job), "text")))

    def _tell(self, said: "Said") -> None:
        """Say how work for the debugger ended where it can be seen."""
        shown = self.rooms.shown(self._top) or self.debugger
        shown.status.pend("")
        shown.say(said)

    def on_engine_failed(self, message: EngineFailed) -> None:
        if message.request.name == "open" and self._version == 0:
            self._refuse(message)
            return
        self.debugger.answered(message.request)
        if (room := self.rooms.of(message.request)) is not None:
            room.failed(message)
        if message.kind in USER_FAULTS:
            if room is None:
                self._tell(refusal(message.text, self.size.width))
        else:
            path = log.write(f"{message.request}: {message.text}", message.details, self._log_file)
            self.push_screen(FaultScreen(self.palette, message, path))

    def _refuse(self, message: EngineFailed) -> None:
        """Nothing could be opened: leave, and let the shell say why in one line."""
        from glassllm.files import shown

        self.refusal = message.text or message.kind
        if message.kind not in (*USER_FAULTS, "ValueError", "IndexError"):
            path = log.write(f"opening {self.path}", message.details, self._log_file)
            where = f"; see {log.shown(path)}" if path else ""
            self.refusal = f"{shown(self.path)}: {message.kind}: {self.refusal}{where}"
        self.exit(return_code=2)
