"""The run as text: tables for people, JSON for programs.

Names and tokens come from strangers' files: nothing in them is taken for markup or reaches the terminal raw.
"""

import json
import sys
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console
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
FAULT_HEADS = tuple(HEADS[kind] for kind in FAULTS)
SILENT = ("0", numbers.NOTHING)
"""Counts of faults that are none."""
GAP = "   "


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
    if not console.is_terminal:
        console.width = UNLIMITED
    return "".join(f"{line.rstrip()}\n" for line in lines_of(data, console))


def written(words: Text, console: Console) -> list[str]:
    """The words with their styles, in lines of the console's width at most."""
    with console.capture() as lines:
        console.print(words)
    return lines.get().splitlines() or [""]


def lines_of(data: Data, console: Console) -> Iterator[str]:
    """All there is to say, the sum of it last."""
    yield from written(plain(heading(data), "bold"), console)
    for line in ("".join(data["tokens"]), *data["notes"]):
        if line:
            yield from written(plain(line), console)
    if data["events"]:
        yield ""
        yield from fitting("event", data["events"], EVENT, console.width).lines(console)
    yield ""
    if data["tracked"]:
        yield from written(plain(f"gradients of {data['root']}"), console)
        yield from fitting("leaf", data["gradients"], LEAF, console.width).lines(console)
    else:
        yield "not tracked: no gradients"
    yield ""
    yield from written(plain(summary(data)), console)


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


class Table(NamedTuple):
    """Texts in columns, the first of them names. Ours, and quick, as a run may have a hundred thousand rows."""

    heads: Sequence[str]
    columns: Sequence[Sequence[str]]

    @property
    def widths(self) -> list[int]:
        columns = zip(self.heads, self.columns, strict=True)
        return [max(map(cell_len, (head, *column))) for head, column in columns]

    @property
    def breadth(self) -> int:
        """The cells of a row if no name is folded."""
        return sum(self.widths) + len(GAP) * (len(self.heads) - 1)

    def lines(self, console: Console) -> Iterator[str]:
        """Heads, a line, and the rows; of a name that is too long the rest stands below."""
        widths = self.widths
        widths[0] = max(min(widths[0], console.width - self.breadth + widths[0]), 1)
        yield from written(Text(GAP.join(in_columns(self.heads, widths)), "bold"), console)
        yield "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
        faults = [i for i, head in enumerate(self.heads) if head in FAULT_HEADS]
        for name, *cells in zip(*self.columns, strict=True):
            first, *more = chop_cells(name, widths[0]) or [""]
            row = in_columns([first, *cells], widths)
            marked = {i for i in faults if row[i].strip() not in SILENT}
            yield from written(with_faults(row, marked), console) if marked else [GAP.join(row)]
            yield from more


def in_columns(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Each in as many cells as its column has: the first at the left of them, the others at the right."""
    blanks = [" " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)]
    return [cells[0] + blanks[0], *(blank + cell for blank, cell in zip(blanks[1:], cells[1:], strict=True))]


def with_faults(row: Sequence[str], marked: Container[int]) -> Text:
    """A row whose marked cells are in the colour of faults."""
    return Text(GAP).join(Text(cell, "bold red" if i in marked else "") for i, cell in enumerate(row))


def fitting(kind: str, rows: Sequence[Data], names: Sequence[str], width: int) -> Table:
    """A table with those of the columns for which there is room."""
    made = table(kind, rows, names)
    for least in LEAST_FIRST:
        if made.breadth <= width:
            break
        names = [name for name in names if name not in least.split()]
        made = table(kind, rows, names)
    return made


def table(kind: str, rows: Sequence[Data], names: Sequence[str]) -> Table:
    """One row for each event or leaf; numbers stand with their points in line."""
    shown = [clean(row.get("path") or row["name"]) for row in rows]
    shapes = [numbers.shape(row["shape"]) for row in rows]
    found = [quantities(row) for row in rows]
    columns = [column(name, [each.get(name) for each in found]) for name in names]
    return Table((kind, "shape", *(HEADS.get(name, name) for name in names)), (shown, shapes, *columns))


def quantities(row: Data) -> Data:
    """An event's statistics; a leaf's two norms and its gradient's statistics, without those it lacks."""
    if "stats" in row:
        stats: Data = row["stats"]
        return stats
    return {**(row["grad_stats"] or {}), "norm": row["norm"], "grad norm": row["grad_norm"]}


def column(name: str, values: Sequence[float | str | None]) -> list[str]:
    """The texts of one column: counts, or numbers on their point; `–` for None."""
    if name in KINDS:
        return [numbers.NOTHING if n is None else numbers.count(int(n)) for n in values]
    return numbers.pointed(numbers.stats(None if x is None else float(x) for x in values))
