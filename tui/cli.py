"""The command `glassllm-tui`: what the words on the shell's line mean, and what comes back to the shell.

Nothing here imports numpy or textual before it is known that they are needed: --help answers at once.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

PROGRAM = "glassllm-tui"
USAGE_FAULT = 2
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """argparse, with faults in one line."""

    def error(self, message: str) -> NoReturn:
        refuse(f"{message}; see {PROGRAM} --help")


def refuse(message: str) -> NoReturn:
    """Print one line on stderr and leave with exit code 2; control characters are shown, never sent."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    print(f"{PROGRAM}: {safe}", file=sys.stderr)
    raise SystemExit(USAGE_FAULT)


def ids(text: str) -> list[int]:
    """`1,2,3` as a list; raises the error argparse turns into a line."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of ids like 1,2,3") from None


def size(text: str) -> tuple[int, int]:
    """`120x36` as (columns, rows)."""
    columns, _, rows = text.partition("x")
    if not (columns.isascii() and columns.isdigit() and rows.isascii() and rows.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size like 120x36")
    if not (20 <= int(columns) <= 500 and 5 <= int(rows) <= 300):
        raise argparse.ArgumentTypeError(f"{text} is out of range; give 20x5 to 500x300")
    return int(columns), int(rows)


def parser() -> Parser:
    """The words the command takes."""
    made = Parser(
        prog=PROGRAM,
        description="Step forward and backward through a small language model and its gradients.",
        epilog="Without a terminal, and with --report or --json, a report is printed instead.",
        allow_abbrev=False,
    )
    made.add_argument("path", nargs="?", metavar="PATH", help="a checkpoint (.npz); default: the built-in sample")
    text = made.add_mutually_exclusive_group()
    text.add_argument("--text", metavar="T", help="the text to run")
    text.add_argument("--ids", metavar="1,2,3", type=ids, help="the token ids to run")
    made.add_argument("--theme", choices=("dark", "light"), default="dark", help="colours (default: dark)")
    made.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    report = made.add_mutually_exclusive_group()
    report.add_argument("--report", action="store_true", help="print events, loss and gradients as tables")
    report.add_argument("--json", action="store_true", help="print the same as JSON")
    made.add_argument("--keys", metavar="KEYS", help='keys to press before the screenshot, like "n n c"')
    made.add_argument("--screenshot", metavar="FILE", help="draw without a terminal, into FILE.svg or FILE.txt")
    made.add_argument("--size", metavar="WxH", type=size, help="columns x rows of the screenshot (default 120x36)")
    made.add_argument("--version", action="version", version=f"{PROGRAM} {version()}")
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


def has_terminal() -> bool:
    """Whether keys can come in and a screen can go out (Textual draws on stderr when stdout is a pipe)."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; its exit code: 0, 2 for usage or a bad file, 130 when interrupted."""
    options = parser().parse_args(words)
    settle_threads()
    try:
        return run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left (`| head`): what was asked for is done, and Python must not flush into the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run(options: argparse.Namespace) -> int:
    """Choose between the screen, a picture of it, and the report."""
    path = Path(options.path) if options.path is not None else sample_path()
    if options.screenshot:
        return draw(path, options)
    if options.keys is not None or options.size is not None:
        refuse("--keys and --size belong to --screenshot FILE; give one")
    is_dumb = os.environ.get("TERM") == "dumb"
    if options.report or options.json or is_dumb or not has_terminal():
        if is_dumb and has_terminal() and not (options.report or options.json):
            print(
                f"{PROGRAM}: TERM=dumb cannot place the cursor; here is the text report instead", file=sys.stderr
            )
        return report(path, options)
    return show(path, options)


def report(path: Path, options: argparse.Namespace) -> int:
    """Print the report, as tables or as JSON."""
    from .report import as_json, as_tables, open_session

    try:
        session = open_session(path, options.text, options.ids)
    except (ValueError, IndexError, OSError) as error:
        refuse(str(error))
    (as_json if options.json else as_tables)(session)
    return 0


def show(path: Path, options: argparse.Namespace) -> int:
    """Open the screen and stay until the user quits."""
    from .app import GlassApp

    app = GlassApp(path, text=options.text, ids=options.ids, theme=options.theme)
    app.run(mouse=not options.no_mouse)
    if app.refusal:
        refuse(app.refusal)
    return app.return_code or 0


def draw(path: Path, options: argparse.Namespace) -> int:
    """Press the keys on a screen nobody sees and write what it shows."""
    if not options.screenshot.endswith((".svg", ".txt")):
        refuse(f"{options.screenshot}: a screenshot is a .svg or a .txt file; give it one of these names")
    from .app import GlassApp
    from .scripted import screenshot

    app = GlassApp(path, text=options.text, ids=options.ids, theme=options.theme)
    try:
        screenshot(app, (options.keys or "").split(), Path(options.screenshot), options.size or (120, 36))
    except OSError as error:
        refuse(f"{options.screenshot}: {error.strerror}; choose another place to write")
    if app.refusal:
        refuse(app.refusal)
    return 0
