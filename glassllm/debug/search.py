"""Finding rows by name: a node's number, a path, the end of a path, or a pattern matched segment by segment.

In a pattern `*` stands for any text within one segment, `**` for any number of segments.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from .axes import Axes
from .places import block_of
from .snapshot import CommandError, Row
from .tape import Tape
from .words import path, shape_text, short

CELL = re.compile(r"(?P<name>[^\[\]]+)\[(?P<cell>[^\[\]]*)\]")
SEGMENTS = {"**.": r"(?:[^.]+\.)*", ".**": r"(?:\.[^.]+)*", "**": r".*", "*": r"[^.]*", "?": r"[^.]"}


def find_rows(tape: Tape, pattern: str) -> list[int]:
    """The rows whose path or op matches, in order; without a wildcard, those whose path contains the text."""
    if not pattern:
        return []
    if "*" not in pattern and "?" not in pattern:
        return [row.id for row in tape.rows if pattern in path(tape, row) or pattern in row.name]
    matches = _compiled(pattern).fullmatch
    return [row.id for row in tape.rows if matches(path(tape, row)) or matches(row.name)]


def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*\*\.|\.\*\*|\*\*|\*|\?)", pattern)
    return re.compile("".join(SEGMENTS.get(piece, re.escape(piece)) for piece in pieces))


def find_row(tape: Tape, spec: str, near: int) -> int:
    """The one row meant by `#12` (row 12), `12` (node 12), a path, or the end of one.

    Of several that end so, the one in the block of row `near` is meant, else the first. Raises CommandError,
    with the closest names there are, when there is none.
    """
    if re.fullmatch(r"#\d+", spec):
        return _numbered(spec, int(spec[1:]), range(len(tape.rows)))
    if spec.isdigit():
        nodes = [row for row in tape.forward if tape.rows[row].kind == "node"]
        return _numbered(f"node {spec}", int(spec), {tape.rows[row].number: row for row in nodes})
    found = list(_ending(tape, spec)) or find_rows(tape, spec)
    if not found:
        raise CommandError(f"nothing here is called {spec}{_like(tape, spec)}")
    block = block_of(tape.rows[near].scope)
    return next((row for row in found if block and block_of(tape.rows[row].scope) == block), found[0])


def _numbered(what: str, number: int, rows: range | dict[int, int]) -> int:
    if number not in rows:
        raise CommandError(f"there is no {what}; they go up to {max(rows, default=0)}")
    return rows[number]


def _ending(tape: Tape, spec: str) -> Iterator[int]:
    """The rows whose whole path is `spec`, else those whose path ends so."""
    exact = [row.id for row in tape.rows if path(tape, row) == spec]
    if exact:
        return iter(exact)
    by_words = [row.id for row in tape.rows if short(tape, row) == spec]
    return iter(by_words or [row.id for row in tape.rows if path(tape, row).endswith("." + spec)])


def _like(tape: Tape, spec: str) -> str:
    names = {name for row in tape.rows for name in (path(tape, row), short(tape, row))}
    close = get_close_matches(spec, names, 2)
    return f"; did you mean {' or '.join(close)}?" if close else "; / searches, a path or a node's number selects"


def find_cell(tape: Tape, axes: Axes, spec: str, near: int) -> tuple[int, tuple[int, ...] | None]:
    """A row, and for `logits[5,42]` the cell, a coordinate of the row's own array (None: the whole tensor).

    The coordinates count the axes that are shown. Raises CommandError when they do not fit.
    """
    match = CELL.fullmatch(spec)
    if match is None:
        return find_row(tape, spec, near), None
    row = tape.rows[find_row(tape, match["name"], near)]
    numbers = [number.strip() for number in match["cell"].split(",") if number.strip()]
    if not all(re.fullmatch(r"[-−]?\d+", number) for number in numbers):
        raise CommandError(f"a cell is given by whole numbers, not [{match['cell']}]")
    cell = tuple(int(number.replace("−", "-")) for number in numbers)
    _check(row, axes, cell)
    return row.id, (0,) * (row.array.ndim - len(cell)) + cell


def _check(row: Row, axes: Axes, cell: tuple[int, ...]) -> None:
    shape = axes.shape(row)
    if len(cell) != len(shape):
        names = ", ".join(axis.name for axis in axes.of(row))
        raise CommandError(f"a cell of {row.name} {shape_text(shape)} has {len(shape)} numbers: [{names}]")
    if not all(-n <= i < n for i, n in zip(cell, shape, strict=True)):
        raise CommandError(
            f"[{', '.join(map(str, cell))}] lies outside of {row.name}, which is {shape_text(shape)}"
        )
