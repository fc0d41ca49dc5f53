"""The one table of commands. Keys, command line, palette, help and batch files are views of it.

`perform(session, line)`, or `perform(session, name, *arguments)`, checks what is asked and returns a generator
that does it slice by slice: it yields (done, total) and returns the snapshot. `run` does it all at once. What
cannot be done raises CommandError, one line that says what to do instead; the session is then as it was.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from . import gradients, selecting
from .arguments import COUNT, Argument, ids, number, on_off, or_off, shown
from .recording import write as recording
from .session import Session
from .snapshot import CommandError as CommandError
from .snapshot import Snapshot

Performance = Generator[tuple[int, int], None, Snapshot]


@dataclass(frozen=True)
class Command:
    """`method(session, *what it takes)` does it; where it may take long, by returning a generator."""

    name: str
    takes: tuple[Argument, ...]
    method: Callable[..., Any]
    help: str

    @property
    def arguments(self) -> str:
        """Their usage: `[ROOT] [SEED]`."""
        return " ".join(argument.usage for argument in self.takes)

    @property
    def usage(self) -> str:
        return f"{self.name} {self.arguments}".strip()


ROW = Argument("ROW", str, takes_rest=True)
ROW_IF_ANY = Argument("ROW", str, is_optional=True, takes_rest=True)
ROOT = Argument("ROOT", str, is_optional=True)
SEED = Argument("SEED", number("a seed"), is_optional=True)
PATH = Argument("PATH", str, takes_rest=True)

_TABLE = (
    Command("next", (COUNT,), Session.next, "to the next event"),
    Command("previous", (COUNT,), Session.previous, "back to the event before"),
    Command("step", (COUNT,), Session.step, "one node forward, one visit in backward"),
    Command("step-back", (COUNT,), Session.step_back, "one node or visit back"),
    Command("contribution", (COUNT,), Session.contribution, "one contribution forward"),
    Command("contribution-back", (COUNT,), Session.contribution_back, "one contribution back"),
    Command("continue", (COUNT,), Session.proceed, "to the end of the forward run or of this traversal"),
    Command("continue-back", (COUNT,), Session.proceed_back, "to the start of this traversal or forward run"),
    Command("finish", (COUNT,), Session.finish, "to the end of this block"),
    Command("finish-back", (COUNT,), Session.finish_back, "to the start of this block"),
    Command("run-to", (ROW_IF_ANY,), Session.run_to, "on to where the selection is current"),
    Command("run-back-to", (ROW_IF_ANY,), Session.run_back_to, "back to where the selection was current"),
    Command("first", (), Session.first, "to the first position"),
    Command("last", (), Session.last, "to the last position there is"),
    Command("visited-back", (COUNT,), Session.visited_back, "back to the place visited before"),
    Command("visited-forward", (COUNT,), Session.visited_forward, "on to the place visited after"),
    Command("where", (), selecting.where, "say where the position is"),
    Command("select", (ROW,), selecting.select, "select a row: a path, or a node's number"),
    Command("here", (), selecting.here, "select what is current"),
    Command("select-next", (COUNT,), selecting.select_next, "select the next event"),
    Command("select-previous", (COUNT,), selecting.select_previous, "select the event before"),
    Command("producer", (COUNT,), selecting.producer, "select what this was computed from"),
    Command("consumer", (COUNT,), selecting.consumer, "select what uses this"),
    Command("search", (Argument("PATTERN", str, takes_rest=True),), selecting.search, "find rows by path or op"),
    Command("match", (COUNT,), selecting.match_next, "select the next match"),
    Command("match-back", (COUNT,), selecting.match_previous, "select the match before"),
    Command("non-finite", (), selecting.non_finite, "select the next value with NaN or Inf"),
    Command("backward", (ROOT, SEED), gradients.backward, "start a traversal, from the loss or from ROOT"),
    Command("zero-grad", (), gradients.zero_grad, "let the next traversal's leaf gradients start from nothing"),
    Command("apply", (), gradients.apply, "give the finished traversals' gradients to the model"),
    Command("text", (Argument("TEXT", str, takes_rest=True),), Session.text, "run other text"),
    Command("ids", (Argument("IDS", ids, takes_rest=True),), Session.ids, "run other token ids"),
    Command(
        "targets",
        (Argument("IDS|off", or_off(ids), takes_rest=True),),
        Session.targets,
        "other targets, or no loss",
    ),
    Command("no_grad", (Argument("on|off", on_off),), Session.no_grad, "run again without or with a graph"),
    Command("rerun", (), Session.rerun, "run again"),
    Command("save", (PATH,), recording.save, "save all of this as a recording, a .npz that opens anywhere"),
    Command("save!", (PATH,), recording.save_anyway, "save it over whatever file is there"),
)
COMMANDS: dict[str, Command] = {command.name: command for command in _TABLE}


def parse(line: str, table: Mapping[str, Command] = COMMANDS) -> tuple[Command, list[Any]]:
    """The command of a line and its arguments, read. `10 next` means `next 10`. Raises CommandError."""
    counted = re.fullmatch(r"\s*(\d+)\s*([A-Za-z].*?)\s*", line)
    name, _, rest = (counted[2] if counted else line.strip()).partition(" ")
    command = _named(name, table)
    words = _words(command, rest.strip())
    return _read(command, [*words, counted[1]] if counted else words)


def _named(name: str, table: Mapping[str, Command] = COMMANDS) -> Command:
    if not name:
        raise CommandError("give a command; ? lists them")
    if name not in table:
        close = get_close_matches(name, table, 2)
        remedy = f"did you mean {' or '.join(close)}?" if close else "? lists them"
        raise CommandError(f"no command is called {shown(name)}; {remedy}")
    return table[name]


def _words(command: Command, rest: str) -> list[str]:
    """The rest of a line, cut into as many words as the command takes; a cell's spaces are its own."""
    if not rest:
        return []
    if command.takes and command.takes[-1].takes_rest:
        return rest.split(None, len(command.takes) - 1)
    return re.findall(r"(?:\[[^\]]*\]|\S)+", rest)


def _read(command: Command, words: Sequence[str]) -> tuple[Command, list[Any]]:
    needed = sum(not argument.is_optional for argument in command.takes)
    if not needed <= len(words) <= len(command.takes):
        raise CommandError(f"the command is {command.usage}")
    return command, [argument.read(word) for argument, word in zip(command.takes, words, strict=False)]


def perform(session: Session, line: str, *arguments: object, count: int | None = None) -> Performance:
    """Check what is asked and return the work: a generator of (done, total) that returns the snapshot.

    Asked by a line, or by a command's name and arguments, where an int means a row; `count` is the number typed
    before a key, and repeats a command that can be repeated.
    """
    if not arguments and count is None:
        return _perform(session, *parse(line))
    command = _named(line)
    words = [f"#{a}" if isinstance(a, int) and command.takes[:1] == (ROW,) else str(a) for a in arguments]
    if count is not None and COUNT in command.takes:
        words.append(str(count))
    return _perform(session, *_read(command, words))


def _perform(session: Session, command: Command, arguments: list[Any]) -> Performance:
    work = command.method(session, *arguments)
    if work is not None:
        yield from work
    return session.snapshot()


def run(session: Session, line: str, *arguments: object, count: int | None = None) -> Snapshot:
    """Do what is asked, to its end."""
    work = perform(session, line, *arguments, count=count)
    while True:
        try:
            next(work)
        except StopIteration as done:
            snapshot: Snapshot = done.value
            return snapshot
