"""The cells of a map: what each code looks like at each size, as rows of segments.

Where a ground can be painted, a cell is its colour. Where none can, it is a shade with the sign in front, and a
large cell has its number below.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from tui.draw import scale as codes_of
from tui.draw.colors import Ramp
from tui.draw.palette import Palette, paint
from tui.draw.scale import Codes
from tui.draw.text import Row

Size = Literal["large", "medium", "small"]
CELL: dict[Size, tuple[int, int]] = {"large": (4, 2), "medium": (2, 1), "small": (1, 1)}  # columns, lines
GLYPHS = ("×", "▲", "▼", "·", "·", "·", " ")  # in the order of the special codes
Numbers = Sequence[Sequence[str]]
"""A text for each cell of a map, empty where there is nothing to say."""


def levels(palette: Palette, kind: Ramp) -> int:
    """Steps of the palette's ramp."""
    return len(palette.inks(kind))


def glyph_of(palette: Palette, special: int) -> str:
    """The sign of a special code, counted from `levels` on."""
    return palette.spell(GLYPHS[special], "nanfg")


def _special_style(palette: Palette, special: int, is_cursor: bool) -> Style:
    if special <= codes_of.MINUS_INF:
        return palette.nan
    return palette.style("bright" if is_cursor else "line", "panel", bold=is_cursor)


def _joined(pieces: Iterable[Segment]) -> Row:
    """Neighbours in one style become one segment."""
    row: Row = []
    for piece in pieces:
        if row and row[-1].style is piece.style:
            row[-1] = Segment(row[-1].text + piece.text, piece.style)
        else:
            row.append(piece)
    return row


# Large and medium, tinted


def tinted_rows(
    codes: Codes, size: Size, palette: Palette, kind: Ramp, cursor: tuple[int, int] | None
) -> list[Row]:
    """Cells on their colour; the cursor's in corner brackets."""
    rows: list[Row] = []
    for i, (code, beyond) in enumerate(zip(codes.code.tolist(), codes.beyond.tolist(), strict=True)):
        at = cursor[1] if cursor and cursor[0] == i else -1
        for line in range(CELL[size][1]):
            rows.append(_joined(_tinted(palette, kind, size, line, c, b, j == at)
                                for j, (c, b) in enumerate(zip(code, beyond, strict=True))))  # fmt: skip
    return rows


@lru_cache(1 << 14)
def _tinted(
    palette: Palette, kind: Ramp, size: Size, line: int, code: int, beyond: int, is_cursor: bool
) -> Segment:
    """One line of one cell: glyph, mark beyond the scale, and the cursor's brackets."""
    special = code - levels(palette, kind)
    text = list(" " * CELL[size][0])
    if line == 0:
        if special >= 0:
            text[size == "large"] = glyph_of(palette, special)
        elif beyond:
            text[-1] = "+" if beyond > 0 else "-"
    if is_cursor:
        brackets = "[]" if size == "medium" else palette.marks.corners[line]
        text[0], text[-1] = brackets[0], brackets[1]
    if special >= 0:
        return Segment("".join(text), _special_style(palette, special, is_cursor))
    return Segment("".join(text), palette.on(palette.ramp(kind)[code], bold=is_cursor))


# Large and medium, shaded


def shaded_rows(
    codes: Codes,
    size: Size,
    palette: Palette,
    kind: Ramp,
    cursor: tuple[int, int] | None,
    numbers: Numbers | None,
) -> list[Row]:
    """Cells as shades; under large ones their numbers, the cursor's underlined and pointed at."""
    rows: list[Row] = []
    for i, (code, beyond) in enumerate(zip(codes.code.tolist(), codes.beyond.tolist(), strict=True)):
        at = cursor[1] if cursor and cursor[0] == i else -1
        rows.append(_joined(piece for j, (c, b) in enumerate(zip(code, beyond, strict=True))
                            for piece in _shaded(palette, kind, size, c, b, j == at)))  # fmt: skip
        if size == "large":
            texts = numbers[i] if numbers is not None else [""] * len(code)
            rows.append(
                _joined(piece for j, text in enumerate(texts) for piece in _number(palette, text, j == at))
            )
    return rows


@lru_cache(1 << 12)
def _shaded(
    palette: Palette, kind: Ramp, size: Size, code: int, beyond: int, is_cursor: bool
) -> tuple[Segment, ...]:
    """The upper line of one cell: in 4 columns three of shade and a gap, in 2 columns sign and shade.

    The last of these is the mark of a value beyond the scale.
    """
    special = code - levels(palette, kind)
    bright = palette.style("bright", bold=True)
    if size == "medium" and is_cursor:
        is_fault = 0 <= special <= codes_of.MINUS_INF
        return (Segment("[]", palette.nan if is_fault else bright),)
    wide = 3 if size == "large" else 2
    gap = (Segment(palette.marks.behind if is_cursor else " ", bright if is_cursor else palette.style()),)
    if special >= 0:
        text, style = glyph_of(palette, special).center(wide), _special_style(palette, special, is_cursor)
    else:
        ink = palette.inks(kind)[code]
        text, style = (ink.sign + ink.glyph * wide)[:wide], ink.style
        text = text[:-1] + ("+" if beyond > 0 else "-") if beyond else text
    return (Segment(text, style), *(gap if size == "large" else ()))


def _number(palette: Palette, text: str, is_cursor: bool) -> tuple[Segment, ...]:
    text = text[: CELL["large"][0]]
    style = palette.style("bright", bold=True, underline=True) if is_cursor else palette.style()
    return (Segment(text, style), Segment(" " * (CELL["large"][0] - len(text)), palette.style()))


# Small


def small_rows(code: NDArray[np.uint8], palette: Palette, kind: Ramp) -> list[Row]:
    """One character a column: as many rows of codes as the palette stacks in one."""
    return list(_small_rows(code.tobytes(), code.shape, palette, kind))


@lru_cache(64)  # while the cursor moves over a map, the map stays the same
def _small_rows(codes: bytes, shape: tuple[int, ...], palette: Palette, kind: Ramp) -> list[Row]:
    code = np.frombuffer(codes, np.uint8).reshape(shape)
    if palette.stack == 1:
        return _looked_up(code, _singles(palette, kind))
    every = levels(palette, kind) + codes_of.SPECIAL
    if shape[0] % 2:
        code = np.pad(code, ((0, 1), (0, 0)), constant_values=levels(palette, kind) + codes_of.OUTSIDE)
    pairs = code[0::2].astype(np.intp) * every + code[1::2]
    table = _half_blocks(palette, kind)
    for pair in np.flatnonzero(np.bincount(pairs.ravel())).tolist():
        if table[pair] is None:
            table[pair] = _half_block(palette, kind, *divmod(pair, every))
    return _looked_up(pairs, table)


def _looked_up(codes: NDArray[np.integer], table: NDArray[np.object_]) -> list[Row]:
    """Lines of segments from a table, equal neighbours as one."""
    begins = np.ones(codes.shape, bool)  # whether a run does
    begins[:, 1:] = codes[:, 1:] != codes[:, :-1]
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=codes.size).tolist()
    pieces: Row = table[codes.ravel()[starts]].tolist()
    runs = [piece if n == 1 else Segment(piece.text * n, piece.style)
            for piece, n in zip(pieces, lengths, strict=True)]  # fmt: skip
    ends = begins.sum(axis=1).cumsum().tolist()
    return [runs[first:end] for first, end in pairwise([0, *ends])]


@cache
def _singles(palette: Palette, kind: Ramp) -> NDArray[np.object_]:
    """One segment for every code."""
    table = [Segment(ink.glyph, ink.alone) for ink in palette.inks(kind)]
    table += [
        Segment(glyph_of(palette, special), _special_style(palette, special, False))
        for special in range(codes_of.SPECIAL)
    ]
    found = np.empty(len(table), object)
    found[:] = table
    return found


@cache
def _half_blocks(palette: Palette, kind: Ramp) -> NDArray[np.object_]:
    """One segment for every pair of codes, upper × all + lower; made when first needed, None until then."""
    return np.full((levels(palette, kind) + codes_of.SPECIAL) ** 2, None, object)


def _half_block(palette: Palette, kind: Ramp, upper: int, lower: int) -> Segment:
    """Two cells in one character; where one is NaN or Inf, it has the whole character."""
    for code in (upper, lower):
        special = code - levels(palette, kind)
        if 0 <= special <= codes_of.MINUS_INF:
            return Segment(glyph_of(palette, special), palette.nan)
    above, below = _ground(palette, kind, upper), _ground(palette, kind, lower)
    if above == below:
        return Segment(" ", paint(palette.color("text"), above))
    return Segment("▀", paint(above, below))


def _ground(palette: Palette, kind: Ramp, code: int) -> Color:
    ramp = palette.ramp(kind)
    return ramp[code] if code < len(ramp) else palette.color("panel")
