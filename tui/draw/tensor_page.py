"""The tensor panel as one pure function: what is selected and how it is looked at in, finished rows out.

A wide page has statistics above the map, numbers and histogram below it and thumbnails beside it; a narrow one has
the statistics in a column and reads the cell out in its last row; a very wide one shows value and gradient.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from glassllm.debug.snapshot import Snapshot
from tui.draw import curves, numbers
from tui.draw import tensor_words as words
from tui.draw.contributions import draw_contributions
from tui.draw.draft import Draft, counts_once, shown_gradient, shown_value
from tui.draw.heatmap import Fit
from tui.draw.number_rows import draw_numbers, draw_table
from tui.draw.palette import Palette
from tui.draw.plane import Cell, PanelState, Plane, clamp, plane_of
from tui.draw.scale import Codes, Scale
from tui.draw.tensor_map import (
    LABELS,
    Shown,
    Spot,
    draw_axis,
    draw_column_labels,
    draw_map,
    draw_thumbnail_strip,
    draw_thumbnails,
    fit_shown,
    label_width,
    sizes_for,
    wrap_for,
)
from tui.draw.text import Row, Span, text_row

WIDE = 70  # columns, with
TALL = 28  # rows, from which statistics stand above the map
PAIR = 110  # columns from which value and gradient stand side by side
STATS = 16  # columns of the statistics beside a map; 13 are enough
SLICES = 4096  # beyond so many slices there are no thumbnails


@dataclass(frozen=True, slots=True)
class TensorPage:
    """Rows to show, and what tests and the mouse need to know about them."""

    rows: tuple[Row, ...]
    cell: Cell
    """The state's cell, moved into this tensor."""
    plane: Plane | None
    """The main map's plane; None for a scalar or an empty tensor."""
    scales: tuple[tuple[str, Scale], ...]
    codes: tuple[tuple[str, Codes], ...]
    spots: tuple[Spot, ...]
    tabs: tuple[tuple[str, str, int], ...]

    def cell_at(self, x: int, y: int) -> Cell | None:
        """The cell drawn at a position, in the tensor's axes; on a thumbnail the cell of that slice."""
        return next((cell for spot in self.spots if (cell := spot.at(x, y)) is not None), None)

    def tab_at(self, x: int, y: int) -> str | None:
        if y != 1:
            return None
        return next((tab for tab, label, start in self.tabs if start <= x < start + len(label)), None)


def tensor_page(snapshot: Snapshot, state: PanelState, width: int, height: int, palette: Palette) -> TensorPage:
    """The page at exactly width×height cells."""
    draft = Draft(snapshot, state, width, height, palette)
    focus, canvas = draft.focus, draft.canvas
    canvas.put(0, 0, words.title_row(snapshot, state, width, palette))
    words.draw_tabs(canvas, 1, state, focus.state)
    if state.tab == "contributions":
        draw_contributions(draft, width >= WIDE and height >= TALL)
    elif width >= PAIR and height >= TALL:
        half = (width - 1) // 2
        draw_body(draft, shown_value(draft), 0, half, heading=True)
        draw_body(draft, shown_gradient(draft), half + 1, width - half - 1, heading=True)
    else:
        draw_body(draft, shown_gradient(draft) if state.tab == "gradient" else shown_value(draft), 0, width)
    return TensorPage(
        canvas.rows(),
        clamp(state.cell, focus.value.shape),
        draft.plane,
        tuple(draft.scales.items()),
        tuple(draft.codes.items()),
        tuple(draft.spots),
        tuple(words.tab_places(state, focus.state, width)),
    )


def draw_body(draft: Draft, what: Shown, x: int, width: int, heading: bool = False) -> None:
    """Everything below the tabs, in the columns from x to x + width."""
    if heading:
        draft.canvas.words(x + 1, 2, [Span(what.name, "bright", bold=True), Span(f"   {what.note}", "bwd")])
    if what.array.ndim == 0:
        draw_scalar(draft, what, x, width)
    elif what.array.size == 0:
        draft.canvas.words(x + 1, 3, words.health_words(what.array, what.health))
        draft.canvas.words(x + 1, 5, [Span("empty: no cells", "muted")])
    elif width >= WIDE and draft.canvas.height >= TALL:
        draw_wide(draft, what, x, width, heading)
    else:
        draw_narrow(draft, what, x, width, heading)


def draw_scalar(draft: Draft, what: Shown, x: int, width: int) -> None:
    """A single number, in full or in the form asked for."""
    canvas = draft.canvas
    facts = _facts(what)
    fits = sum(len(span.text) for span in facts) < width
    canvas.words(x + 1, min(3, canvas.height - 2), facts if fits else facts[:2])
    y = min(5, canvas.height - 1)
    if what.why_not:
        canvas.words(x + 1, y, [Span(what.why_not, "muted")])
        return
    value, how = what.array[()], draft.state.format
    is_number = bool(np.isfinite(value))
    if not how.is_usual:
        text = numbers.formatted(value, how)
    else:
        text = numbers.with_minus(str(value)) if is_number else numbers.special(float(value))
    number = Span(text, "bright" if is_number else "nanfg", bold=True, bg=None if is_number else "nan")
    note = [Span(f"   {what.note}", "bwd")] if what.note else []
    canvas.words(x + 1, y, [Span(f"{what.name}   ", "muted"), number, *note])


def _facts(what: Shown) -> list[Span]:
    """Shape and moments, or only the shape where there is no number."""
    facts = words.health_words(what.array, what.health)
    return facts[:2] if what.why_not else facts


def draw_wide(draft: Draft, what: Shown, x: int, width: int, heading: bool) -> None:
    """Statistics, axes, the map with labels and numbers, histogram and legend; thumbnails at the right."""
    canvas, focus, state = draft.canvas, draft.focus, draft.state
    left, right, top = x + 1, x + width - 1, 7
    labels = label_width(focus, _any_plane(what, state), wide=True)
    room = right - left - labels - 1
    height = canvas.height - top - 3
    stack, sizes = draft.palette.stack, sizes_for(state.format, draft.palette)
    plane = plane_of(what.array, what.masked, state, wrap_for(what.array, room, height - 3, stack, sizes))
    fit = fit_shown(plane, room, height, True, stack, sizes)
    canvas.words(left, 3, _facts(what))
    if what.health is not None and not what.why_not:
        canvas.put(left, 4, words.share_words(what.health, draft.palette))
    note = [] if heading or not what.note else [Span(f"{what.note}   ", "bwd")]
    spare = right - left - sum(len(span.text) for span in note)
    canvas.words(left, 5, note, words.axis_words(focus, plane, fit, state, spare))
    map_x, map_y = left + labels + 1, top + LABELS[fit.size]
    draw_column_labels(canvas, map_x, top, focus, plane, fit)
    _map(draft, what, left, map_y, labels, plane, fit)
    below = map_y + fit.lines
    if fit.size == "small":
        draw_axis(canvas, map_x, below, focus, plane, fit)
        below += 1
    if what.why_not:
        return
    if not state.format.is_usual:
        cell = Span(f"{words.place_text(plane)}  ", "muted")
        canvas.words_right(right, 2, [cell, words.value_word(what.array, plane, state.format)])
    spare = canvas.height - below - 5
    has_table = fit.size == "small" and spare >= 4
    factor = 0
    if has_table:
        height = min(spare, plane.values.shape[0] + 1)
        draw_table(canvas, left, below + 4, labels, focus, plane, room, height, state.format)
    elif fit.size != "medium" or not state.format.is_usual:
        factor = draw_numbers(canvas, left, below, labels, focus, plane, fit, room, state.format)
    thumbs = min(plane.values.shape[1], right - map_x - fit.width - 4)
    lowest = 0
    if _slices(plane) > 1 and thumbs >= min(8, plane.values.shape[1]):
        spots = draw_thumbnails(
            canvas, right - thumbs - 2, top, thumbs + 2, canvas.height - top - 2, what, state, draft.accent
        )
        draft.spots += spots
        lowest = max(spot.y + spot.fit.lines for spot in spots)
    draw_distribution(draft, what, left, below + 1, max(labels, factor), right, lowest)


def _slices(plane: Plane) -> int:
    """How many slices there are, 1 where they are too many to show."""
    count = int(np.prod([plane.shape[axis] for axis in plane.held], dtype=np.int64))
    return count if count <= SLICES else 1


def _any_plane(what: Shown, state: PanelState) -> Plane:
    return plane_of(what.array, what.masked, state, 64)


def _map(draft: Draft, what: Shown, x: int, y: int, labels: int, plane: Plane, fit: Fit) -> None:
    how = draft.state.format
    codes = draw_map(draft.canvas, x, y, labels, draft.focus, what, plane, fit, draft.accent, how)
    if codes is not None:
        draft.codes[what.name] = codes
    draft.spots.append(Spot(x + labels + 1, y, fit, plane))
    if draft.plane is None or what.name == draft.state.tab:
        draft.plane = plane


def draw_distribution(draft: Draft, what: Shown, x: int, y: int, labels: int, right: int, lowest: int) -> None:
    """The histogram, two rows; the legend beside its lower one, or under the thumbnails."""
    canvas, scale = draft.canvas, what.scale
    counts = counts_once(what.array, what.masked, scale, 24)
    canvas.block(x + labels + 1, y, curves.histogram_rows(counts, scale, draft.palette))
    canvas.words(x, y + 1, [Span("count", "muted")])
    canvas.put(right - 39, max(y + 1, lowest), curves.legend_row(scale, clipped(what), draft.palette))


def clipped(what: Shown) -> str:
    """`+`, `-` or `±` where values lie beyond the scale."""
    if what.health is None:
        return ""
    above, below = what.health.max > what.scale.limit, what.health.min < what.scale.low
    return "±" if above and below else "+" if above else "-" if below else ""


def draw_narrow(draft: Draft, what: Shown, x: int, width: int, heading: bool) -> None:
    """The map at the left, statistics in a column at its right or, if it is too wide for that, in a line above."""
    canvas, focus, state = draft.canvas, draft.focus, draft.state
    left, right, bottom = x + 1, x + width - 1, canvas.height - 1
    labels = label_width(focus, _any_plane(what, state), wide=False)
    map_x = left + labels + 1
    beside = right - map_x - 13 - 1
    stack, sizes = draft.palette.stack, sizes_for(state.format, draft.palette)
    height = bottom - 4
    columns = min(what.array.shape[-1], 16) if what.array.ndim == 1 else _any_plane(what, state).values.shape[1]
    where: Literal["beside", "above"] = "beside" if columns <= beside and not what.why_not else "above"
    room = beside if where == "beside" else right - map_x
    if where == "above":
        height -= 2
    plane = plane_of(what.array, what.masked, state, wrap_for(what.array, room, height, stack, sizes))
    fit = fit_shown(plane, room, max(height, 1), False, stack, sizes)
    head = 2 if canvas.height < 14 else 3
    spare = bottom - head - 1 - fit.lines - (2 if where == "above" else 0)
    axes_room = right - left if where == "above" or spare >= 8 else right - STATS - left - 2
    if where == "above":
        facts = words.health_lines(what.array, what.health, right - left, bool(what.why_not))[: 1 + (spare >= 0)]
        for line in facts:
            canvas.words(left, head, line)
            head += 1
    canvas.words(left, head, words.axis_words(focus, plane, fit, state, axes_room))
    top = head + 1
    if fit.size == "large" or (fit.size == "medium" and spare >= 3):
        top += 2
        draw_column_labels(canvas, map_x, top - (2 if fit.size == "large" else 1), focus, plane, fit)
    _map(draft, what, left, top, labels, plane, fit)
    below = top + fit.lines
    if fit.size == "small" and below < bottom:
        draw_axis(canvas, map_x, below, focus, plane, fit)
        below += 1
    if what.why_not:
        return
    free = bottom - below - 1
    if fit.size == "small" and where == "above" and free >= 3:
        height = min(free - 1, len(plane.values) + 1)
        draw_table(canvas, left, below + 1, labels, focus, plane, room, height, state.format)
    elif free >= 1 and (fit.size != "medium" or not state.format.is_usual):
        draw_numbers(canvas, left, below, labels, focus, plane, fit, room, state.format)
    start, column_end = right, top
    if where == "beside":
        start = max(map_x + fit.width + 1, right - STATS)
        column_end = draw_column(draft, what, start, top if spare >= 8 else head, right - start, bottom)
    lines = -(-plane.values.shape[0] // 2)
    y = bottom - 1 - lines
    if spare >= lines + 3 and y > below + 1 and _slices(plane) > 1:  # two rows for numbers and their exponent
        end = right if column_end < y else start - 2
        draft.spots += draw_thumbnail_strip(canvas, left + 2, y, end - left - 2, lines, what, state, draft.accent)
    note = "" if heading else what.note.partition(",")[0]
    canvas.words(left, bottom, words.readout_words(focus, what.array, plane, right - left + 1, state.format, note))


def draw_column(draft: Draft, what: Shown, x: int, y: int, width: int, bottom: int) -> int:
    """Statistics, histogram, ramp and its ends under each other, as far as there is room; the row below them."""
    canvas, palette, scale = draft.canvas, draft.palette, what.scale
    pieces: list[Row] = words.health_column(what.array, what.health, width, palette)
    if what.health is not None:
        counts = counts_once(what.array, what.masked, scale, width)
        low, high = numbers.stat(scale.low, 2), numbers.stat(scale.limit, 2)
        sign = f" {clipped(what)}".rstrip()
        if len(low) + 1 + len(high + sign) > width and scale.low == -scale.limit:
            low, high = "", f"±{high}"
        pieces += [[], *curves.histogram_rows(counts, scale, palette), []]
        pieces.append(curves.ramp_row(scale, palette, width))
        pieces.append(text_row([Span(low, "muted")], width, palette, right=[Span(high + sign, "muted")]))
    shown = pieces[: max(0, bottom - y)]
    canvas.block(x, y, shown)
    return y + len(shown)
