"""Lines to read and scroll in: a source file around one of its lines, or what a program printed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, split_text

from . import numbers
from .palette import Palette
from .text import Row, Span, Words, text_row

ROWS_AROUND = 6  # blank, title, blank; blank, keys, blank
WIDEST = 130
TAB = 4


@dataclass(frozen=True, slots=True)
class Listing:
    """`marked` is the line to look at, from 0; None: none. `dim` are lines of less weight. `said` stands where
    there are no lines."""

    title: tuple[Span, ...]
    lines: Sequence[str]
    marked: int | None = None
    dim: frozenset[int] = field(default_factory=frozenset)
    first_number: int = 1
    said: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    right: tuple[Span, ...] = ()


def room_for(height: int) -> int:
    """Lines that are in sight on a terminal of this height."""
    return max(height - 2 - ROWS_AROUND, 1)


def top_for(listing: Listing, height: int) -> int:
    """The first line to show so that the marked one stands in the middle; the last lines where none is marked."""
    room = room_for(height)
    wanted = len(listing.lines) if listing.marked is None else listing.marked - room // 2
    return max(0, min(wanted, len(listing.lines) - room))


def width_of(width: int) -> int:
    """Cells of a listing on a terminal of this width."""
    return min(width - 4 if width >= 100 else width, WIDEST)


def farthest(listing: Listing, width: int) -> int:
    """The cell from which on the end of the longest line is in sight; 0 where all lines are whole."""
    longest = max((cell_len(line.expandtabs(TAB)) for line in listing.lines), default=0)
    return max(0, longest - (width_of(width) - _indent(listing)))


def _indent(listing: Listing) -> int:
    """Cells before the lines: a mark and the number."""
    return 3 + _digits(listing) + 2


def _digits(listing: Listing) -> int:
    return len(str(listing.first_number + len(listing.lines)))


def listing_rows(listing: Listing, top: int, left: int, width: int, height: int, palette: Palette) -> list[Row]:
    """The lines from number `top` on, each from its cell number `left` on."""
    wide = width_of(width)
    room = room_for(height)
    shown = range(top, min(top + room, len(listing.lines)))
    digits = _digits(listing)

    def line(words: Words, bg: str = "raised", right: Words = ()) -> Row:
        return text_row(words, wide, palette, bg, right)

    body = []
    for i in shown:
        is_marked = i == listing.marked
        text = split_text(listing.lines[i].expandtabs(TAB), left)[1]
        fg = "bright" if is_marked else "muted" if i in listing.dim else "text"
        number = Span(f"{listing.first_number + i:>{digits}}  ", "text" if is_marked else "faint")
        row = [Span(" ▶ " if is_marked else "   ", "fwd", bold=True), number, Span(text, fg, bold=is_marked)]
        body.append(line(row, "select" if is_marked else "raised"))
    if not listing.lines:
        body.append(line([Span(f"   {listing.said}", "muted")]))
    keys = [Span("  ")]
    sideways = (("← →", "sideways"),) if farthest(listing, width) else ()
    for key, words in (("↑ ↓", "scroll"), *sideways, *listing.keys, ("esc", "closes")):
        keys += [Span(key, "bright", bold=True), Span(f" {words}   ", "muted")]
    last = numbers.count(listing.first_number + shown[-1]) if shown else ""
    total = numbers.count(listing.first_number - 1 + len(listing.lines))
    where = [Span(f"{last}/{total}  ", "muted")] if len(listing.lines) > room else []
    title = line([Span("  "), *listing.title], right=[*listing.right, Span("  ")] if listing.right else [])
    return [line([]), title, line([]), *body, line([]), line(keys, right=where), line([])]
