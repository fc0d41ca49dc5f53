"""Rows of words: spans of text in, exactly `width` cells of styled segments out.

Text from a model, a file or a user never reaches the terminal raw: what would control it, or change the width of
a neighbour, is shown as a visible sign in its place.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from rich.cells import cell_len, split_text
from rich.segment import Segment

from tui.draw.palette import Palette

Row = list[Segment]
ELLIPSIS = "…"


class Span(NamedTuple):
    """Words in one style. `bg` None: the row's own background."""

    text: str
    fg: str = "text"
    bold: bool = False
    underline: bool = False
    italic: bool = False
    bg: str | None = None


Words = Sequence[Span | tuple[str, str]]  # a pair is (text, fg)


def text_row(words: Words, width: int, palette: Palette, bg: str = "panel", right: Words = ()) -> Row:
    """One row: `words` from the left, cut with `…` where they meet `right`, which ends at the last cell."""
    return list(_text_row(tuple(words), width, palette, bg, tuple(right)))


@lru_cache(1 << 11)  # most rows of a frame were in the one before
def _text_row(words: Words, width: int, palette: Palette, bg: str, right: Words) -> Row:
    tail = crop(segments(right, palette, bg), width)
    room = width - row_width(tail)
    head = crop(segments(words, palette, bg), room - 1 if tail and room else room)
    return [*head, *blank(room - row_width(head), palette, bg), *tail]


def segments(words: Words, palette: Palette, bg: str = "panel") -> Row:
    """The spans as segments, cleaned; no padding."""
    return [_segment(palette, bg, *word) for word in words if word[0]]


@lru_cache(1 << 13)
def _segment(
    palette: Palette,
    ground: str,
    text: str,
    fg: str = "text",
    bold: bool = False,
    underline: bool = False,
    italic: bool = False,
    bg: str | None = None,
) -> Segment:
    return Segment(palette.spell(clean(text), fg), palette.style(fg, bg or ground, bold, underline, italic))


def blank(width: int, palette: Palette, bg: str = "panel") -> Row:
    """`width` empty cells as a row of one segment, or of none."""
    return [_segment(palette, bg, " " * width)] if width > 0 else []


def fit(row: Row, width: int, palette: Palette, bg: str = "panel") -> Row:
    """The row cropped or padded to exactly `width` cells."""
    used = row_width(row)
    if used > width:
        row = crop(row, width)
        used = row_width(row)
    return [*row, *blank(width - used, palette, bg)]


def row_width(row: Iterable[Segment]) -> int:
    text = "".join([text for text, _, _ in row])
    return len(text) if text.isascii() else cell_len(text)


def crop(row: Row, width: int) -> Row:
    """The row in at most `width` cells, its last one `…` where something had to go."""
    if row_width(row) <= width:
        return row
    kept: Row = []
    for segment in row:
        size = cell_len(segment.text)
        if size < width:
            kept.append(segment)
            width -= size
        else:
            return [*kept, Segment(cut(segment.text + ELLIPSIS, width), segment.style)]
    return kept


def cut(text: str, width: int, keep: Literal["head", "tail"] = "head") -> str:
    """At most `width` cells of clean text; a sentence keeps its head, a name its tail."""
    size = cell_len(text)
    if size <= width:
        return text
    if width <= 0:
        return ""
    if keep == "head":
        return split_text(text, width - 1)[0].rstrip() + ELLIPSIS
    return ELLIPSIS + split_text(text, size - width + 1)[1].lstrip()


def pad(text: str, width: int, align: Literal["left", "right"] = "left") -> str:
    """Clean text in exactly `width` cells, cut if it is longer."""
    text = cut(text, width)
    space = " " * (width - cell_len(text))
    return text + space if align == "left" else space + text


def clean(text: str) -> str:
    """The text with a visible sign for every character that controls a terminal or has no width of its own."""
    return text if text.isascii() and text.isprintable() else _clean(text)


@lru_cache(4096)
def _clean(text: str) -> str:
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code, category = ord(character), unicodedata.category(character)
    if code < 0x20:
        return chr(0x2400 + code)  # ␛ for escape, ␊ for a line feed
    if code == 0x7F:
        return "␡"
    if category == "Mn" and unicodedata.name(character, "").startswith("VARIATION SELECTOR"):
        return ""  # terminals disagree on whether it widens its neighbour
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return "�"
    return character
