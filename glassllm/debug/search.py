"""Finding rows by name: a node's number, a path, the end of a path, or a pattern matched segment by segment.

In a pattern `*` stands for any text within one segment, `**` for any number of segments.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches

from .arguments import WHOLE, shown
from .axes import Axes
from .numerals import shape_text
from .places import block_of
from .slices import LOOK, Slice, Sliced
from .snapshot import CommandError, Row
from .tape import Tape
from .words import path_of, short

CELL = re.compile(r"(?P<name>[^\[\]]+)\[(?P<cell>[^\[\]]*)\]")
COMPARED = 4096  # what it takes to compare two names, in elements
SEGMENTS = {"**.": r"(?:[^.]+\.)*", ".**": r"(?:\.[^.]+)*", "**": r".*", "*": r"[^.]*", "?": r"[^.]"}


def find_rows(tape: Tape, pattern: str) -> Sliced[list[int]]:
    """The rows whose path or op matches, in order; without a wildcard, those whose path contains the text."""
    matches = _compiled(pattern).fullmatch if "*" in pattern or "?" in pattern else None
    found, pace = [], Slice(LOOK)
    for row in range(len(tape.rows)) if pattern else ():
        texts = (path_of(tape, row), tape.rows.names[row])
        if any(map(matches, texts)) if matches is not None else any(pattern in text for text in texts):
            found.append(row)
        if pace.is_full():
            yield row, len(tape.rows)
    return found


def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*\*\.|\.\*\*|\*\*|\*|\?)", pattern)
    return re.compile("".join(SEGMENTS.get(piece, re.escape(piece)) for piece in pieces))


def find_row(tape: Tape, spec: str, near: int) -> Sliced[int]:
    """The one row meant by `#12` (row 12), `12` (node 12), a path, or the end of one.

    Of several that end so, the one in the block of row `near` is meant, else the first. Raises CommandError,
    with the closest names there are, when there is none.
    """
    if re.fullmatch(f"#{WHOLE}", spec):
        return _numbered(spec, int(spec[1:]), range(len(tape.rows)))
    if re.fullmatch(WHOLE, spec):
        return _numbered(f"node {spec}", int(spec), tape.nodes, first=1)
    found = (yield from _ending(tape, spec)) or (yield from find_rows(tape, spec))
    if not found:
        like = yield from _like(tape, spec)
        raise CommandError(f"nothing here is called {shown(spec)}{like}")
    block = block_of(tape.rows.scopes[near])
    return next((row for row in found if block and block_of(tape.rows.scopes[row]) == block), found[0])


def _numbered(what: str, number: int, rows: Sequence[int], first: int = 0) -> int:
    if not first <= number < first + len(rows):
        raise CommandError(f"there is no {what}; they go up to {first + len(rows) - 1}")
    return rows[number - first]


def _ending(tape: Tape, spec: str) -> Sliced[list[int]]:
    """The rows whose whole path is `spec`, else whose name within the block is, else whose path ends so."""
    found: tuple[list[int], list[int], list[int]] = ([], [], [])
    pace = Slice(LOOK)
    for row in range(len(tape.rows)):
        whole = path_of(tape, row)
        if whole.endswith(spec) or spec.endswith(f" {tape.rows.names[row]}"):
            is_so = (whole == spec, short(tape, tape.rows[row]) == spec, whole.endswith(f".{spec}"))
            for rows, fits in zip(found, is_so, strict=True):
                if fits:
                    rows.append(row)
        if pace.is_full():
            yield row, len(tape.rows)
    return next(filter(None, found), [])


def _like(tape: Tape, spec: str) -> Sliced[str]:
    """The closest names, each looked at once."""
    close: list[str] = []
    seen: set[str] = set()
    pace = Slice(LOOK)
    for row in range(len(tape.rows)):
        names = {path_of(tape, row), tape.rows.names[row]} - seen
        if names:
            seen |= names
            close = get_close_matches(spec, dict.fromkeys([*close, *names, short(tape, tape.rows[row])]), 2)
        if pace.is_full(COMPARED * len(names)):
            yield row, len(tape.rows)
    return f"; did you mean {' or '.join(close)}?" if close else "; / searches, a path or a node's number selects"


def find_cell(tape: Tape, axes: Axes, spec: str, near: int) -> Sliced[tuple[int, tuple[int, ...] | None]]:
    """A row, and for `logits[5,42]` the cell, a coordinate of the row's own array (None: the whole tensor).

    The coordinates count the axes that are shown. Raises CommandError when they do not fit.
    """
    match = CELL.fullmatch(spec)
    if match is None:
        return (yield from find_row(tape, spec, near)), None
    found = yield from find_row(tape, match["name"], near)
    row = tape.rows[found]
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
