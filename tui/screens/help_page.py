"""The help: keys of the focused panel first, then all others, then the signs, flowing in columns over pages."""

from collections.abc import Sequence

from tui.draw.palette import Palette
from tui.draw.text import Row, Span, Words, cut, fit, segments, text_row
from tui.keys import KEYS, Entry, Key, help_sections

COLUMN = 50
NARROWEST = 37
INSIDE = 2  # columns of padding at either side
SIGNS = (
    Entry("■ □", "value recorded, not yet"),
    Entry("● ◐ ○", "final, k of n, no gradient"),
    Entry("–", "takes no gradient"),
    Entry("▶ ◀", "current, forward, backward"),
    Entry("▷", "selected, not current"),
    Entry("~", "written in place since"),
    Entry("▸ ▾", "folded, open"),
    Entry("+ -", "cell beyond the scale"),
    Entry("·", "masked or exactly 0"),
    Entry("[ ]", "cell cursor"),
)
SIGN_COLORS = {"● ◐ ○": "bwd", "▶ ◀": "fwd"}
Line = tuple[Span, ...]


def help_rows(
    panel: str, page: int, width: int, height: int, palette: Palette, keys: Sequence[Key] = KEYS
) -> tuple[list[Row], int]:
    """The rows of one page, and how many pages there are."""
    wide = min(width - 4 if width >= 100 else width - 2, 3 * COLUMN + 2 * INSIDE)
    count = 3 if wide >= 3 * NARROWEST else 2 if wide >= 2 * NARROWEST else 1
    each = (wide - 2 * INSIDE) // count
    room = max(height - 8, 6)
    columns = balanced([*blocks(panel, each, keys), cell_block(each, palette)], count, room)
    pages = -(-len(columns) // count)
    page = page % pages
    shown = columns[page * count : (page + 1) * count]
    right: Words = [
        Span("esc", "bright", bold=True), Span(" closes", "muted"),
        *([Span(f"   {page + 1}/{pages}", "text"), Span(" ↓", "muted")] if pages > 1 else []),
        Span("  "),
    ]  # fmt: skip
    title = text_row(
        [Span("  help", "bright", bold=True), Span(f"  {panel} panel", "muted")], wide, palette, "raised", right
    )
    empty = text_row([], wide, palette, "raised")
    body = [
        _across([c[y] if y < len(c) else () for c in shown], each, wide, palette)
        for y in range(max(map(len, shown)))
    ]
    return [empty, title, empty, *body, empty], pages


def _across(lines: Sequence[Line], each: int, wide: int, palette: Palette) -> Row:
    row = segments([Span(" " * INSIDE)], palette, "raised")
    for line in lines:
        row += fit(segments(line, palette, "raised"), each, palette, "raised")
    return fit(row, wide, palette, "raised")


def blocks(panel: str, width: int, keys: Sequence[Key] = KEYS) -> list[list[Line]]:
    """Each section as lines: a title, then keys and what they do."""
    sections = [*help_sections(panel, keys), ("signs", list(SIGNS))]
    return [
        [(Span(title, "muted"),), *(_entry(e, width) for e in entries)] for title, entries in sections if entries
    ]


def key_width(width: int) -> int:
    """Columns for the keys of an entry in a column of this width."""
    return 12 if width >= 44 else 9


def _entry(entry: Entry, width: int) -> Line:
    keys = entry.keys.ljust(key_width(width)) + " "
    room = width - len(keys) - 1
    words = entry.words if len(entry.words) <= room else entry.words.rpartition(": ")[2]
    return Span(keys, SIGN_COLORS.get(entry.keys, "bright"), bold=True), Span(cut(words, room))


def cell_block(width: int, palette: Palette) -> list[Line]:
    """What the cells of a map look like."""
    keys = key_width(width) + 1
    positive, negative, more = "+▓", "−▓", "fuller"
    if not palette.is_flat:
        positive, negative = "red" if palette.diverging == "rdbu" else "orange", "blue"
        more = "lighter" if palette.theme == "dark" else "darker"
    lined = (Span("▓", underline=True), Span(" " * (keys - 1)), Span("negative, where cells are small"))
    return [
        (Span("cells", "muted"),),
        (Span(positive.ljust(keys), "pos", bold=True), Span(f"positive, {more} larger")),
        (Span(negative.ljust(keys), "neg", bold=True), Span(f"negative, {more} larger")),
        *([lined] if palette.colors == "none" else []),
        (
            Span("×", "nanfg", bg="nan"),
            Span("NaN, ".rjust(keys + 4)),
            Span("▲▼", "nanfg", bg="nan"),
            Span(" ±Inf"),
        ),
    ]


def balanced(parts: list[list[Line]], count: int, height: int) -> list[list[Line]]:
    """The blocks in `count` columns of about equal height, or in more where they are too long for that."""
    even = sum(len(part) + 1 for part in parts) // count
    return next((c for h in range(even, height) if len(c := flowed(parts, h)) <= count), flowed(parts, height))


def flowed(parts: list[list[Line]], height: int) -> list[list[Line]]:
    """The blocks in columns of `height` lines, a blank line between two; a block too long for a rest is broken."""
    columns: list[list[Line]] = [[]]
    for part in parts:
        if columns[-1] and len(columns[-1]) + 1 + min(len(part), 4) > height:
            columns.append([])
        elif columns[-1]:
            columns[-1].append(())
        for line in part:
            if len(columns[-1]) >= height:
                columns.append([])
            columns[-1].append(line)
    return columns
