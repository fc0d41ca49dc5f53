"""The run as text: tables for people, JSON for programs.

Names and tokens come from strangers' files: nothing in them is taken for markup or reaches the terminal raw.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassllm.checkpoint import CheckpointError
from glassllm.debug.opening import PROGRAM, open_file, open_script
from glassllm.debug.report import report
from glassllm.debug.script import Script
from glassllm.debug.snapshot import CommandError

from .draw import numbers
from .draw.text import clean

if TYPE_CHECKING:
    from glassllm.debug.session import Session

Data = dict[str, Any]
REFUSALS = (CheckpointError, CommandError)
"""What opening raises where the fault is not ours: one line for the person."""
KINDS = ("negative", "zero", "positive", "nan", "inf", "masked", "subnormal")
EVENT = ("min", "mean", "max", "std", "norm", *KINDS)
LEAF = ("norm", "grad norm", "min", "mean", "max", "std", "nan", "inf")
LEAST_FIRST = ("subnormal", "negative zero positive", "min max", "std", "mean", "masked", "norm")
"""The columns that a terminal without room for all goes without, one after the other until the rest fits."""
UNLIMITED = 10_000
HEADS = {"negative": "−", "zero": "0", "positive": "+", "nan": "NaN", "inf": "Inf"}
FAULTS = ("nan", "inf")
NARROWEST = 100
"""Columns where no terminal says how many there are."""


def open_session(
    path: Path,
    text: str | None,
    ids: Sequence[int] | None,
    arguments: Sequence[str] = (),
    root: str | None = None,
) -> "Session":
    """The file opened and run; one of REFUSALS where that cannot be. What a program prints goes to stderr."""
    if path.suffix == PROGRAM:
        return open_script(Script(path, arguments, root, echo=sys.stderr))
    return open_file(path, text, ids)


def as_json(session: "Session") -> None:
    """Print the report as JSON, in ASCII whatever the names hold."""
    print(json.dumps(report(session), allow_nan=False, indent=2))


def as_tables(session: "Session") -> None:
    """Print the report as tables."""
    sys.stdout.write(rendered(report(session)))


def rendered(data: Data) -> str:
    """The tables for stdout: with fewer columns on a narrow terminal, as wide as they are where there is none."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    content = tables(data, console, console.width if console.is_terminal else UNLIMITED)
    if not console.is_terminal:
        console.width = max(NARROWEST, breadth(content, console))
    with console.capture() as written:
        console.print(content)
    return "".join(f"{line.rstrip()}\n" for line in written.get().splitlines())


def breadth(content: RenderableType, console: Console) -> int:
    """The columns it takes if nothing is folded."""
    return console.measure(content, options=console.options.update(width=UNLIMITED)).maximum


def tables(data: Data, console: Console, width: int) -> RenderableType:
    """All there is to say, the sum of it last."""
    parts: list[RenderableType] = [plain(heading(data), "bold")]
    parts += [plain(line) for line in ("".join(data["tokens"]), *data["notes"]) if line]
    if data["events"]:
        parts += [plain(""), fitting("event", data["events"], EVENT, console, width)]
    parts.append(plain(""))
    if data["tracked"]:
        parts += [plain(f"gradients of {data['root']}"), fitting("leaf", data["gradients"], LEAF, console, width)]
    else:
        parts.append(plain("not tracked: no gradients"))
    return Group(*parts, plain(""), plain(summary(data)))


def plain(words: str, style: str = "") -> Text:
    """A stranger's words: no markup, and a visible sign for every control character."""
    return Text(clean(words), style)


def heading(data: Data) -> str:
    """`tiny.npz   f32   12 tokens   245 000 weights`"""
    words = [data["name"], numbers.dtype(data["dtype"]) if data["dtype"] else ""]
    if data["tokens"]:
        words.append(many(len(data["tokens"]), "token"))
    if weights := data["counts"]["weights"]:
        words.append(many(weights, "weight"))
    return "   ".join(filter(None, words))


def summary(data: Data) -> str:
    """`tiny.npz   loss 2.3184   77 events   402 nodes   38 parameters   NaN 0   Inf 0`"""
    counts = data["counts"]
    loss = "no loss" if data["loss"] is None else f"loss {numbers.unsigned(float(data['loss']))}"
    made = [many(counts[f"{noun}s"], noun) for noun in ("event", "node", "parameter")]
    faults = [f"{HEADS[kind]} {numbers.count(counts[kind])}" for kind in FAULTS]
    return "   ".join([data["name"], loss, *made, *faults])


def many(n: int, noun: str) -> str:
    """`1 token`, `245 824 weights`"""
    return f"{numbers.count(n)} {noun}" if n == 1 else f"{numbers.count(n)} {noun}s"


def fitting(kind: str, rows: Sequence[Data], names: Sequence[str], console: Console, width: int) -> Table:
    """A table with those of the columns for which there is room."""
    made = table(kind, rows, names)
    for least in LEAST_FIRST:
        if breadth(made, console) <= width:
            break
        names = [name for name in names if name not in least.split()]
        made = table(kind, rows, names)
    return made


def table(kind: str, rows: Sequence[Data], names: Sequence[str]) -> Table:
    """One row for each event or leaf; its name is never cut, and numbers stand with their points in line."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    made.add_column(kind, overflow="fold")
    for head in ("shape", *(HEADS.get(name, name) for name in names)):
        made.add_column(head, justify="right", no_wrap=True)
    columns = [column(name, [quantities(row).get(name) for row in rows]) for name in names]
    for i, row in enumerate(rows):
        shown = plain(row.get("path") or row["name"])
        made.add_row(shown, numbers.shape(row["shape"]), *(cells[i] for cells in columns))
    return made


def quantities(row: Data) -> Data:
    """An event's statistics; a leaf's two norms and its gradient's statistics, without those it lacks."""
    if "stats" in row:
        stats: Data = row["stats"]
        return stats
    return {**(row["grad_stats"] or {}), "norm": row["norm"], "grad norm": row["grad_norm"]}


def column(name: str, values: Sequence[float | str | None]) -> list[Text]:
    """The texts of one column: counts, with faults in their colour, or numbers on their point; `–` for None."""
    if name in KINDS:
        return [counted(name, None if n is None else int(n)) for n in values]
    return [Text(text) for text in numbers.pointed(numbers.stats(None if x is None else float(x) for x in values))]


def counted(kind: str, n: int | None) -> Text:
    if n is None:
        return Text(numbers.NOTHING)
    return Text(numbers.count(n), "bold red" if n and kind in FAULTS else "")
