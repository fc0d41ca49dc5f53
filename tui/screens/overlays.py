"""What every screen does, and what can be laid over it: help, parameters, log, source; imported when asked for."""

from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual.screen import Screen

from glassllm.debug.snapshot import Said, Snapshot
from tui.keys import Key
from tui.widgets.command_line import CommandLine
from tui.widgets.header import SCREENS, Header
from tui.widgets.status import StatusRow

from .trouble import refusal

if TYPE_CHECKING:
    from tui.app import GlassApp

MOST_SAID = 1000  # status lines that the log keeps


class Overlays(Screen[None]):
    """The keys that lay something over the screen, and what these things are about."""

    snapshot: Snapshot | None
    key_table: Sequence[Key]
    status: StatusRow
    header: Header
    line: CommandLine
    panel: str
    most_count: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self.said: deque[str] = deque(maxlen=MOST_SAID)
        self._count = 0  # typed so far before a key; 0: nothing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are letters while the command line is open."""
        return not self.line.is_open and super().check_action(action, parameters)

    def say(self, said: Said) -> None:
        """Make this the status line; the log keeps it."""
        self.said.append("".join(text for text, _ in said))
        self.status.say(said)

    def refuse(self, why: str) -> None:
        """Say why something can't be done."""
        self.say(refusal(why, self.size.width))

    def ask(self, command: str, *args: object, count: int | None = None) -> None:
        """Run a command of the session."""
        raise NotImplementedError

    def action_help(self) -> None:
        from .help import HelpScreen

        self.app.push_screen(HelpScreen(self.status.palette, self.panel, self.key_table))

    def action_parameters(self) -> None:
        from .parameters import ParametersScreen

        if self.snapshot is not None:
            show = partial(self.ask, "select")
            self.app.push_screen(ParametersScreen(self.status.palette, self.snapshot, show))

    def action_source(self) -> None:
        from .source import SourceScreen

        if self.snapshot is not None:
            self.app.push_screen(SourceScreen(self.status.palette, self.snapshot))

    async def action_screen(self, name: str = "") -> None:
        """Go to a screen by the beginning of its name, without one to the next."""
        here = SCREENS.index(self.header.current)
        found = next((each for each in SCREENS if each.startswith(name)), None) if name else None
        if name and found is None:
            self.refuse(f"no screen is called {name}; there are {', '.join(SCREENS)}")
            return
        await cast("GlassApp", self.app).show_screen(found or SCREENS[(here + 1) % len(SCREENS)])

    def action_reopen(self, name: str = "") -> None:
        """Back to what was opened before, by its name or the beginning of it; without one to the one before."""
        cast("GlassApp", self.app).reopen(name)

    def on_header_chosen(self, message: Header.Chosen) -> None:
        self.app.call_later(cast("GlassApp", self.app).show_screen, message.screen)

    def action_log(self) -> None:
        from tui.draw.printed import log_listing

        from .listing import LogScreen

        printed = () if self.snapshot is None else self.snapshot.run.printed
        self.app.push_screen(LogScreen(self.status.palette, log_listing(printed, self.said)))

    # What every screen does

    def action_count(self, digit: int) -> None:
        self._count = min(self._count * 10 + digit, self.most_count)
        self.status.pend(f"{self._count}…" if self._count else "")

    def counted(self) -> int | None:
        """The number typed before this key; None where none was typed."""
        count, self._count = self._count or None, 0
        self.status.pend("")
        return count

    def action_palette(self) -> None:
        self.app.action_command_palette()

    def action_refuse(self, why: str) -> None:
        self.refuse(why)

    def action_export(self) -> None:
        from tui.dump import export

        try:
            paths = export(cast("GlassApp", self.app), Path.cwd())
        except OSError as error:
            self.refuse(f"not exported: {error.strerror or error}; start in a folder you can write")
        else:
            self.say((("exported  ", "muted"), ("  ".join(path.name for path in paths), "text")))

    def action_redraw(self) -> None:
        self.refresh(layout=True)
        self.app.refresh(repaint=True)

    async def action_quit(self) -> None:
        await self.app.action_quit()
