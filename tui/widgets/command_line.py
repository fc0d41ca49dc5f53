"""The command line: one row to type in, completions rising from it, a ghost of the rest."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Protocol

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .page import Page

MOST_COMPLETIONS = 9
PROMPTS = {"command": ":", "search": "/", "coordinates": "@"}


class Listed(Protocol):
    """A line of the completions: a command, or another word that may be entered."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> str: ...
    @property
    def help(self) -> str: ...


def matching(text: str, table: Mapping[str, Listed]) -> list[Listed]:
    """The commands that the first word begins, while it is still being typed."""
    word = text.lstrip()
    return [] if " " in word else [command for name, command in sorted(table.items()) if name.startswith(word)]


def completion_rows(found: list[Listed], chosen: int, width: int, palette: Palette) -> list[Row]:
    """A head, then one row a command: name and arguments, and what it does."""
    if not found:
        return []
    first = max(0, min(chosen - MOST_COMPLETIONS // 2, len(found) - MOST_COMPLETIONS + 1))
    head = text_row([Span(" commands", "muted")], width, palette, "raised", [Span(f"{len(found)} ", "muted")])
    rows = [head]
    for i, command in list(enumerate(found))[first : first + MOST_COMPLETIONS - 1]:
        is_chosen = i == chosen
        usage = f"{command.name} {command.arguments}".strip()
        words = [
            Span(f" {palette.marks.row} " if is_chosen else "   ", "bright"),
            Span(usage.ljust(28), "bright" if is_chosen else "text", bold=is_chosen),
            Span(" " + command.help, "muted"),
        ]
        rows.append(text_row(words, width, palette, "select" if is_chosen else "raised"))
    return rows


class CommandNames(Suggester):
    """The ghost text: the first command that what is typed begins."""

    def __init__(self, table: Mapping[str, Listed]) -> None:
        super().__init__(use_cache=True, case_sensitive=True)
        self._table = table

    async def get_suggestion(self, value: str) -> str | None:
        found = matching(value, self._table) if value.strip() else []
        return found[0].name if found else None


class Line(Input, inherit_bindings=False):
    """The row that is typed into; its own keys too are done with before the next is looked at."""

    BINDINGS = [
        replace(binding, priority=True)
        for binding in Input.BINDINGS
        if isinstance(binding, Binding) and binding.action != "submit"
    ]


class CommandLine(Vertical):
    """Opened with a kind of prompt; hands on what was entered: a command, a pattern to search for, coordinates.

    `entered(kind, text)` is called, not sent a message, so that it is under way before the next key is looked at.
    """

    BINDINGS = [
        Binding("enter", "submit", priority=True, show=False),
        Binding("escape", "close", priority=True, show=False),
        Binding("tab", "take", priority=True, show=False),
        Binding("down", "next", priority=True, show=False),
        Binding("up", "previous", priority=True, show=False),
    ]

    def __init__(
        self,
        palette: Palette,
        entered: Callable[[str, str], Awaitable[None]],
        table: Mapping[str, Listed],
    ):
        super().__init__(id="command-line")
        self.palette = palette
        self.entered = entered
        self._table = table
        self.kind = "command"
        self._choice = ("", 0)
        self._history: list[str] = []
        self._past = 0
        self._came_from: Widget | None = None

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def compose(self) -> ComposeResult:
        yield Page(self.palette, "raised", id="completions")
        with Horizontal(id="prompt-row"):
            yield Static(":", id="prompt")
            yield Line(id="line", compact=True, suggester=CommandNames(self._table), select_on_focus=False)

    def open(self, kind: str, text: str = "") -> None:
        """Show the line with `text` already typed."""
        self.kind, self._past, self._choice = kind, len(self._history), ("", 0)
        self.query_one("#prompt", Static).update(PROMPTS[kind], layout=False)
        line = self.query_one(Line)
        line.cursor_blink = False
        line.value = text
        line.cursor_position = len(text)
        self._came_from = self.screen.focused
        self.display = True
        self.screen.set_focus(line)  # now, so that the next key is already typed into it
        self._complete()

    def close(self) -> None:
        """Give the focus back to where it was."""
        if self.is_open:
            self.display = False
            self.screen.set_focus(self._came_from)

    def on_descendant_blur(self) -> None:
        """A click elsewhere closes the line; another window of the terminal does not.

        The news may be old: the line may have been opened again since.
        """
        if self.app.app_focus and self.screen.focused is not self.query_one(Line):
            self.display = False

    def on_input_changed(self) -> None:
        self._complete()

    async def action_submit(self) -> None:
        text = self.query_one(Line).value.strip()
        self.close()
        if text:
            self._history.append(text)
            await self.entered(self.kind, text)

    def action_close(self) -> None:
        self.close()

    @property
    def _chosen(self) -> int:
        """Which completion of what now stands there was chosen: the first, until keys move on."""
        text, chosen = self._choice
        return chosen if text == self.query_one(Line).value else 0

    def _choose(self, chosen: int) -> None:
        self._choice = (self.query_one(Line).value, chosen)
        self._complete()

    def _found(self) -> list[Listed]:
        return matching(self.query_one(Line).value, self._table) if self.kind == "command" else []

    def action_take(self) -> None:
        """Complete to the chosen command."""
        if found := self._found():
            line = self.query_one(Line)
            line.value = found[self._chosen].name + " "
            line.cursor_position = len(line.value)

    def action_next(self) -> None:
        if self._past < len(self._history):
            self._recall(1)
        elif found := self._found():
            self._choose((self._chosen + 1) % len(found))

    def action_previous(self) -> None:
        if self._chosen:
            self._choose(self._chosen - 1)
        else:
            self._recall(-1)

    def _recall(self, by: int) -> None:
        """Walk through the lines entered before."""
        self._past = max(0, min(self._past + by, len(self._history)))
        line = self.query_one(Line)
        line.value = self._history[self._past] if self._past < len(self._history) else ""
        line.cursor_position = len(line.value)

    def _complete(self) -> None:
        page = self.query_one("#completions", Page)
        rows = completion_rows(self._found(), self._chosen, self.screen.size.width, self.palette)
        page.styles.height = len(rows)
        page.show(rows)
