"""The event pane: one event of the token that is computed, its equation, what it is for, and its value."""

from textwrap import wrap

import numpy as np

from glassllm.generation import Moment, Written
from tui.draw import numbers
from tui.draw.heatmap import Fit, fit_plane, map_rows, shown_codes
from tui.draw.palette import Palette
from tui.draw.plane import Plane
from tui.draw.scale import scale_of
from tui.draw.text import Span, cut, pad

from .axis import CELL, STAGGER, name_columns
from .choice import Choice
from .plane import Part, axes_words, part_of
from .seen import seen_words
from .spots import Sketch

NAMED_FROM = 8  # rows from which keys are named
LABEL = 6
STEP, NAMED = 6, 14  # columns of a number, of one with its name
WIDE = 50  # columns with room for more than the most needed


def event_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> Sketch:
    """The current event. Its value has no map where that is shown beside: probabilities, the token taken."""
    pane = Sketch(width, height, palette)
    moment = view.moment
    assert moment is not None
    draw_title(pane, view, moment)
    is_listed = moment.step in ("probs", "sample")
    meaning = wrap(moment.meaning, max(width - 2, 1))[: 1 if is_listed else 2]
    pane.words(1, 1, [Span(cut(moment.equation, width - 2), "bright")])
    for i, line in enumerate(meaning):
        pane.words(1, 2 + i, [Span(cut(line, width - 2), "muted")])
    top = 2 + len(meaning)
    if moment.step == "sample":
        pane.words(1, top, seen_words(view, choice, moment, width - 2))
        pane.words(1, top + 1, interval_words(view, width - 2))
        return pane
    below = [stat_words(moment, width - 2), seen_words(view, choice, moment, width - 2)]
    below = [words for words in below if words][: max(height - top, 0)]
    for i, words in enumerate(below):
        pane.words(1, height - len(below) + i, words)
    if not is_listed and height - top - len(below) > 2:
        part = part_of(view, choice, moment, width - LABEL - 3)
        end = draw_map(pane, part, moment, top + 1, height - top - 2 - len(below))
        draw_values(pane, part, end + 1, height - len(below) - 1)
    return pane


def draw_title(pane: Sketch, view: Written, moment: Moment) -> None:
    """Which event it is, and its shape; a long name keeps its tail."""
    name, scope = f"event {moment.number}", moment.scope.removeprefix("blocks.")
    fact = numbers.shape(moment.shape)
    if pane.width >= WIDE:
        name, scope = f"{name}/{view.events}", moment.scope
        fact += f" {numbers.dtype(moment.value.dtype)}"
    room = pane.width - len(fact) - len(name) - 6
    pane.title(name, cut(scope, room, "tail"), [Span(fact, "muted")], has_cursor=True)


def stat_words(moment: Moment, room: int) -> list[Span]:
    """`min −1.2   mean .01   max 2.3`, without the mean where it does not fit; NaN are counted."""
    value = moment.value.astype(np.float64)
    finite = value[np.isfinite(value)]
    faults = int(np.isnan(value).sum())
    words = [Span(f"× {numbers.count(faults)} NaN", "nanfg", bg="nan")] if faults else []
    if not finite.size:
        return words
    stats = {"min": finite.min(), "mean": finite.mean(), "max": finite.max()}
    for names in (("min", "mean", "max"), ("min", "max")):
        said = [*words]
        for name in names:
            gap = ("   " if room >= WIDE else "  ") if said else ""
            said += [Span(f"{gap}{name} ", "muted"), Span(numbers.stat(float(stats[name])))]
        if sum(len(span.text) for span in said) <= room:
            return said
    return words


def interval_words(view: Written, width: int) -> list[Span]:
    """From 0 to 1 the share of the token that was taken, and the number that fell into it."""
    if view.drawn is None or view.candidates is None or view.upcoming is None:
        return []
    found = view.candidates.of(view.upcoming)
    room = max(width - 4, 1)
    low, at, high = (min(int(x * room), room - 1) for x in (found.low, view.drawn, found.high))
    left, right = "━" * (at - low), "━" * (max(high, at) - at)
    return [Span("0 ", "faint"), Span("─" * low, "line"), Span(left, "fwd"), Span("┃", "bright", bold=True),
            Span(right, "fwd"), Span("─" * (room - 1 - max(high, at)), "line"), Span(" 1", "faint")]  # fmt: skip


def draw_map(pane: Sketch, part: Part, moment: Moment, top: int, room: int) -> int:
    """The plane in `room` rows from `top` on, its rows named at the left, the keys under their columns; above it
    what its axes count. The row behind it is returned."""
    plane, palette = part.plane, pane.palette
    left, width = LABEL + 2, pane.width - LABEL - 3
    has_names = bool(part.keys) and CELL * plane.values.shape[1] <= width and room >= NAMED_FROM
    fit = fit_plane(plane, width, room - STAGGER * has_names, palette.stack, ("medium", "small"))
    scale = scale_of(moment.value, np.isneginf(moment.value))  # of all heads and positions
    codes = shown_codes(plane, fit, scale, palette)
    axes, note = axes_words(moment), shown_words(plane, fit)
    pane.words_right(pane.width - 1, top - 1, [Span(note, "faint")])
    if not note or len(axes) + len(note) + 4 <= pane.width:
        pane.words(1, top - 1, [Span(cut(axes, pane.width - 2), "faint")])
    pane.block(left, top, map_rows(codes, fit, palette, scale.kind), fit.width)
    name_rows(pane, part, fit, top)
    if not has_names or fit.size != "medium":
        return top + fit.lines
    name_columns(pane, part.keys, left, top + fit.lines)
    return top + fit.lines + STAGGER


def name_rows(pane: Sketch, part: Part, fit: Fit, top: int) -> None:
    for row in range(0, fit.shown[0], fit.per_line):
        at = (fit.first[0] + row) * fit.pool[0]
        is_chosen = part.chosen is not None and at <= part.chosen < at + fit.pool[0] * fit.per_line
        label = pad(cut(part.rows[at], LABEL), LABEL, "right")
        pane.words(1, top + fit.line(row), [Span(label, "bright" if is_chosen else "muted", bold=is_chosen)])


def shown_words(plane: Plane, fit: Fit) -> str:
    """How many values are one cell; of a vector too long for the map, which are shown."""
    cells = fit.pool[0] * fit.pool[1]
    if plane.wrap and fit.shown[0] < len(plane.values):
        first = fit.first[0] * plane.wrap
        last = min(first + fit.shown[0] * plane.wrap, plane.shape[0]) - 1
        return f"{first} to {last} of {numbers.count(plane.shape[0])}"
    return f"{cells} in a cell, largest |x|" if cells > 1 else ""


def draw_values(pane: Sketch, part: Part, top: int, end: int) -> None:
    """The numbers of the chosen row, or of a whole vector: all in order, else the largest by their names."""
    if end - top < 2:
        return
    values, lines = part.values, end - top - 1
    texts, factor = numbers.row_numbers(values)
    texts = ["·" if np.isneginf(value) else text for value, text in zip(values, texts, strict=True)]
    ranked = np.argsort(-np.abs(np.where(np.isneginf(values), 0, values)), kind="stable").tolist()
    each, shown, words = NAMED if part.keys else STEP, range(len(values)), part.words
    if len(values) > lines * across(pane, each):
        each = NAMED
        shown = ranked[: lines * across(pane, each)]
        words += f", the {len(shown)} largest"
    pane.words(1, top, [Span(words), Span(f"   {factor}" if factor else "", "muted")])
    for place, i in enumerate(shown):
        line, column = divmod(place, across(pane, each))
        name = part.keys[i] if part.keys else str(i)
        label = [Span(pad(name, NAMED - STEP, "right"), "muted")] if each == NAMED else []
        tone = "bright" if i == ranked[0] else "text"
        number = Span(pad(texts[i], STEP - 1, "right"), tone, bold=tone == "bright")
        pane.words(1 + column * each, top + 1 + line, [*label, number])


def across(pane: Sketch, each: int) -> int:
    """Numbers in a line."""
    return max((pane.width - 2) // each, 1)
