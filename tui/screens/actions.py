"""What keys do on the debug screen: each action asks the engine for a command, or moves one panel."""

from textual.widget import Widget

from glassllm.debug.commands import COMMANDS
from glassllm.debug.snapshot import RunFacts, Snapshot
from glassllm.files import expanded, shown
from tui.draw.formats import USAGE, parse
from tui.engine import Engine
from tui.keys import BY_ACTION, later
from tui.messages import Request
from tui.widgets.chosen import RowChosen
from tui.widgets.events import EventsPanel
from tui.widgets.folded import Folded
from tui.widgets.graph import GraphPanel
from tui.widgets.page import Panel
from tui.widgets.tensor import TensorPanel
from tui.widgets.tokens import TokenStrip

from .overlays import Overlays
from .pace import Pace
from .words import DEBUGGING, found

BUSY_AFTER = 0.08
"""Seconds after which a command that is not answered yet says so."""


def rerun_line(run: RunFacts) -> str:
    """The command that runs the same again, with the last target where each id has the next one as its target."""
    ids = run.ids + run.targets[-1:] if run.ids[1:] == run.targets[:-1] else run.ids
    if not run.vocabulary:
        return "ids " + " ".join(map(str, ids))
    return "text " + "".join(run.vocabulary[i] for i in ids).strip()


class Actions(Overlays):
    """The actions of `tui.keys` as methods, and the answers to what widgets post."""

    engine: Engine
    events: EventsPanel
    graph: GraphPanel
    tensor: TensorPanel
    most_count = 999_999

    def __init__(self) -> None:
        super().__init__()
        self.is_enlarged = False
        self.pace = Pace(self, self._play_on, lambda: self._asked is None)
        self.panel = "events"  # the one that has the focus, or had it last
        self._asked: Request | None = None

    @property
    def panels(self) -> dict[str, Panel]:
        """The panels by name, in the order in which tab goes round."""
        return {"events": self.events, "graph": self.graph, "tensor": self.tensor}

    def watch_focused(self, focused: Widget | None) -> None:
        if isinstance(focused, Panel):
            self.panel = focused.id or ""

    # Asking the engine

    def ask(self, command: str, *args: object, count: int | None = None) -> None:
        """Run a command of the session; its answer arrives as a snapshot."""
        self._asked = self.engine.command(command, *args, count=count)
        self.set_timer(BUSY_AFTER, self._note_busy)

    def _note_busy(self) -> None:
        """Say that the engine is still busy, and with what."""
        activity = self.engine.activity
        if self._asked is None or activity.is_idle:
            return
        running = activity.running
        is_ours = running == self._asked or running is None
        self.status.pend("computing…   esc stops" if is_ours else f"waits for {running}   esc stops")

    def answered(self, request: Request | None) -> None:
        """Commands end in the order in which they were asked: this one has, and all before it."""
        if self._asked is None or request is None or request.id >= self._asked.id:
            self._asked = None
            self.status.pend("")
        if request is not None and request.name == "non-finite":
            self.tensor.show_abnormal()

    def action_command(self, action: str) -> None:
        if action == "non_finite" and self.tensor.go_to_abnormal():
            return
        key = BY_ACTION[action]
        self.ask(key.command, *key.args, count=self.counted())

    def action_later(self, key: str) -> None:
        self.say(((later(key), "muted"),))

    # Playing

    def action_play(self) -> None:
        self.pace.toggle()
        self._say_pace()

    def action_speed(self, by: int) -> None:
        self.pace.change(by)
        self._say_pace()

    def _say_pace(self) -> None:
        state = "playing" if self.pace.is_playing else "paused"
        self.say(((state, "fwd"), (f"  {self.pace.speed} events a second   ", "muted"), ("+ −", "bright"),
                  (" speed   ", "muted"), ("space", "bright"), (" play, pause", "muted")))  # fmt: skip

    def _play_on(self) -> None:
        self.ask("next")

    def halt_at_end(self, before: Snapshot | None, now: Snapshot) -> None:
        """Stop playing where a step leads nowhere."""
        if self.pace.is_playing and before is not None and before.position == now.position:
            self.pace.stop()

    # Moving inside panels

    def action_move(self, direction: str) -> None:
        by = self.counted() or 1
        if self.panel == "tensor":
            self.tensor.move(direction, by)
        elif self.panel == "graph":
            self.graph.move(direction, by)
        elif direction in ("up", "down"):
            self.events.move(by if direction == "down" else -by)

    def action_page(self, by: int) -> None:
        self.panels[self.panel].page(by)

    def action_panel(self, by: int) -> None:
        names = list(self.panels)
        self.go_to_panel(self.panels[names[(names.index(self.panel) + by) % len(names)]])

    def go_to_panel(self, panel: Panel) -> None:
        """Give it the focus now, so that the next key is already its own."""
        panel.display = True  # a hidden widget takes no focus; the layout follows the focus
        self.set_focus(panel)

    def action_enter(self) -> None:
        if self.panel == "graph":
            self.graph.toggle()
        elif self.panel == "tensor":
            self.ask("producer")
        elif not self.events.open_fold():
            self.go_to_panel(self.tensor)

    def action_group(self) -> None:
        (self.graph if self.panel == "graph" else self.events).toggle()

    def action_view(self) -> None:
        self.graph.toggle_view()

    def action_tab(self, by: int) -> None:
        self.tensor.turn_tab(by)

    def action_slice(self, by: int) -> None:
        self.tensor.turn_slice(by * (self.counted() or 1))

    def action_axes(self) -> None:
        self.tensor.turn_axes()

    def action_scale(self) -> None:
        self.tensor.toggle_scale()

    def action_largest(self) -> None:
        self.tensor.go_to_largest()

    def action_enlarge(self) -> None:
        self.is_enlarged = not self.is_enlarged
        self.lay_out()

    def lay_out(self) -> None:
        """Give every panel its columns."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """What esc does: the first of these that applies."""
        self.counted()
        if self.pace.is_playing:
            self.action_play()
        elif self._asked is not None and not self.engine.activity.is_idle:
            self.engine.cancel_commands()
        elif self.is_enlarged:
            self.action_enlarge()
        elif self.panel != "events":
            self.go_to_panel(self.events)
        else:
            self.ask("here")

    # The command line

    def action_command_line(self) -> None:
        self.line.open("command")

    def action_search(self) -> None:
        self.line.open("search")

    def action_coordinates(self) -> None:
        self.line.open("coordinates")

    def action_edit(self) -> None:
        if self.snapshot is not None:
            self.line.open("command", rerun_line(self.snapshot.run))

    async def entered(self, kind: str, text: str) -> None:
        """Do what a line says that was typed behind this kind of prompt."""
        if kind == "coordinates":
            self.say(self.tensor.go_to(text))
        elif kind == "search":
            self.ask("search", text)
        else:
            await self._run(text)

    async def _run(self, text: str) -> None:
        """A line of the command line: a word of the screen's own, or a command of the session."""
        action = found(text, DEBUGGING)
        if action is None:
            self.ask(text)
        else:
            await self.run_action(action)

    # Everything else

    def action_chosen(self, name: str) -> None:
        """A command was chosen by name: run it, or let its arguments be typed."""
        command = COMMANDS[name]
        if all(argument.is_optional for argument in command.takes):
            self.ask(name)
        else:
            self.line.open("command", f"{name} ")

    def action_copy(self, name: str = "") -> None:
        """Into the clipboard, or into a file."""
        if name:
            self._copy_to(name)
        else:
            text = self.tensor.copied()
            self.app.copy_to_clipboard(text)
            self.say((("copied  ", "muted"), (text.splitlines()[0] if text else "nothing", "text")))

    def _copy_to(self, name: str) -> None:
        """Into a file that is not there yet: for terminals whose clipboard nothing reaches."""
        try:
            with expanded(name).open("x", encoding="utf-8") as file:
                file.write(f"{self.tensor.copied()}\n")
        except FileExistsError:
            self.refuse(f"{name} is there already; name another file")
        except OSError as error:
            self.refuse(f"{shown(name)}: {error.strerror or error}; name another file")
        except ValueError as error:  # no such home, or a name that no file can have
            self.refuse(str(error))
        else:
            self.say((("copied to ", "muted"), (name, "text")))

    def action_format(self, text: str) -> None:
        """Write cells in another form; without one, say which it is."""
        if text:
            try:
                self.tensor.set_format(parse(text))
            except ValueError as error:
                self.refuse(str(error))
                return
            self.frame()
        self.say((("cells as ", "muted"), (str(self.tensor.state.format), "bright"), (f"   of {USAGE}", "muted")))

    # What widgets post

    def on_row_chosen(self, message: RowChosen) -> None:
        self.ask("select", message.row)

    def on_folded(self, message: Folded) -> None:
        """What is open in one panel is open in the other; the one it came from has it so already."""
        self.events.fold(message.opened, message.shut)
        self.graph.fold(message.opened, message.shut)

    def on_token_strip_clicked(self, message: TokenStrip.Clicked) -> None:
        self.tensor.go_to_token(message.token)

    def on_tensor_panel_cell_moved(self, message: TensorPanel.CellMoved) -> None:
        self.frame()
        self.events.follow_token(message.token)

    def frame(self) -> None:
        """Paint the rows around the panels."""
        raise NotImplementedError
