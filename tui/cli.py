"""The command `glassllm-tui`: what the words on the shell's line mean, and what comes back to the shell.

Nothing here imports numpy or textual before it is known that they are needed: --help answers at once.
"""

import argparse
import codecs
import io
import os
import re
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .descriptors import restored
from .headless import options as headless
from .leaving import abandon, is_kept_alive
from .usage import INTERRUPTED, PROGRAM, Parser, refuse, result

if TYPE_CHECKING:
    from .app import GlassApp
    from .settings import Settings


def is_program(path: str | None) -> bool:
    """Whether this is a user's program, to be run."""
    return path is not None and path.endswith(".py")


class Words(Parser):
    """What stands on the shell's line."""

    def parse(self, words: Sequence[str] | None) -> argparse.Namespace:
        """The words' meaning; for an option that does not exist the nearest one is named.

        What is not understood beside a program are the program's `arguments`, and all that stands behind `--`.
        """
        given = list(sys.argv[1:] if words is None else words)
        end = given.index("--") if "--" in given else len(given)
        options, unknown = self.parse_known_args(given[:end])
        if is_program(options.path):
            options.arguments = [*unknown, *given[end + 1 :]]
            return options
        if end < len(given):
            options, unknown = self.parse_known_args(given)
        options.arguments = []
        if unknown:
            self.refuse_unknown(unknown[0])
        return options


class Version(argparse.Action):
    """--version, looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        with result():
            print(f"{PROGRAM} {version()}")
        raise SystemExit(0)


def ids(text: str) -> list[int]:
    """`1,2,3` as a list; raises the error argparse turns into a line."""
    if not re.fullmatch(r" *-?[0-9]{1,18} *(, *-?[0-9]{1,18} *)*", text):
        shown = text if len(text) <= 40 else text[:39] + "…"
        raise argparse.ArgumentTypeError(f"{shown!r} is no list of ids like 1,2,3")
    return [int(part) for part in text.split(",")]


def size(text: str) -> tuple[int, int]:
    """`120x36` as (columns, rows)."""
    if not re.fullmatch(r"[0-9]{1,4}x[0-9]{1,4}", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no size like 120x36")
    columns, rows = map(int, text.split("x"))
    if not (20 <= columns <= 500 and 5 <= rows <= 300):
        raise argparse.ArgumentTypeError(f"{text} is out of range; give 20x5 to 500x300")
    return columns, rows


def parser() -> Words:
    """The words the command takes."""
    made = Words(
        prog=PROGRAM,
        description="Step forward and backward through a small language model and its gradients.",
        epilog="Without a terminal, and with --report or --json, a report is printed instead. "
        f"Two commands need no screen: see {PROGRAM} train --help, {PROGRAM} generate --help.",
        allow_abbrev=False,
    )
    made.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="a checkpoint or a recording (.npz), or your own program (.py), which is run with the arguments "
        "that follow it; default: the built-in sample",
    )
    text = made.add_mutually_exclusive_group()
    text.add_argument("--text", metavar="T", help="the text to run")
    text.add_argument("--ids", metavar="1,2,3", type=ids, help="the token ids to run")
    made.add_argument("--root", metavar="NAME", help="of a program: the variable whose gradients to open")
    made.add_argument("--theme", choices=("dark", "light"), help="colours (default: dark)")
    made.add_argument("--color", choices=("truecolor", "256", "16", "none"), help="default: what the terminal has")
    made.add_argument("--ascii", action="store_true", help="draw with ASCII signs only")
    made.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    made.add_argument("--no-config", action="store_true", help="leave the settings file unread")
    made.add_argument("--log", metavar="FILE", type=Path, help="where failures are written down in full")
    output = made.add_mutually_exclusive_group()
    output.add_argument("--report", action="store_true", help="print events, loss and gradients as tables")
    output.add_argument("--json", action="store_true", help="print the same as JSON")
    output.add_argument("--screenshot", metavar="FILE", help="draw without a terminal, into FILE.svg or FILE.txt")
    made.add_argument("--keys", metavar="KEYS", help='keys to press before the screenshot, like "n n c"')
    made.add_argument("--size", metavar="WxH", type=size, help="columns x rows of the screenshot (default 120x36)")
    made.add_argument("--version", action=Version, nargs=0, help="print the version")
    return made


def version() -> str:
    """The installed version."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(PROGRAM)
    except PackageNotFoundError:
        return "unknown"


def sample_path() -> Path:
    """The sample model: beside this file in an installed package, in samples/ in a checkout."""
    here = Path(__file__).resolve().parent
    beside = here / "tiny.npz"
    return beside if beside.exists() else here.parent / "samples" / "tiny.npz"


def settle_threads() -> None:
    """One BLAS thread and short turns: the engine's thread must not starve the screen's. Before numpy's import."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    sys.setswitchinterval(0.001)


def settle_output(encoding: str | None = None) -> None:
    """Let output in any encoding: what it lacks is written in ASCII instead of failing."""
    reopen_closed()
    codecs.register_error("glass", in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="glass")


def reopen_closed() -> None:
    """Put something behind the standard descriptors that the shell closed, or a file of ours would become one."""
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)  # the lowest that is free: the one that was closed
            if name != "stdin":
                setattr(sys, name, os.fdopen(descriptor, "w", closefd=False))


def in_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
    """The codec's handler: our signs as ASCII has them, other characters as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from .draw.spelling import spelled

    return spelled(error.object[error.start : error.end]), error.end


def has_terminal() -> bool:
    """Whether keys can come in and a screen can go out (Textual draws on stderr when stdout is a pipe)."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; its exit code: 0, 2 for usage or a bad file, 130 when interrupted."""
    settle_output()
    threads = set(threading.enumerate())
    try:
        code = answered(list(sys.argv[1:] if words is None else words))
    except SystemExit as left:  # help, usage, or a file that is refused
        if is_kept_alive(threads):
            abandon(left.code if isinstance(left.code, int) else 0)
        raise
    if is_kept_alive(threads):
        abandon(code)
    return code


def answered(words: Sequence[str]) -> int:
    """Do what the words say; the exit code."""
    try:
        if words and words[0] in headless.PARSERS:
            code = without_screen(words)
        else:
            options = parser().parse(words)
            settle_threads()
            code = run(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left (`| head`): what was asked for is done, and Python must not flush into the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def without_screen(words: Sequence[str]) -> int:
    """Train or generate, as the first word says."""
    options = headless.parse(words)
    settle_threads()
    if words[0] == "train":
        from .headless.train import run as run_command
    else:
        from .headless.generate import run as run_command
    return run_command(options)


def run(options: argparse.Namespace) -> int:
    """Choose between the screen, a picture of it, and the report."""
    path = Path(options.path) if options.path is not None else sample_path()
    if is_program(options.path) and (options.text is not None or options.ids is not None):
        refuse("--text and --ids are for models; what a program is to get stands behind --")
    if options.root is not None and not is_program(options.path):
        refuse("--root names a variable of a program; give a program, NAME.py")
    if options.screenshot is not None:
        return draw(path, options)
    if options.keys is not None or options.size is not None:
        refuse("--keys and --size belong to --screenshot FILE; give one")
    is_asked = options.report or options.json
    is_dumb = os.environ.get("TERM") == "dumb"
    if is_dumb and has_terminal() and not is_asked:
        reason = "TERM=dumb cannot place the cursor"
        print(f"{PROGRAM}: {reason}; here is the text report instead", file=sys.stderr)
    if is_asked or is_dumb or not has_terminal():
        return report(path, options)
    return show(path, options)


def chosen(options: argparse.Namespace) -> "tuple[Settings, list[str]]":
    """The settings of the file, and over them the options; and what in the file can't be used."""
    from .settings import DEFAULTS, config_file, read

    settings, faults = (DEFAULTS, []) if options.no_config else read(config_file())
    said = {"theme": options.theme, "color": options.color, "ascii": options.ascii or None}
    said["mouse"] = False if options.no_mouse else None
    return replace(settings, **{name: value for name, value in said.items() if value is not None}), faults


def report(path: Path, options: argparse.Namespace) -> int:
    """Print the report, as tables or as JSON."""
    from .report import REFUSALS, as_json, as_tables, open_session

    settings, faults = chosen(options)
    if path.suffix != ".py":  # a program's warnings are its own; of a model the report says what is not finite
        warnings.simplefilter("ignore", RuntimeWarning)
    if settings.ascii:
        settle_output("ascii")
    for fault in faults:
        print(f"{PROGRAM}: {fault}", file=sys.stderr)
    try:
        session = open_session(path, options.text, options.ids, options.arguments, options.root)
    except REFUSALS as error:
        refuse(str(error))
    with result():
        (as_json if options.json else as_tables)(session)
    return session.facts.exit_code


def app_of(path: Path, options: argparse.Namespace, settings: "Settings", faults: list[str]) -> "GlassApp":
    """The application that the options ask for; what kind of terminal it is for has been settled."""
    from .app import GlassApp

    return GlassApp(
        path,
        options.text,
        options.ids,
        settings=settings,
        faults=faults,
        log_file=options.log,
        arguments=options.arguments,
        root=options.root,
    )


def show(path: Path, options: argparse.Namespace) -> int:
    """Open the screen and stay until the user quits."""
    from . import terminal

    settings, faults = chosen(options)
    colors = settings.color or terminal.depth(os.environ)
    is_ascii = settings.ascii or not terminal.has_all_signs(sys.stdout)
    terminal.settle(colors)
    settings = replace(settings, color=colors, ascii=is_ascii)
    app = app_of(path, options, settings, faults)
    with restored():
        app.run(mouse=settings.mouse and terminal.has_mouse(os.environ))
    if app.engine.activity.running is not None:  # Python would wait for what a program there has started
        abandon(app.return_code or 0)
    if app.refusal:
        refuse(app.refusal)
    return app.return_code or 0


def pressed(text: str) -> list[str]:
    """The keys named with spaces between; `27n` is a count and its key, pressed one after another."""
    return [key for word in text.split() for key in (word if re.fullmatch(r"\d+[^\d\s]", word) else [word])]


def draw(path: Path, options: argparse.Namespace) -> int:
    """Press the keys on a screen nobody sees and write what it shows."""
    from glassllm.files import shown

    picture, keys = Path(options.screenshot), pressed(options.keys or "")
    if picture.suffix not in (".svg", ".txt"):
        refuse(f"{shown(picture)}: a screenshot is a .svg or a .txt file; give it one of these names")
    from . import terminal

    settings, faults = chosen(options)
    terminal.settle(settings.color or "truecolor")
    from .keys import unknown_key
    from .scripted import screenshot

    if (key := unknown_key(keys)) is not None:
        refuse(f"--keys: {key} is no key; name them like n, 27n, enter, ctrl+e, with spaces between")
    app = app_of(path, options, settings, faults)
    try:
        is_drawn = screenshot(app, keys, picture, options.size or (120, 36))
    except OSError as error:
        refuse(f"{shown(picture)}: {error.strerror or error}; choose another place to write")
    if app.refusal:
        refuse(app.refusal)
    if not is_drawn and not app.return_code:
        refuse("--keys: they leave the program before it is drawn; take out the last ones")
    return app.return_code or 0


if __name__ == "__main__":
    raise SystemExit(main())
