"""What the screens beside the debugger share: rows around one board, a table of commands, answers that are views.

The engine's thread keeps what a room looks at; the room asks for commands of its table, and is answered with
frozen values. Whatever may last runs as a job, so commands of other screens go between its slices.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from glassllm.debug.commands import Command, parse
from glassllm.debug.snapshot import CommandError, Said
from tui.draw.palette import Palette
from tui.draw.pane import said_board
from tui.draw.text import Row, Span
from tui.engine import Engine
from tui.keys import Key, sentence
from tui.messages import EngineFailed, JobDone, JobProgress, Request
from tui.task import Priority
from tui.widgets.command_line import CommandLine
from tui.widgets.footer import Footer
from tui.widgets.header import Header
from tui.widgets.page import Page
from tui.widgets.status import StatusRow

from .arrangement import Arrangement, arrange
from .board import Board
from .holding import holding
from .overlays import Overlays
from .small import small_rows
from .trouble import is_trouble
from .words import EVERYWHERE, Word, found

BUSY_AFTER = 0.15
"""Seconds after which a command that is not answered yet says so."""
READING = 4.0
"""Seconds for which trouble is left to be read while news of something else comes in."""
Then = Callable[[str], None]
"""What hears that a command has ended, and why it failed where it did."""


def bound(keys: Sequence[Key]) -> list[BindingType]:
    """The bindings of a table of keys, each done with before the next is looked at."""
    return [Binding(key.keys, call(key), sentence(key), show=False, priority=True, id=key.action) for key in keys]


def call(key: Key) -> str:
    """Textual's spelling of the call a key makes: all of them are actions of the screen."""
    return f"{key.command}({', '.join(map(repr, key.args))})"


class Room(Overlays):
    """A screen beside the debugger."""

    most_count = 999
    name_of_room: ClassVar[str]
    table: ClassVar[Mapping[str, Command]]
    lasting: ClassVar[frozenset[str]]
    """Commands that run as jobs."""
    tracks: ClassVar[bool]
    """Whether its commands build graphs."""
    words: ClassVar[Mapping[str, Word]] = EVERYWHERE
    """What its command line takes besides."""

    def __init__(self, palette: Palette, file: str, engine: Engine, keys: Sequence[Key]):
        super().__init__()
        self.engine = engine
        self.key_table = keys
        self.snapshot = None
        self.panel = self.name_of_room
        self.view: Any = None
        self.refused = ""  # why there is nothing to see, in one line
        self.header = Header(palette, file, self.name_of_room)
        self.track = Page(palette, "bg", id="bar")
        self.board = Board(palette, self)
        self.blank = Page(palette, "bg", id="blank")
        self.rule = Page(palette, "bg", id="rule")
        self.gap = Page(palette, "bg", id="gap")
        self.status = StatusRow(palette)
        self.keys = Footer(palette, keys)
        self.line = CommandLine(palette, self.entered, {**self.table, **self.words})
        self.small = Page(palette, "bg", id="small")
        self._palette = palette
        self._file = file
        self._asked: Request | None = None
        self._ended: Request | None = None
        self._read_by = 0.0  # when the trouble said last may be written over by news
        self._thens: dict[Request, Then] = {}

    def compose(self) -> ComposeResult:
        yield from (self.header, self.track, self.board, self.blank, self.rule, self.gap, self.status, self.keys)
        yield from (self.line, self.small)

    def on_mount(self) -> None:
        self.board.focus()
        self.do("look")

    # Asking, and being answered

    def subject(self) -> Any:
        """What the commands are about; on the engine's thread."""
        raise NotImplementedError

    def do(self, line: str, then: Then | None = None) -> None:
        """Ask for a command of the table; `then` is called once it has ended."""
        self._read_by = 0.0
        try:
            command, arguments = parse(line, self.table)
        except CommandError as error:
            self.refuse(str(error))
            return

        def work() -> Generator[object, None, object]:
            subject = self.subject()
            try:
                outcome = command.method(subject, *arguments)
                if outcome is not None:
                    yield from outcome
            except (ValueError, IndexError) as error:
                raise CommandError(str(error)) from error
            return subject.view()

        priority = Priority.JOB if command.name in self.lasting else Priority.COMMAND
        name = f"{self.name_of_room} {command.name}"
        self._asked = self.engine.submit(work, name, priority, tracking=self.tracks)
        if then is not None:
            self._thens[self._asked] = then
        if command.name not in self.lasting:
            self.set_timer(BUSY_AFTER, partial(self._note_busy, self._asked))

    def _note_busy(self, asked: Request) -> None:
        """Say that this has not been answered yet, and what it waits for."""
        running = self.engine.activity.running
        if self._asked == asked and running is not None:
            self.status.pend("computing…" if running == asked else f"waits for {running}")

    def progress(self, news: JobProgress) -> None:
        """How far a job is, and the view so far where there is one."""
        if news.value is not None:
            self.status.pend("")
            self.take(news.value)
            self._tell(news.value, self.status.say)  # too often for the log
        else:
            total = f"/{news.total}" if news.total else ""
            self.status.pend(f"{news.text or news.job}  {news.done}{total}   esc stops")

    def done(self, message: JobDone) -> None:
        self._answered(message.job)
        self.take(message.result)
        self._tell(message.result, self.say)

    def failed(self, message: EngineFailed) -> None:
        """A command that could not be done; before anything was seen, the reason is all there is to see."""
        self._answered(message.request, message.text or message.kind)
        self.refuse(message.text or message.kind)
        if self.view is None:
            self.refused = message.text
            self.lay_out()

    def stopped(self, request: Request) -> None:
        self._answered(request, "stopped")
        self.say((("stopped  ", "stop"), (str(request), "text")))

    def _answered(self, request: Request, fault: str = "") -> None:
        self.status.pend("")
        self._ended = request
        if (then := self._thens.pop(request, None)) is not None:
            then(fault)
        if self._asked is not None and request.id >= self._asked.id:
            self._asked = None

    @property
    def is_waiting(self) -> bool:
        """Whether what was asked last is not answered yet."""
        return self._asked is not None

    def take(self, view: Any) -> None:
        """Show a newer view."""
        self.view, self.refused = view, ""
        self.lay_out()

    def say(self, said: Said) -> None:
        """Make this the status line; what could not be done, and why, stays long enough to be read."""
        super().say(said)
        self._read_by = monotonic() + READING if is_trouble(said) else 0.0

    def _tell(self, view: Any, say: Callable[[Said], None]) -> None:
        """Say how things stand, unless there is trouble still to be read that was not asked past."""
        said = self.saying(view)
        if is_trouble(said) or monotonic() >= self._read_by:
            say(said)

    def on_screen_suspend(self) -> None:
        """What was opened from here is shown now."""
        self.status.pend("")

    # What leaving would lose

    @property
    def unsaved(self) -> str:
        """What there is that would be lost, in a few words; empty where nothing would."""
        return ""

    def save(self, then: Then) -> None:
        """Save it, and call `then` once that has ended."""
        raise NotImplementedError

    # What it shows of a view; for each room to say

    def board_rows(self, view: Any, width: int, height: int) -> Sequence[Row]:
        raise NotImplementedError

    def track_row(self, view: Any, width: int) -> Row:
        raise NotImplementedError

    def rule_rows(self, view: Any, width: int, count: int) -> Sequence[Row]:
        raise NotImplementedError

    def facts(self, view: Any, width: int) -> list[list[Span]]:
        raise NotImplementedError

    def saying(self, view: Any) -> Said:
        """The status line about it."""
        raise NotImplementedError

    # Painting

    def on_resize(self) -> None:
        self.lay_out()

    def repaint(self) -> None:
        """Show the same view, looked at otherwise."""
        if self.view is not None:
            self.lay_out()

    def lay_out(self) -> None:
        """Show the rows there is room for, and paint them."""
        place = arrange(*self.size)
        self.track.display = place.has_track
        self.blank.display = place.has_blank
        self.rule.display, self.rule.styles.height = place.rules > 0, place.rules or 1
        self.gap.display = place.has_tokens
        self.small.display = place.is_too_small
        self.small.show(small_rows(*self.size, self._palette))
        self.frame(place)
        self.paint()

    def frame(self, place: Arrangement | None = None) -> None:
        """Paint the rows around the board."""
        width, place = self.size.width, place or arrange(*self.size)
        held = holding(self.engine.activity, self._ended)
        self.header.say(
            [*(self.facts(self.view, width) if self.view else []), *([[Span(held, "muted")]] if held else [])]
        )
        self.keys.draw(self.panel, False)
        for page in (self.blank, self.gap):
            page.show([])
        if self.view is not None:
            self.track.show([self.track_row(self.view, width)])
            self.rule.show(self.rule_rows(self.view, width, place.rules))

    def paint(self) -> None:
        """Paint the board."""
        width, height = self.board.size
        if not width or not height:
            return
        if self.view is not None:
            self.board.show(self.board_rows(self.view, width, height))
        else:
            self.board.show(said_board(width, height, self._palette, self.refused or "computing…"))

    # The mouse, for each room to answer; whatever it does, keys do too

    def pointed(self, column: int, row: int) -> None:
        """The board was clicked there."""

    def pointed_twice(self, column: int, row: int) -> None:
        """It was clicked a second time, soon after; the first has been answered."""

    def wheel(self, by: int) -> None:
        """The wheel was turned over the board: 1 down, -1 up."""

    # Keys

    def action_do(self, line: str) -> None:
        count = self.counted()
        self.do(line if count is None else f"{line} {count}")

    def action_command_line(self, text: str = "") -> None:
        self.line.open("command", text)

    async def entered(self, kind: str, text: str) -> None:
        """Do what was typed: a word of the screen's, or a command of the table."""
        action = found(text, self.words)
        if action is None:
            self.do(text)
        else:
            await self.run_action(action)

    def action_chosen(self, name: str) -> None:
        """A command was chosen by name: run it, or let its arguments be typed."""
        if all(argument.is_optional for argument in self.table[name].takes):
            self.do(name)
        else:
            self.line.open("command", f"{name} ")

    def action_enlarge(self) -> None:
        """Nothing lies beside the board."""
