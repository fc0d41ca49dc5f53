"""The desk: the commands of a writer and of a training run, in tables like the debugger's own."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from glassllm.files import expanded
from glassllm.generation import Writer
from glassllm.train import RunSettings, Training

from .arguments import COUNT, Argument, number, on_off, or_off, shown, whole
from .commands import Command
from .snapshot import CommandError

FRESH = "weights"  # what a run starts from: new, or kept
MOST_MOVES = 10_000  # tokens or events by one command: others wait for it


# A writer


def each(move: Callable[[Writer], None]) -> Callable[..., Iterator[tuple[int, int]]]:
    """So many of these moves, each by itself."""

    def go(writer: Writer, count: int = 1) -> Iterator[tuple[int, int]]:
        if count > MOST_MOVES:
            raise CommandError(f"at most {MOST_MOVES} at a time, not {shown(str(count))}")
        for done in range(1, count + 1):
            move(writer)
            if done < count:
                yield done, count

    return go


def go_to_event(writer: Writer, target: str) -> None:
    """To an event of the next token: by its number, or by the end of its scope, `2.attn.softmax`."""
    if target.isdecimal():
        writer.go_to_event(int(target))
        return
    numbers = [number for number, scope in enumerate(writer.scopes(), 1) if f".{scope}".endswith(f".{target}")]
    if not numbers:
        raise CommandError(f"no event is called {shown(target)}; give its number, or a name like 0.attn.softmax")
    writer.go_to_event(next((number for number in numbers if number > writer.event), numbers[0]))


def take(writer: Writer, token: str) -> None:
    """Go on with a token, by its id or by its text."""
    known = writer.vocabulary
    is_id = token.isdecimal()
    if not is_id and token not in known and f" {token}" not in known:
        raise CommandError(f"no token is {shown(token)}; give its text or its id")
    number = int(token) if is_id else known.index(f" {token}" if f" {token}" in known else token)
    writer.take(number)


def again(writer: Writer) -> None:
    """Draw the next token from the next seed."""
    writer.reseed(writer.tree.seed + 1)
    writer.next()


def write(writer: Writer) -> Iterator[Any]:
    return writer.writing()


def look(_: object) -> None:
    """Nothing: the view is the answer."""


def setting(name: str) -> Callable[[Writer, Any], None]:
    return lambda writer, value: writer.set(**{name: value})


ONE = (COUNT,)
WRITER: dict[str, Command] = {
    command.name: command
    for command in (
        Command("next", ONE, each(Writer.next), "one token on"),
        Command("back", ONE, Writer.back, "one token back"),
        Command("first", (), Writer.first, "back to the prompt"),
        Command("last", (), Writer.last, "to the end of the branch gone last"),
        Command("write", (), write, "write on to the goal, or to the end of the text"),
        Command("event", ONE, each(Writer.next_event), "one event of this token on"),
        Command("event-back", ONE, each(Writer.previous_event), "one event back"),
        Command("finish", ONE, each(Writer.finish), "to the end of this block of the token"),
        Command("finish-back", ONE, each(Writer.finish_back), "to the start of this block"),
        Command("event-at", (Argument("EVENT", str),), go_to_event, "to an event, by number or name"),
        Command("whole", (), Writer.leave_events, "see all of the token again"),
        Command("take", (Argument("TOKEN", str, takes_rest=True),), take, "go on with a token, text or id"),
        Command("again", (), again, "draw the next token from another seed"),
        Command("seed", (Argument("N", whole("a seed")),), Writer.reseed, "draw what follows from this seed"),
        Command("temperature", (Argument("T", number("a temperature")),), setting("temperature"), "above 0"),
        Command("top-k", (Argument("K|off", or_off(whole("top-k"))),), setting("top_k"), "keep the K likeliest"),
        Command(
            "top-p",
            (Argument("P|off", or_off(number("top-p"))),),
            setting("top_p"),
            "keep the fewest that reach P",
        ),
        Command("greedy", (Argument("on|off", on_off),), setting("greedy"), "always the likeliest"),
        Command("prompt", (Argument("TEXT", str, takes_rest=True),), Writer.write_after, "begin with other text"),
        Command("look", (), look, "say again what there is to see"),
    )
}


# A training run


def run(training: Training) -> Iterator[Any]:
    return training.running()


def step(training: Training, count: int = 1) -> Iterator[Any]:
    return training.running(count)


def resume(training: Training, path: str | None = None) -> Iterator[Any]:
    return training.resuming(None if path is None else expanded(path))


def save(training: Training, path: str | None = None) -> Iterator[Any]:
    return training.saving(None if path is None else expanded(path))


def text(training: Training, path: str) -> Iterator[Any]:
    return training.reading(expanded(path))


def set_all(training: Training, line: str) -> None:
    """`steps=300 lr=1e-3 weights=kept`: each by its name, all at once or none."""
    changes: dict[str, Any] = {}
    for word in line.replace(",", " ").split():
        name, _, value = word.partition("=")
        if name not in READERS:
            raise CommandError(f"no setting is called {shown(name)}; there are {', '.join(READERS)}")
        if not value:
            raise CommandError(f"{name} is set with its value, {name}=…")
        changes[name] = READERS[name](value)
    training.set(fresh=changes.pop(FRESH, None), **changes)


def settings_line(settings: RunSettings, fresh: bool) -> str:
    """The settings as `set` takes them."""
    values = {**settings.to_json(), FRESH: "new" if fresh else "kept"}
    return " ".join(f"{name}={said(value)}" for name, value in values.items())


def said(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def new_or_kept(text: str) -> bool:
    if text not in ("new", "kept"):
        raise CommandError(f"{FRESH} is new or kept, not {shown(text)}")
    return text == "new"


WHOLE = ("steps", "batch_size", "seq_len", "warmup", "seed", "eval_every")
READERS: dict[str, Callable[[str], Any]] = {
    field.name: whole(field.name) if field.name in WHOLE else number(field.name) for field in fields(RunSettings)
} | {"alarm": or_off(number("alarm")), "fused": on_off, FRESH: new_or_kept}

TRAINING: dict[str, Command] = {
    command.name: command
    for command in (
        Command("run", (), run, "take the steps that are left"),
        Command("step", ONE, step, "one step, or COUNT"),
        Command("hold", (), Training.hold, "take no further step for now"),
        Command("stop", (), Training.stopping, "save the run and leave it; settings are free again"),
        Command("stop!", (), Training.leave, "leave the run without saving it"),
        Command("validate", (), Training.validating, "measure the validation loss now"),
        Command(
            "save",
            (Argument("PATH", str, is_optional=True, takes_rest=True),),
            save,
            "write the model, and the run to go on with; from now on in PATH",
        ),
        Command(
            "resume",
            (Argument("PATH", str, is_optional=True, takes_rest=True),),
            resume,
            "go on with a saved run, NAME.train.npz",
        ),
        Command(
            "set",
            (Argument("NAME=VALUE…", str, takes_rest=True),),
            set_all,
            "settings of the next run",
        ),
        Command("text", (Argument("PATH", str, takes_rest=True),), text, "train on another text"),
        Command("look", (), look, "say again what there is to see"),
    )
}
