"""The table of parameters: how large each is, how large its gradient is so far, and the one by the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from glassllm.debug.snapshot import GradientState, Health, Snapshot

from . import glyphs, numbers
from .palette import Palette
from .sight import in_sight
from .text import Row, Span, cut, text_row

HEADS = ("name", "shape", "‖w‖", "‖g‖", "‖g‖/‖w‖")
"""What the table can be sorted by; by the first it has the model's own order."""
ROWS_AROUND = 7  # blank, title, blank, heads; blank, keys, blank
HEADS_AT = 3
LEFT, GAP = 5, 3  # columns before the names and before each other column
LEAST_NAME, MOST_NAME, LEAST_WIDTH = 12, 44, 60


@dataclass(frozen=True, slots=True)
class Parameter:
    """One leaf. `weight` is None until its statistics are counted, `gradient` while it is not reached."""

    row: int
    name: str
    shape: tuple[int, ...]
    weight: float | None
    gradient: float | None
    state: GradientState

    @property
    def ratio(self) -> float | None:
        """‖g‖/‖w‖; None where either is missing or the weight is zero."""
        return None if self.gradient is None or not self.weight else self.gradient / self.weight

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def parameters(snapshot: Snapshot) -> list[Parameter]:
    """What takes a gradient, in the model's order; then parameters that take none."""
    tape, at = snapshot.tape, snapshot.position
    taking = set(tape.leaves)
    rest = [row.id for row in tape.rows if row.parameter and row.id not in taking]
    found = []
    for leaf in (*tape.leaves, *rest):
        row, health = tape.rows[leaf], tape.health(leaf)
        weight = None if health is None else norm_with_faults(health)
        state = tape.gradient_state(leaf, at)
        name = glyphs.marked(row.name, tape.staleness(leaf))
        found.append(Parameter(leaf, name, row.array.shape, weight, tape.gradient_norm(leaf, at), state))
    return found


def norm_with_faults(health: Health) -> float:
    """‖w‖ of all elements: the norm that is counted leaves out what is no number."""
    return math.nan if health.nan else math.inf if health.inf else health.norm


def ordered(table: Sequence[Parameter], column: int, is_reversed: bool = False) -> list[Parameter]:
    """The table by a column: numbers from the largest, what has none last; the model's order as it is."""
    if column == 0:
        return list(reversed(table)) if is_reversed else list(table)
    values = [(_value(each, column), each) for each in table]
    known = [(value, each) for value, each in values if value is not None and value == value]
    known.sort(key=lambda pair: pair[0], reverse=not is_reversed)
    nan = [each for value, each in values if value is not None and value != value]
    return [*nan, *(each for _, each in known), *(each for value, each in values if value is None)]


def _value(each: Parameter, column: int) -> float | None:
    return (0.0, float(each.size), each.weight, each.gradient, each.ratio)[column]


@dataclass(frozen=True, slots=True)
class Table:
    """The entries as they are sorted, by which column, and which of them is chosen."""

    entries: Sequence[Parameter]
    column: int = 0
    is_reversed: bool = False
    chosen: int = 0


def parameter_rows(table: Table, width: int, height: int, palette: Palette) -> list[Row]:
    """The table in at most `height` rows, the chosen entry in sight."""
    cells = [_column(table.entries, each) for each in range(1, len(HEADS))]
    name_width, *sizes = _sizes(table, cells, width)
    wide = max(LEFT + name_width + sum(size + GAP for size in sizes) + 1, LEAST_WIDTH)
    shown = _in_sight(table, height)
    body = []
    for i in shown:
        texts = [column[i].rjust(size) for column, size in zip(cells, sizes, strict=True)]
        ground = "select" if i == table.chosen else "raised"
        words = _entry(table.entries[i], i == table.chosen, name_width, texts)
        body.append(text_row(words, wide, palette, ground))
    if not body:
        body = [text_row([Span("  nothing here takes a gradient", "muted")], wide, palette, "raised")]
    empty = text_row([], wide, palette, "raised")
    title, sorting = _title(table)
    place = f"{table.chosen + 1}/{len(table.entries)}  " if len(table.entries) > len(shown) else ""
    return [
        empty,
        text_row(title, wide, palette, "raised", sorting),
        empty,
        text_row(_heads(table.column, (name_width, *sizes)), wide, palette, "raised"),
        *body,
        empty,
        text_row(_keys(), wide, palette, "raised", [Span(place, "muted")]),
        empty,
    ]


def _in_sight(table: Table, height: int) -> range:
    """Which entries are shown."""
    return in_sight(len(table.entries), table.chosen, height - 2 - ROWS_AROUND)


def _sizes(table: Table, cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """The width of each column: of the names what the others leave."""
    sizes = [max(map(len, (head, *texts))) for head, texts in zip(HEADS[1:], cells, strict=True)]
    longest = max((len(each.name) for each in table.entries), default=0)
    room = width - 2 - LEFT - sum(size + GAP for size in sizes) - 1
    return [max(LEAST_NAME, min(longest, MOST_NAME, room)), *sizes]


def head_at(table: Table, x: int, y: int, width: int) -> int | None:
    """The column whose head stands at a place of the rows."""
    if y != HEADS_AT:
        return None
    sizes = _sizes(table, [_column(table.entries, each) for each in range(1, len(HEADS))], width)
    ends = accumulate(size + (GAP if i else LEFT) for i, size in enumerate(sizes))
    return next((i for i, end in enumerate(ends) if x < end), None)


def entry_at(table: Table, y: int, height: int) -> int | None:
    """The entry that stands in a line of the rows."""
    shown = _in_sight(table, height)
    return shown[y - HEADS_AT - 1] if 0 <= y - HEADS_AT - 1 < len(shown) else None


def _title(table: Table) -> tuple[list[Span], list[Span]]:
    count, weights = len(table.entries), sum(each.size for each in table.entries)
    facts = f"  {numbers.count(count)}, {numbers.count(weights)} weights"
    sorting = f"sorted by {HEADS[table.column]}" if table.column else "in order"
    sorting += ", reversed  " if table.is_reversed else "  "
    return [Span("  parameters", "bright", bold=True), Span(facts, "muted")], [Span(sorting, "muted")]


def _heads(column: int, sizes: Sequence[int]) -> list[Span]:
    """The heads, each over its column; the one sorted by is underlined."""
    words = [Span(" " * LEFT)]
    for i, (head, size) in enumerate(zip(HEADS, sizes, strict=True)):
        space = " " * (size - len(head))
        named = Span(head, "bright" if i == column else "faint", underline=i == column)
        words += [Span(" " * GAP + space), named] if i else [named, Span(space)]
    return words


def _entry(each: Parameter, is_chosen: bool, name_width: int, texts: Sequence[str]) -> list[Span]:
    glyph, fg = glyphs.gradient_glyph(each.state)
    name = cut(each.name, name_width, "tail").ljust(name_width)
    words = [Span(" ▸ " if is_chosen else "   ", "bright"), Span(f"{glyph} ", fg)]
    words.append(Span(name, "bright" if is_chosen else "text", bold=is_chosen))
    words += [Span(" " * GAP + text, "faint" if text.strip() == numbers.NOTHING else "text") for text in texts]
    return words


def _keys() -> list[Span]:
    keys = [Span("  ")]
    for key, words in (("enter", "shows it"), ("< >", "sort"), ("r", "reverse"), ("esc", "closes")):
        keys += [Span(key, "bright", bold=True), Span(f" {words}   ", "muted")]
    return keys


def _column(table: Sequence[Parameter], column: int) -> list[str]:
    if column == 1:
        return [numbers.shape(each.shape) for each in table]
    return numbers.pointed(numbers.stats(_value(each, column) for each in table))
