"""The keys of Train and Generate: their own first, then those that mean the same on every screen."""

from dataclasses import replace

from tui.keys import BY_ACTION, Key

SHARED = ("log", "export", "redraw", "palette", "quit")
SHARED_LAST = ("next_screen", "command_line", "help")


def do(keys: str, action: str, line: str, topic: str, help: str, in_footer: bool = True) -> Key:
    """A key that asks for a command of the screen's table."""
    return Key(keys, action, "do", (line,), topic, help, "", in_footer)


def act(
    keys: str,
    action: str,
    command: str,
    args: tuple[str | int, ...],
    topic: str,
    help: str,
    in_footer: bool = True,
) -> Key:
    """A key that the screen answers by itself."""
    return Key(keys, action, command, args, topic, help, "", in_footer)


def table(screen: str, own: tuple[Key, ...]) -> tuple[Key, ...]:
    """The screen's own keys as one group of its name, and the shared ones."""
    named = tuple(replace(key, group=screen, action=f"{screen}_{key.action}") for key in own)
    return (*named, *(BY_ACTION[name] for name in (*SHARED, *SHARED_LAST)))


GENERATE_KEYS = table(
    "generate",
    (
        do("n", "next", "next", "token", "one on"),
        do("N", "back", "back", "token", "one back"),
        do("i", "event", "event", "event", "inside the next token: one of its events on"),
        do("I", "event_back", "event-back", "event", "one event back"),
        act("space", "play", "play", (), "play", "play, pause, by tokens or events"),
        do("c", "write", "write", "write", "write on to the goal"),
        act("enter", "take", "take_marked", (), "take", "go on with the marked candidate"),
        act("d", "debug", "open_step", (), "debug", "open this step in the debugger"),
        act("e", "prompt", "command_line", ("prompt ",), "prompt", "begin with another text"),
        act("T", "temperature", "edit", ("temperature",), "temperature", "change the temperature"),
        act("K", "top_k", "edit", ("top-k",), "top-k", "change top-k"),
        act("P", "top_p", "edit", ("top-p",), "top-p", "change top-p"),
        act("m", "greedy", "toggle_greedy", (), "greedy", "always the likeliest, or drawn"),
        do("r", "again", "again", "again", "draw the next token anew"),
        act("S", "seed", "command_line", ("seed ",), "", "draw from this seed", False),
        act("v", "lens", "toggle_lens", (), "lens", "candidates or logit lens"),
        act("up,k", "up", "move", ("up",), "candidate", "mark the one before", False),
        act("down,j", "down", "move", ("down",), "candidate", "mark the next", False),
        act("left,h", "left", "move", ("left",), "along the text", "back", False),
        act("right,l", "right", "move", ("right",), "along the text", "on", False),
        act("<", "head_back", "head", (-1,), "head", "previous", False),
        act(">", "head_on", "head", (1,), "head", "next", False),
        act("[", "layer_back", "layer", (-1,), "layer", "previous", False),
        act("]", "layer_on", "layer", (1,), "layer", "next", False),
        do("f", "finish", "finish", "block", "to the block's end", False),
        do("F", "finish_back", "finish-back", "block", "to its start", False),
        do("g", "first", "first", "", "back to the prompt", False),
        do("G", "last", "last", "", "to the end of this branch", False),
        act("+", "faster", "speed", (1,), "speed", "faster", False),
        act("-", "slower", "speed", (-1,), "speed", "slower", False),
        act("tab", "other", "other_pane", (), "", "the other pane, where one fits", False),
        act("escape", "leave", "leave", (), "", "stop, leave the events, unmark", False),
        *(act(str(i), f"count_{i}", "count", (i,), "", "a count before these", False) for i in range(10)),
    ),
)
TRAIN_KEYS = table(
    "train",
    (
        act("space", "run", "run_or_hold", (), "run", "train, pause"),
        do("s", "step", "step", "step", "take one"),
        act("d", "debug", "open_step", (), "debug", "open the last step in the debugger"),
        act("enter", "group", "open_group", (), "gradients", "open the marked group's gradients"),
        do("v", "validate", "validate", "validate", "measure the validation loss now"),
        do("w", "save", "save", "save", "write model and run"),
        act("l", "log_axis", "toggle_log", (), "log axis", "linear or logarithmic loss"),
        act("tab", "other", "other_pane", (), "pane", "the next of those that share a place"),
        act("e", "edit", "edit_settings", (), "settings", "change them, before it begins"),
        act("o", "text", "command_line", ("text ",), "text", "train on another text"),
        do("x", "stop", "stop", "stop", "save the run and leave it"),
        do("R", "resume", "resume", "", "go on with the saved run", False),
        act("up,k", "up", "move", (-1,), "group", "previous", False),
        act("down,j", "down", "move", (1,), "group", "next", False),
        act("escape", "leave", "leave", (), "", "pause, stop what goes on", False),
        *(act(str(i), f"count_{i}", "count", (i,), "", "a count before these", False) for i in range(10)),
    ),
)
