"""The contributions to a gradient: who sent what by which way, each as a small map, and their sum so far."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassllm.debug.health import norm_of
from glassllm.debug.snapshot import Contribution, Focus, Row, Snapshot
from tui.draw import curves, glyphs, numbers
from tui.draw import tensor_words as words
from tui.draw.draft import Draft, scale_once
from tui.draw.formats import Format
from tui.draw.heatmap import Fit, fit_plane
from tui.draw.numbers import Array
from tui.draw.plane import Plane, clamp, plane_of
from tui.draw.scale import Scale
from tui.draw.tensor_map import Shown, Spot, draw_axis, draw_map, label_width, wrap_for
from tui.draw.text import Span, Words, cut, pad

NOT_REACHED = "○ not reached: no number here yet"
MANY = 64  # contributions beyond which only some are looked at
LISTED = 8  # contributions named in the table; the rest are counted


@dataclass(frozen=True, slots=True)
class Part:
    """One contribution, or the sum, as it is shown. `array` None: not delivered."""

    name: str
    way: str
    array: Array | None
    glyph: str
    token: str
    right: str
    """What stands at the right of its map's title."""


def draw_contributions(draft: Draft, wide: bool) -> None:
    """The whole tab below the row of tabs."""
    focus, canvas = draft.focus, draft.canvas
    if not focus.state.takes or not focus.contributions:
        canvas.words(1, min(3, canvas.height - 1), [Span(_nothing(focus), "muted")])
        return
    parts = [part_of(draft.snapshot, each) for each in looked_at(focus)]
    fresh = [scale_once(a, None, True) for p in parts if (a := p.array) is not None]
    if focus.gradient is not None:
        fresh.append(scale_once(focus.gradient, None, True))
    limit = max((scale.limit for scale in fresh), default=1.0)
    scale = draft.settle("contributions", Scale("diverging", limit))
    if wide:
        _draw_wide(draft, parts, scale)
    else:
        _draw_narrow(draft, parts, scale)


def looked_at(focus: Focus) -> Sequence[Contribution]:
    """The contributions; of very many those around the newest that has arrived."""
    if len(focus.contributions) <= MANY:
        return focus.contributions
    first = max(focus.state.delivered - LISTED + 2, 0)
    return focus.contributions[first : first + LISTED]


def _nothing(focus: Focus) -> str:
    return "takes no gradient" if not focus.state.takes else "nothing that was computed sends a gradient here"


def part_of(snapshot: Snapshot, sent: Contribution) -> Part:
    name = "seed" if sent.slot < 0 else name_of(snapshot, snapshot.tape.rows[sent.consumer])
    visit = f"visit {sent.visit}" if sent.visit is not None else "not visited yet"
    if sent.sent_none:
        return Part(name, f"{sent.words}, sent nothing", None, "–", "faint", visit)
    if sent.array is None:
        return Part(name, sent.words, None, "○", "faint", visit)
    return Part(name, sent.words, sent.array, "●", "bwd", visit)


def name_of(snapshot: Snapshot, row: Row) -> str:
    """`resid.ffn`, or scope and op within the block: `norm.ffn mul`."""
    if row.event >= 0:
        return snapshot.tape.events[row.event].step
    scope = row.scope.split(".")
    within = ".".join(scope[2:] if scope[0] == "blocks" else scope)
    return f"{within} {row.name}".strip()


def sum_of(focus: Focus) -> Part:
    state = focus.state
    glyph, token = glyphs.gradient_glyph(state)
    name = "sum" if state.is_final else "sum so far"
    return Part(name, "", focus.gradient, glyph, token, "final" if state.is_final else "not final")


def state_words(focus: Focus) -> list[Span]:
    """`waits for 1 of 2 consumers; the sum is not final`"""
    state = focus.state
    if state.is_final:
        return [Span("all ", "muted"), Span(str(state.edges), "bwd", bold=True),
                Span(" arrived; the sum is final", "muted")]  # fmt: skip
    rest = "; the sum is not final" if state.delivered else "; nothing has arrived"
    count = Span(f"{state.edges - state.delivered} of {state.edges}", "bwd", bold=True)
    return [Span("waits for ", "muted"), count, Span(f" contributions{rest}", "muted")]


def share_of(part: Array, whole: Array) -> float:
    """A contribution's share of the sum, ⟨part, sum⟩/‖sum‖²: all shares add up to 1, and one may be negative.

    NaN where either has a NaN or Inf.
    """
    if not (np.isfinite(part).all() and np.isfinite(whole).all()):
        return np.nan
    (a, by), (b, of) = _unscaled(part), _unscaled(whole)
    square = float(b @ b)
    with np.errstate(over="ignore"):
        return float(np.ldexp(float(a @ b) / square, by - of)) if square else 0.0


def _unscaled(array: Array) -> tuple[Array, int]:
    """The numbers in float64, the largest at most 1, and the exponent of 2 taken out: so no square overflows."""
    flat = array.astype(np.float64).ravel()
    exponent = int(np.frexp(np.abs(flat).max(initial=0))[1])
    return np.ldexp(flat, -exponent), exponent


def _draw_wide(draft: Draft, parts: list[Part], scale: Scale) -> None:
    canvas, focus = draft.canvas, draft.focus
    canvas.words(1, 3, words.health_words(focus.value, None)[:2], state_words(focus))
    _draw_table(draft, parts)
    if focus.value.ndim == 0 or not focus.value.size:
        return
    top = 5 + min(len(parts), LISTED) + 2
    room = canvas.width - 2 - 7
    height = canvas.height - top - 2
    lines, count = _share_out(draft, height, len(parts), room)
    gap = 1 if (count + 1) * (lines + 2) - 1 <= height else 0
    y = top
    for part in [*largest(parts, count), sum_of(focus)]:
        is_sum = part.name.startswith("sum")
        title = [] if is_sum else [Span("from ", "muted")]
        title.append(Span(part.name, "text" if part.array is not None else "muted"))
        title.append(Span(f" {_state(focus)}", "bwd") if is_sum else Span(f"  {part.way}", "muted"))
        canvas.words(8, y, title)
        canvas.words_right(canvas.width - 2, y, [Span(part.right, "bwd" if is_sum else "muted")])
        plane = _draw_part(draft, part, 1, y + 1, 6, room, lines, scale)
        y += lines + 1 + gap
    fit = _fit(draft, plane, room, lines)
    draw_axis(canvas, 8, y - gap, focus, plane, fit)
    canvas.words_right(canvas.width - 1, top - 1, [Span(words.pooled_words(focus, plane, fit), "muted")])
    groups = [*words.held_groups(focus, plane), [Span("scale ", "muted"), Span("shared")]]
    canvas.words(1, canvas.height - 1, words.fitting(groups, canvas.width - 42, 3))
    canvas.put(canvas.width - 40, canvas.height - 1, curves.legend_row(scale, _clipped(draft), draft.palette))


def largest(parts: list[Part], count: int) -> list[Part]:
    """The `count` parts worth a map, in order of arrival: the largest that arrived, then those awaited."""
    ranked = sorted(parts, key=lambda part: -1.0 if part.array is None else norm_of(part.array), reverse=True)
    return [part for part in parts if any(part is kept for kept in ranked[:count])]


def _clipped(draft: Draft) -> str:
    """The sign of what lies beyond the scale on any of the maps."""
    above = any((codes.beyond > 0).any() for codes in draft.codes.values())
    below = any((codes.beyond < 0).any() for codes in draft.codes.values())
    return "±" if above and below else "+" if above else "-" if below else ""


def _state(focus: Focus) -> str:
    return f"{glyphs.gradient_glyph(focus.state)[0]} {glyphs.of_edges(focus.state)}"


def _draw_table(draft: Draft, parts: list[Part]) -> None:
    """Consumer, way, norm, share of the sum and the cell, one contribution a row."""
    canvas, focus = draft.canvas, draft.focus
    end = canvas.width - 1
    name_width = 14 if canvas.width < 90 else 22
    cell = clamp(draft.state.cell, focus.value.shape)
    share_x = end - 12 - _cell_width(draft, 8)
    norm_end = share_x - 1
    ways = norm_end - 9 - (name_width + 4)
    canvas.words(3, 5, [Span(pad("consumer", name_width + 1) + "arrives by", "faint")])
    canvas.words_right(norm_end, 5, [Span("‖g‖", "faint")])
    canvas.words(share_x + 1, 5, [Span("share", "faint")])
    canvas.words_right(end, 5, [Span(words.cell_text(focus, cell), "faint")])
    listed = parts[:LISTED]
    norms = numbers.stats(None if part.array is None else norm_of(part.array) for part in listed)
    for i, part in enumerate(listed):
        y = 6 + i
        token = "text" if part.array is not None else "faint"
        canvas.words(
            1, y, [Span(part.glyph, part.token), Span(" "), Span(cut(part.name, name_width, "tail"), token)]
        )
        canvas.words(name_width + 4, y, [Span(cut(part.way, ways), "muted" if token == "text" else "faint")])
        canvas.words_right(norm_end, y, [Span(norms[i], "faint" if part.array is None else "text")])
        if part.array is None:
            canvas.words_right(end, y, [Span("not reached" if part.glyph == "○" else "none", "faint")])
            continue
        if focus.gradient is not None:
            share = share_of(part.array, focus.gradient)
            canvas.put(share_x + 1, y, curves.amount_row(abs(share), 4, draft.palette))
            canvas.words(share_x + 6, y, [Span(numbers.share(share))])
        canvas.words_right(end, y, _cell_words(part.array, cell, draft.state.format))
    if (more := len(focus.contributions) - LISTED) > 0:
        canvas.words(3, 6 + LISTED, [Span(f"and {more} more", "muted")])


def _cell_words(array: Array, cell: tuple[int, ...], how: Format, digits: int = 3) -> Words:
    """The cell's value: with few digits, or in the form asked for."""
    if not array.size:
        return []
    value = array[cell]
    is_number = bool(np.isfinite(value))
    if not how.is_usual:
        text = numbers.formatted(value, how)
    else:
        text = numbers.stat(float(value), digits, in_column=True)
    return [Span(text) if is_number else Span(text, "nanfg", bold=True, bg="nan")]


def _cell_width(draft: Draft, usual: int) -> int:
    """Columns for the cell's value: `usual` ones for few digits."""
    how = draft.state.format
    return usual if how.is_usual else max(how.columns(draft.focus.value.itemsize) - 1, usual)


def _share_out(draft: Draft, height: int, parts: int, room: int, undrawn: int = 0) -> tuple[int, int]:
    """Lines for each map, and how many contributions are drawn beside the sum.

    As many as can be shown without pooling rows, if that is at least two; else as many as get three lines. A part
    without a map takes `undrawn` lines, one with a map a line for its title.
    """
    whole = _fit(draft, _plane(draft, draft.focus.value, room), room, 1 << 16).lines
    lines = {n: (height - undrawn * (parts - n)) // (n + 1) - 1 for n in range(parts, -1, -1)}
    unpooled = [n for n in lines if lines[n] >= whole]
    legible = [n for n in lines if lines[n] >= min(3, whole)]
    count = unpooled[0] if unpooled and unpooled[0] >= min(2, parts) else max(legible, default=0)
    return max(1, min(whole, lines[count])), count


def _plane(draft: Draft, array: Array, room: int) -> Plane:
    return plane_of(array, None, draft.state, min(64, wrap_for(array, room, 1, draft.palette.stack)))


def _fit(draft: Draft, plane: Plane, room: int, lines: int) -> Fit:
    return fit_plane(plane, room, lines, draft.palette.stack, sizes=("small",))


def _draw_part(
    draft: Draft, part: Part, x: int, y: int, labels: int, room: int, lines: int, scale: Scale
) -> Plane:
    """One small map with its row labels; dots where nothing has arrived."""
    array = part.array
    why_not = "" if array is not None else NOT_REACHED if part.glyph != "–" else "– sent no gradient"
    if array is None:
        array = np.broadcast_to(np.zeros(()), draft.focus.value.shape)
    plane = _plane(draft, array, room)
    fit = _fit(draft, plane, room, lines)
    shown = Shown(part.name, array, None, scale, why_not=why_not)
    codes = draw_map(draft.canvas, x, y, labels, draft.focus, shown, plane, fit, draft.accent)
    if codes is not None:
        draft.codes[part.name] = codes
    draft.spots.append(Spot(x + labels + 1, y, fit, plane))
    draft.plane = plane
    return plane


def _draw_narrow(draft: Draft, parts: list[Part], scale: Scale) -> None:
    """Maps under each other with the cell's value at their right; what has no map is one line."""
    canvas, focus = draft.canvas, draft.focus
    if focus.value.ndim == 0 or not focus.value.size:
        for i, part in enumerate([*parts, sum_of(focus)]):
            _draw_part_line(draft, part, 2 + i)
        return
    labels = label_width(focus, _plane(draft, focus.value, 32), wide=False)
    room = max(1, canvas.width - 3 - labels - _cell_width(draft, 8))
    shown = [part for part in parts if part.array is not None]
    height = canvas.height - 2 - (len(parts) - len(shown))
    lines, count = _share_out(draft, height, len(shown), room, undrawn=1)
    whole = sum_of(focus)
    drawn = [*largest(shown, count), *([whole] if shown else [])]
    y = 2
    for part in [*parts, whole]:
        if y >= canvas.height:
            break
        _draw_part_line(draft, part, y)
        y += 1
        if any(part is each for each in drawn):
            plane = _draw_part(draft, part, 1, y, labels, room, lines, scale)
            fit = _fit(draft, plane, room, lines)
            _draw_cell(draft, part, y, y + fit.line(fit.place(plane.row, plane.column)[0]), fit.lines)
            y += fit.lines
    if shown and y < canvas.height:
        draw_axis(canvas, labels + 2, y, focus, plane, fit)
        groups = [*words.held_groups(focus, plane), [Span(words.pooled_words(focus, plane, fit), "muted")]]
        canvas.words(1, y + 1, words.fitting(groups, canvas.width - 2, 2))


def _draw_part_line(draft: Draft, part: Part, y: int) -> None:
    """State, name, way and norm of one part."""
    canvas, state = draft.canvas, draft.focus.state
    end = canvas.width - 1
    token = "text" if part.array is not None else "faint"
    is_sum = part.name.startswith("sum")
    way = f"{state.delivered} of {state.edges}, {part.right}" if is_sum else part.way
    name = [Span(part.glyph, part.token), Span(f" {cut(part.name, 16, 'tail')}  ", token)]
    norm = [] if part.array is None else [Span("‖g‖ ", "muted"), Span(numbers.stat(norm_of(part.array)))]
    room = end - 2 - sum(len(span.text) for span in [*name, *norm])
    canvas.words(1, y, name, [Span(cut(way, room), "bwd" if is_sum else "muted")])
    canvas.words_right(end, y, norm)


def _draw_cell(draft: Draft, part: Part, top: int, y: int, lines: int) -> None:
    """The cell's value at the right of a map, on the cursor's line, and its coordinates beside it."""
    canvas, focus = draft.canvas, draft.focus
    cell = clamp(draft.state.cell, focus.value.shape)
    if part.array is None:
        return
    canvas.words_right(canvas.width - 1, y, _cell_words(part.array, cell, draft.state.format, 2))
    if lines > 1:
        where = [Span(words.cell_text(focus, cell), "faint")]
        canvas.words_right(canvas.width - 1, y - 1 if y > top else y + 1, where)
