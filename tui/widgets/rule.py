"""The rule rows: the selected op's formula in the direction of time, and the same with the cell's numbers."""

import re
from collections.abc import Iterable

from rich.cells import cell_len

from glassllm.debug.explain.rule import RuleLines, rule_lines
from glassllm.debug.snapshot import Focus, Snapshot
from tui.draw import glyphs, numbers
from tui.draw.formats import USUAL, Format
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, clean, fit, segments, text_row

from .page import Page

Cell = tuple[int, ...]
LEAD = re.compile(r"^(= |.*?(?:gets|\+=) )?.*(= .*)$")
"""What a part of the numbers begins with, and its result."""

HEAD = 23
"""Columns of name or coordinates before formula and numbers, more where they are longer."""
OTHER = len("backward  ")
"""Columns of the words before the other direction's formula; its numbers stand under the formula."""


def rule_rows(
    snapshot: Snapshot,
    cell: Cell | None,
    split: int,
    width: int,
    count: int,
    palette: Palette,
    how: Format = USUAL,
) -> list[Row]:
    """`count` rows, 1 or 2; where there are two, the other direction of time stands from column `split` on."""
    cell = cell if snapshot.focus.value.ndim else ()
    rule = rule_lines(snapshot.focus, cell, numbers.pen_of(how))
    is_back = snapshot.position.traversal > 0
    here, there = (rule.backward, rule.forward) if is_back else (rule.forward, rule.backward)
    worked = rule.gradients if is_back else rule.numbers
    name = [Span(f" {rule.name}", "bright", bold=True), Span(f" {rule.words}", "muted")]
    if count < 2:
        short = [name[0], Span("  "), Span(here), Span("  ")]
        return [text_row([*short, Span(brief(worked, width - wide(short)), "muted")], width, palette, "bg")]
    other = [Span("forward   " if is_back else "backward  ", "muted"), Span(there)]
    where = [] if cell is None else _where(snapshot.focus, cell)
    start = max(HEAD, wide(name) + 3, wide(where) + 3)
    top = columns([*padded(name, start), Span(here)], other, split, width, palette)
    if cell is None:
        return [top, text_row([], width, palette, "bg")]
    worked = shortened(worked, width - start - 1) or _waiting(rule, is_back, snapshot.focus.state.is_final)
    left = [*padded(where, start), *_worked(worked)]
    if rule.rank and not is_back:
        left.append(Span(f"     {rule.rank}", "muted"))
    return [top, columns(left, _other_number(snapshot, rule, is_back), split + OTHER, width, palette)]


def _where(focus: Focus, cell: Cell) -> list[Span]:
    if not cell:
        return [Span(" a scalar", "muted")]
    words = clean(cell_words(focus, cell))
    return [Span(f" {numbers.coordinates(cell)}", "bright", bold=True), Span(f"  {words}", "muted")]


def shortened(worked: str, room: int) -> str:
    """The numbers in `room` cells: where they need more, each part leaves its working out and keeps its result."""
    if cell_len(worked) <= room:
        return worked
    return "   ".join(LEAD.sub(r"\1… \2", part) for part in worked.split("   "))


def brief(worked: str, room: int) -> str:
    """The numbers in `room` cells, none cut: all of them, the results alone, a single result alone, or nothing."""
    single = "" if "   " in worked else "= " + worked.rpartition("= ")[2]
    return next((text for text in (worked, shortened(worked, room), single) if cell_len(text) <= room), "")


def _worked(text: str) -> list[Span]:
    """The numbers, with the result after the last equals sign in bright."""
    head, equals, result = text.rpartition("= ")
    return [Span(head + equals), Span(result, "bright", bold=bool(equals))]


def _waiting(rule: RuleLines, is_back: bool, is_final: bool) -> str:
    if rule.gradient:
        return f"= {rule.gradient}" if is_final else f"{rule.gradient} so far"
    return "not reached: no number here yet" if is_back else ""


def _other_number(snapshot: Snapshot, rule: RuleLines, is_back: bool) -> list[Span]:
    if is_back:
        own = [Span("gradient ", "muted"), Span(f"{rule.gradient}   ")] if rule.gradients else []
        value = rule.value if snapshot.focus.recorded else ""
        return [*own, Span("value ", "muted"), Span(value)]
    state = snapshot.focus.state
    glyph, fg = glyphs.gradient_glyph(state)
    words = rule.gradient or ("takes no gradient" if not state.takes else "not reached")
    return [Span(f"{words}  ", "text" if rule.gradient else "muted"), Span(glyph, fg)]


def wide(words: Iterable[Span]) -> int:
    return sum(cell_len(word.text) for word in words)


def padded(words: list[Span], width: int) -> list[Span]:
    """The words and spaces up to `width`, so that formulas and numbers begin in the same column."""
    return [*words, Span(" " * (width - wide(words)))]


def columns(left: list[Span], right: list[Span], split: int, width: int, palette: Palette) -> Row:
    """Two columns; where the left one needs more, the right one goes to the end of the row, or goes."""
    if wide(left) >= split:
        rest = [*right, Span(" ")] if wide(left) + 2 + wide(right) < width else []
        return text_row(left, width, palette, "bg", rest)
    return fit([*fit(segments(left, palette, "bg"), split, palette, "bg"), *segments(right, palette, "bg")],
               width, palette, "bg")  # fmt: skip


def cell_words(focus: Focus, cell: Cell) -> str:
    """`fox → small` where both axes are labelled, `fox, channel 17` where one is; nothing of nameless axes."""
    named = []
    for axis, i in zip(focus.axes, cell, strict=False):
        if axis.labels and i < len(axis.labels):
            named.append((axis.labels[i].strip(" ▁·") or axis.labels[i], True))
        elif len(cell) <= 2 and not axis.name.startswith("axis "):
            named.append((f"{axis.name} {i}", False))
    last = named[-2:]
    return (" → " if len(last) == 2 and all(known for _, known in last) else ", ").join(text for text, _ in last)


class RulePanel(Page):
    """The rule rows."""

    def __init__(self, palette: Palette):
        super().__init__(palette, "bg", id="rule")

    def draw(self, snapshot: Snapshot, cell: Cell | None, split: int, how: Format = USUAL) -> None:
        width, height = self.size
        if width and height:
            self.show(rule_rows(snapshot, cell, split, width, height, self.palette, how))
