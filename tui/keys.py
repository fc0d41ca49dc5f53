"""The keys: one table, from which bindings, footer and help are made.

Lower case goes forward, the same letter in upper case back. A row names a command of the session's table or an
action of the screen; rows that follow each other and share a topic share an entry: `n/N event`.
"""

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from textual.binding import Binding
from textual.keys import Keys

BY_THE_SCREEN = """
    axes command_line coordinates copy count edit enlarge enter export group help largest leave log move page
    palette panel parameters play quit redraw scale screen search slice source speed tab view
"""
UI_ACTIONS = frozenset(BY_THE_SCREEN.split())
"""What the screen does by itself, as `action_NAME`; every other command goes to the session."""

GROUPS = {
    "time": "move in time",
    "graph": "graph",
    "tensor": "tensor",
    "move": "move about",
    "rows": "rows",
    "find": "find",
    "everywhere": "everywhere",
}
"""The groups of keys with their titles, in the order of footer and help."""

PANELS = {"events": ("rows", "find"), "graph": ("graph", "rows"), "tensor": ("tensor",)}
"""The groups that are about one panel, and stand in the footer while it has the focus."""


def about(panel: str) -> tuple[str, ...]:
    """The groups of a panel; what has no entry above is a screen, whose own keys are one group of its name."""
    return PANELS.get(panel, (panel,))


@dataclass(frozen=True)
class Key:
    """One row: what a key does."""

    keys: str
    """As Textual names them; commas between keys that do the same."""
    action: str
    """Names the row; keys are remapped by it."""
    command: str
    args: tuple[str | int, ...]
    topic: str
    """Its word in the footer, and what heads an entry of several rows; empty where neither is needed."""
    help: str
    group: str
    in_footer: bool = False

    @property
    def is_command(self) -> bool:
        """Whether the session runs it; otherwise the screen does."""
        return self.command not in UI_ACTIONS


@dataclass(frozen=True)
class Entry:
    """One item of footer or help."""

    keys: str
    words: str


MOVE = "move selection or cell"
COUNT = "a count before these"

KEYS = (
    Key("n", "next", "next", (), "event", "next", "time", True),
    Key("N", "previous", "previous", (), "event", "previous", "time", True),
    Key("s", "step", "step", (), "op", "forward", "time", True),
    Key("S", "step_back", "step-back", (), "op", "back", "time", True),
    Key("i", "contribution", "contribution", (), "contribution", "forward", "time", True),
    Key("I", "contribution_back", "contribution-back", (), "contribution", "back", "time", True),
    Key("c", "continue", "continue", (), "continue", "to the end", "time", True),
    Key("C", "continue_back", "continue-back", (), "continue", "to the start", "time", True),
    Key("f", "finish", "finish", (), "block", "to its end", "time", True),
    Key("F", "finish_back", "finish-back", (), "block", "to its start", "time", True),
    Key("t", "run_to", "run-to", (), "run to", "the selection", "time", True),
    Key("T", "run_back_to", "run-back-to", (), "run to", "back to it", "time", True),
    Key("g", "first", "first", (), "position", "first", "time"),
    Key("G", "last", "last", (), "position", "last", "time"),
    *(Key(str(digit), f"count_{digit}", "count", (digit,), "", COUNT, "time") for digit in range(10)),
    Key("space", "play", "play", (), "", "play, pause", "time"),
    Key("+", "faster", "speed", (1,), "speed", "faster", "time"),
    Key("-", "slower", "speed", (-1,), "speed", "slower", "time"),
    Key("up,k", "up", "move", ("up",), "", MOVE, "move"),
    Key("down,j", "down", "move", ("down",), "", MOVE, "move"),
    Key("left,h", "left", "move", ("left",), "", MOVE, "move"),
    Key("right,l", "right", "move", ("right",), "", MOVE, "move"),
    Key("pageup", "page_up", "page", (-1,), "page", "up", "move"),
    Key("pagedown", "page_down", "page", (1,), "page", "down", "move"),
    Key("tab", "next_panel", "panel", (1,), "panel", "next", "move"),
    Key("shift+tab", "previous_panel", "panel", (-1,), "panel", "previous", "move"),
    Key("[", "previous_tab", "tab", (-1,), "tab of the panel", "previous", "move"),
    Key("]", "next_tab", "tab", (1,), "tab of the panel", "next", "move"),
    Key("(", "visited_back", "visited-back", (), "visited places", "back", "move"),
    Key(")", "visited_forward", "visited-forward", (), "visited places", "forward", "move"),
    Key("enter", "enter", "enter", (), "", "details, or walk on", "move"),
    Key("escape", "leave", "leave", (), "", "close, stop, leave, to now", "move"),
    Key("o", "group", "group", (), "open", "open or close a group", "rows", True),
    Key("u", "producer", "producer", (), "select", "producer", "graph", True),
    Key("d", "consumer", "consumer", (), "select", "consumer", "graph", True),
    Key("v", "view", "view", (), "view", "layered or rails", "graph", True),
    Key("<", "previous_slice", "slice", (-1,), "slice", "previous", "tensor", True),
    Key(">", "next_slice", "slice", (1,), "slice", "next", "tensor", True),
    Key("a", "axes", "axes", (), "axes", "choose axes", "tensor", True),
    Key("@", "coordinates", "coordinates", (), "go to", "go to coordinates", "tensor", True),
    Key("%", "scale", "scale", (), "scale", "scale of all, or by slice", "tensor", True),
    Key("^", "largest", "largest", (), "", "largest magnitude", "tensor"),
    Key("/", "search", "search", (), "search", "search", "find", True),
    Key(".", "next_match", "match", (), "match", "next", "find"),
    Key("comma", "previous_match", "match-back", (), "match", "previous", "find"),
    Key("!", "non_finite", "non-finite", (), "", "next NaN or Inf", "find"),
    Key("r", "rerun", "rerun", (), "", "run again", "everywhere"),
    Key("e", "edit", "edit", (), "", "edit the text", "everywhere"),
    Key("p", "parameters", "parameters", (), "", "parameters", "everywhere"),
    Key("w", "source", "source", (), "", "where it was made", "everywhere"),
    Key("L", "log", "log", (), "", "log", "everywhere"),
    Key("y", "copy", "copy", (), "", "copy cell and row", "everywhere"),
    Key("z", "enlarge", "enlarge", (), "zoom", "enlarge the panel", "everywhere", True),
    Key("\\", "next_screen", "screen", (), "", "next screen", "everywhere"),
    Key("ctrl+e", "export", "export", (), "", "export this view", "everywhere"),
    Key("ctrl+l", "redraw", "redraw", (), "", "redraw", "everywhere"),
    Key("ctrl+p", "palette", "palette", (), "", "palette", "everywhere"),
    Key("q,ctrl+q", "quit", "quit", (), "", "quit", "everywhere"),
    Key(":", "command_line", "command_line", (), "command", "command line", "everywhere", True),
    Key("?", "help", "help", (), "help", "keys and signs", "everywhere", True),
)
BY_ACTION = {key.action: key for key in KEYS}

LATER = {
    "b": "breakpoints",
    "W": "watches",
    "R": "checking watches again",
    "x": "explaining a cell",
    "#": "checking a cell by finite differences",
    "=": "overriding a value",
    "~": "taking overrides off",
    "m": "bookmarks",
    "'": "jumping to a bookmark",
}
"""Keys kept for what does not exist yet: pressed they say so, and neither footer nor help names them."""

LABELS = {"up": "↑", "down": "↓", "left": "←", "right": "→", "escape": "esc", "comma": ","}
ENTRY_LABELS = {"move": "arrows hjkl", "count": "10n 3C", "page": "pgup pgdn", "panel": "tab"}
BACKWARD_WORDS = {"op": "visit", "block": "phase"}
SHORT_WORDS = {"continue": "cont", "contribution": "edge", "command": "cmd"}
SHORT_BELOW = 100
"""Columns below which the footer takes short words."""


MODIFIERS = {"ctrl", "shift", "alt", "super"}
NAMED = {key.value for key in Keys}


def unknown_key(keys: Iterable[str]) -> str | None:
    """The first that is no key: neither a character, nor a name like `enter` or `ctrl+e`."""
    return next((key for key in keys if not _is_key(key)), None)


def _is_key(key: str) -> bool:
    *before, last = key.split("+") if len(key) > 1 else [key]
    return MODIFIERS.issuperset(before) and (len(last) == 1 or last in NAMED or _is_character_name(last))


def _is_character_name(name: str) -> bool:
    """Whether it is Unicode's name of a character as Textual writes it: `question_mark`."""
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True


def remapped(chosen: Mapping[str, Sequence[str]]) -> tuple[tuple[Key, ...], list[str]]:
    """The table with the keys a person has chosen for actions, and a line for each choice that can't be.

    A key can do one thing only: where another action has it, the choice is left out.
    """
    faults = []
    keys = {}
    for action, names in chosen.items():
        if action not in BY_ACTION:
            near = difflib.get_close_matches(action, BY_ACTION, n=1)
            faults.append(f"keys: no action {action}{f', did you mean {near[0]}?' if near else ''}; ignored")
        elif (wrong := unknown_key(names)) is not None:
            faults.append(f"keys: {wrong} is no key for {action}; ignored")
        else:
            keys[action] = ",".join("comma" if name == "," else name for name in names)
    while clash := _clash(keys):
        key, given, holder = clash
        faults.append(f"keys: {key} is {holder} and can't be {given} too; ignored")
        del keys[given]
    return tuple(replace(key, keys=keys.get(key.action, key.keys)) for key in KEYS), faults


def keymap(keys: Iterable[Key]) -> dict[str, str]:
    """What a table changes, as Textual takes it."""
    return {key.action: key.keys for key in keys if key != BY_ACTION[key.action]}


def _clash(chosen: Mapping[str, str]) -> tuple[str, str, str] | None:
    """A key with two actions: the key, the one it was chosen for, and the other."""
    holders = defaultdict(list)
    for row in KEYS:
        for key in chosen.get(row.action, row.keys).split(","):
            holders[key].append(row.action)
    for key, actions in holders.items():
        if len(actions) > 1:
            given = max(actions, key=lambda action: (action in chosen, actions.index(action)))
            return key, given, next(action for action in actions if action != given)
    return None


def sentence(key: Key) -> str:
    """What a key does, said without its neighbours: in the palette, say."""
    is_one_of_several = sum(other.topic == key.topic for other in KEYS) > 1
    return f"{key.topic}: {key.help}" if key.topic and is_one_of_several else key.help


def later(key: str) -> str:
    """The one line that answers a key kept for later."""
    return f"{key} is kept for {LATER[key]}, not in this version"


def bindings() -> list[Binding]:
    """Textual's bindings. Session commands arrive at `action_command(action)`, what the screen does at
    `action_NAME(*args)`, keys kept for later at `action_later(key)`."""
    made = [Binding(key.keys, _call(key), sentence(key), show=False, id=key.action) for key in KEYS]
    return made + [Binding(key, f"later({key!r})", show=False) for key in LATER]


def footer(panel: str, backward: bool, width: int, keys: Sequence[Key] = KEYS) -> list[Entry]:
    """What fits into `width` columns of the keys for this panel; the last two are the command line and help."""
    rows = [key for key in keys if key.in_footer and key.group in ("time", *about(panel), "everywhere")]
    entries = [
        Entry(_keys(same, "/"), _footer_word(same[0].topic, backward, width))
        for same in _shared(rows)
        if backward or same[0].topic != "contribution"  # forward it is the same as an op
    ]
    *optional, command, help_ = entries
    while optional and _footer_width([*optional, command, help_]) > width:
        optional.pop()
    return [*optional, command, help_]


def help_sections(panel: str, keys: Sequence[Key] = KEYS) -> list[tuple[str, list[Entry]]]:
    """Title and entries of each part of the help: first what is about this panel, then the rest in order."""
    here = about(panel)
    sections = [("this panel", _help_entries(key for key in keys if key.group in here))]
    for group, title in GROUPS.items():
        if group not in here:
            sections.append((title, _help_entries(key for key in keys if key.group == group)))
    return sections


def _call(key: Key) -> str:
    """Textual's spelling of the call a key makes."""
    if key.is_command:
        return f"command({key.action!r})"
    return f"{key.command}({', '.join(map(repr, key.args))})"


def _shared(rows: Iterable[Key]) -> list[list[Key]]:
    """Neighbours that share an entry: those of one topic, and those that say the same."""
    return [list(same) for _, same in groupby(rows, lambda key: key.topic or key.help)]


def _keys(same: list[Key], between: str) -> str:
    """The keys of one entry as people write them."""
    names = [name for key in same for name in key.keys.split(",")]
    is_usual = all(key == BY_ACTION.get(key.action) for key in same)
    label = ENTRY_LABELS.get(same[0].command) if is_usual else None
    return label or between.join(LABELS.get(name, name) for name in names)


def _footer_word(topic: str, backward: bool, width: int) -> str:
    word = BACKWARD_WORDS.get(topic, topic) if backward else topic
    return SHORT_WORDS.get(word, word) if width < SHORT_BELOW else word


def _footer_width(entries: list[Entry]) -> int:
    """Columns: two between entries, one at either end."""
    return sum(len(entry.keys) + 1 + len(entry.words) + 2 for entry in entries)


def _help_entries(rows: Iterable[Key]) -> list[Entry]:
    return [Entry(_keys(same, " "), _help_words(same)) for same in _shared(rows)]


def _help_words(same: list[Key]) -> str:
    """`event: next, previous`; what the row says where it stands alone."""
    helps = list(dict.fromkeys(key.help for key in same))
    return f"{same[0].topic}: {', '.join(helps)}" if len(helps) > 1 else helps[0]
