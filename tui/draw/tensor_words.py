"""The words around a tensor's map: title, tabs, statistics, what the axes are, what stands under the cursor."""

import numpy as np
from rich.cells import cell_len

from glassllm.debug.snapshot import Axis, Focus, GradientState, Health, Snapshot
from tui.draw import glyphs, numbers
from tui.draw.canvas import Canvas
from tui.draw.curves import share_row
from tui.draw.formats import USUAL, Format
from tui.draw.heatmap import Fit
from tui.draw.numbers import Array
from tui.draw.palette import Palette
from tui.draw.plane import PanelState, Plane
from tui.draw.text import Row, Span, clean, cut, segments, text_row

SHORT = {"contributions": "contrib"}
STALE = {
    "": "",
    "since": "stale: written in place since",
    "between": "stale: as the run used it first",
    "lost": "stale: not as the run used it",
}
MOMENTS = ("min", "mean", "max", "std")
PLURALS = {"vocabulary": "entries", "hidden": "hidden units", "in": "inputs", "out": "outputs"}


def title_row(snapshot: Snapshot, state: PanelState, width: int, palette: Palette) -> Row:
    """`▌blocks.1 · attn.softmax   node 146/402`, with a word where the selection is not the current place."""
    focus, row = snapshot.focus, snapshot.focus.row
    wide = width >= 70
    if row.number:
        place = f"{'node ' if wide else ''}{row.number}/{snapshot.run.nodes}"
    else:
        place = "parameter" if row.parameter else row.kind
    elsewhere = "" if focus.is_current else "▷ selected, not current" if wide else "▷ selected"
    right = [Span(f"{place if wide or focus.is_current else elsewhere} ", "muted")]
    staleness = snapshot.tape.staleness(row.id)
    name = glyphs.marked(clean(focus.title), staleness)
    title = cut(name, max(0, width - 4 - len(right[0].text)), keep="tail")
    left = [
        Span("▌" if state.focused else " ", "bright"),
        Span(title, "bright" if state.focused else "muted", bold=state.focused),
    ]
    if wide and elsewhere:
        left.append(Span(f"  {elsewhere}", "muted"))
    if staleness:
        left.append(Span(f"  {STALE[staleness]}", "muted"))
    return text_row(left, width, palette, right=right)


def tab_places(state: PanelState, gradient: GradientState, width: int) -> list[tuple[str, str, int]]:
    """(tab, its label, its column), with gaps and labels as short as the width asks for."""
    mark = f" {glyphs.gradient_glyph(gradient)[0]} {glyphs.of_edges(gradient)}".rstrip()
    if not gradient.delivered:
        mark = mark[:2]
    choices = (("", 3), ("", 2), ("short", 2), ("short", 1))
    for names, gap in choices:
        places = []
        x = 1
        for tab in state.tabs:
            label = SHORT.get(tab, tab) if names else tab
            places.append((tab, label, x))
            x += len(label) + (len(mark) if tab == "gradient" else 0) + gap
        if x - gap < width:
            break
    return places


def draw_tabs(canvas: Canvas, y: int, state: PanelState, gradient: GradientState) -> None:
    """The row of tabs: the active one underlined, the gradient's with its state."""
    glyph, token = glyphs.gradient_glyph(gradient)
    for tab, label, x in tab_places(state, gradient, canvas.width):
        active = tab == state.tab
        words = [Span(label, "bright" if active else "muted", bold=active, underline=active)]
        if tab == "gradient":
            words.append(Span(f" {glyph}", token))
            if gradient.delivered:
                words.append(Span(f" {glyphs.of_edges(gradient)}", "bwd"))
        canvas.words(x, y, words)


def health_words(array: Array, health: Health | None) -> list[Span]:
    """Shape, dtype and moments in one line."""
    words = [
        Span(numbers.shape(array.shape), "bright", bold=True),
        Span(f" {numbers.dtype(array.dtype)}   ", "muted"),
    ]
    if health is None:
        return [*words, Span("counting…", "muted")]
    for name, gap in zip(MOMENTS, ("  ", "  ", "  ", ""), strict=True):
        found = moment(health, name)
        text = numbers.NOTHING if found is None else numbers.stat(found)
        words += [Span(f"{name} ", "muted"), Span(text + gap)]
    return words


def moment(health: Health, name: str) -> float | None:
    """Minimum, mean, maximum or deviation; None where no element is a number that has one."""
    found: float = getattr(health, name)
    return None if np.isnan(found) else found


def health_lines(array: Array, health: Health | None, width: int, only_shape: bool = False) -> list[list[Span]]:
    """The same and the counts of faults, broken into lines of at most `width` cells between the groups."""
    words = health_words(array, health)
    groups = [words[:2], *([word] for word in words[2:3] if health is None)]
    if health is not None:
        groups += [words[i : i + 2] for i in range(2, len(words), 2)]
        groups += [[word] for word in fault_words(health) if word.text.strip()]
    lines: list[list[Span]] = [[]]
    used = 0
    for group in groups[:1] if only_shape else groups:
        text = "".join(span.text for span in group).rstrip()
        if used + len(text) > width and lines[-1]:
            lines.append([])
            used = 0
        lines[-1] += [Span("  ")] if lines[-1] else []
        lines[-1] += [*group[:-1], group[-1]._replace(text=group[-1].text.rstrip())]
        used += len(text) + 2
    return lines


def share_words(health: Health, palette: Palette) -> Row:
    """The bar of signs, their shares, and the counts of what is no number."""
    total = health.negative + health.zero + health.positive
    words = [
        Span("  −", "neg"),
        Span(f" {numbers.percent(health.negative, total)}  "),
        Span("0", "muted"),
        Span(f" {numbers.percent(health.zero, total)}  "),
        Span("+", "pos"),
        Span(f" {numbers.percent(health.positive, total)}   "),
        *fault_words(health),
    ]
    if health.masked:
        words += [Span("  masked ", "muted"), Span(numbers.count(health.masked))]
    if health.subnormal:
        words += [Span("  subnormal ", "muted"), Span(numbers.count(health.subnormal))]
    return [*share_row(health.negative, health.zero, health.positive, palette), *segments(words, palette)]


def fault_words(health: Health) -> list[Span]:
    """`NaN 0  Inf 0` muted; a count above 0 is a magenta chip."""
    words = []
    for name, n in (("NaN", health.nan), ("Inf", health.inf)):
        if n:
            words.append(Span(f" {name} {numbers.count(n)} ", "nanfg", bold=True, bg="nan"))
        else:
            words.append(Span(f"{name} 0", "muted"))
        words.append(Span("  "))
    return words[:-1]


def health_column(array: Array, health: Health | None, width: int, palette: Palette) -> list[Row]:
    """The statistics as a column, labels left and numbers right."""
    rows = [_pair(numbers.shape(array.shape), numbers.dtype(array.dtype), width, palette, head=True)]
    if health is None:
        return [*rows, text_row([Span("counting…", "muted")], width, palette)]
    total = health.negative + health.zero + health.positive
    moments = numbers.stats([moment(health, name) for name in MOMENTS])
    rows += [_pair(name, text, width, palette) for name, text in zip(MOMENTS, moments, strict=True)]
    rows.append(_pair("0", numbers.percent(health.zero, total), width, palette))
    if health.nan or health.inf:
        rows.append(text_row(fault_words(health), width, palette))
    else:
        rows.append(_pair("NaN Inf", "0 0", width, palette))
    if health.masked:
        rows.append(_pair("masked", numbers.count(health.masked), width, palette))
    return rows


def _pair(name: str, value: str, width: int, palette: Palette, head: bool = False) -> Row:
    left = Span(name, "bright" if head else "muted", bold=head)
    return text_row([left], width, palette, right=[Span(value, "muted" if head else "text")])


def axis_words(focus: Focus, plane: Plane, fit: Fit, state: PanelState, room: int) -> list[Span]:
    """`head ‹2/4›   rows query   cols key   scale all heads`: as many of the groups as there is room for."""
    groups = held_groups(focus, plane)
    said = pooled_words(focus, plane, fit)
    said = said if len(said) <= room else said.partition(",")[0]
    pooled = [[Span(said, "muted")]] if said else []
    if room < 60:
        groups += pooled
    if plane.wrap:
        groups.append([Span(f"{axis_name(focus, 0)} ", "muted"), Span(f"in rows of {plane.wrap}")])
    elif fit.size == "medium" and room < 60:
        label = token_text(focus, plane.columns, plane.column)
        groups.append([Span(f"{axis_name(focus, plane.columns)} ", "muted"), Span(label, "bright", bold=True)])
    else:
        groups.append([Span("rows ", "muted"), Span(axis_name(focus, plane.rows))])
        groups.append([Span("cols ", "muted"), Span(axis_name(focus, plane.columns))])
    if room >= 60:
        groups += pooled
        if plane.held:
            groups.append([Span("scale ", "muted"), Span(_scale_words(focus, plane, state))])
    return fitting(groups, room, 3 if room >= 60 else 2)


def fitting(groups: list[list[Span]], room: int, gap: int) -> list[Span]:
    """As many of the groups, whole, as there is room for."""
    words: list[Span] = []
    used = 0
    for group in groups:
        size = sum(len(span.text) for span in group)
        if used + size > room:
            continue
        words += [*group, Span(" " * gap)]
        used += size + gap
    return words[:-1]


def held_groups(focus: Focus, plane: Plane) -> list[list[Span]]:
    """`head ‹2/4›` for each axis of which one slice is shown."""
    return [_held(focus, plane, axis) for axis in plane.held if plane.shape[axis] > 0]


def _held(focus: Focus, plane: Plane, axis: int) -> list[Span]:
    return [
        Span(f"{axis_name(focus, axis)} ‹", "muted"),
        Span(f"{plane.cell[axis] + 1}/{plane.shape[axis]}", "bright", bold=True),
        Span("›", "muted"),
    ]


def pooled_words(focus: Focus, plane: Plane, fit: Fit) -> str:
    """`2 channels a cell, largest |x|`, or nothing where a cell is one value."""
    parts = [
        f"{pool} {plural(axis_name(focus, axis))}"
        for pool, axis in zip(fit.pool, (plane.rows, plane.columns), strict=True)
        if pool > 1
    ]
    return f"{' × '.join(parts)} a cell, largest |x|" if parts else ""


def _scale_words(focus: Focus, plane: Plane, state: PanelState) -> str:
    name = axis_name(focus, plane.held[0]) if len(plane.held) == 1 else "slice"
    name = "slice" if name.startswith("axis ") else name
    return f"this {name}" if state.scale == "slice" else f"all {plural(name)}"


def plural(name: str) -> str:
    if name in PLURALS:
        return PLURALS[name]
    if name.startswith("axis "):
        return f"of {name}"
    return f"{name[:-1]}ies" if name.endswith("ry") else f"{name}es" if name.endswith("ch") else f"{name}s"


def cell_text(focus: Focus, cell: tuple[int, ...]) -> str:
    """The last two coordinates of a cell: the slice is said elsewhere."""
    return numbers.coordinates(cell[-2:]) if cell else ""


def axis_of(focus: Focus, axis: int) -> Axis | None:
    return focus.axes[axis] if axis < len(focus.axes) else None


def axis_name(focus: Focus, axis: int) -> str:
    known = axis_of(focus, axis)
    return clean(known.name) if known and known.name else f"axis {axis}"


def has_labels(focus: Focus, axis: int) -> bool:
    known = axis_of(focus, axis)
    return known is not None and known.labels is not None


def token_text(focus: Focus, axis: int, i: int) -> str:
    """The label of an index as text shows it, a leading space as `·`; the number where there is none."""
    known = axis_of(focus, axis)
    if known is None or known.labels is None or i >= len(known.labels):
        return str(i)
    label = known.labels[i].replace("▁", " ")
    return clean(f"·{label[1:]}" if label.startswith(" ") else label)


def axis_label(focus: Focus, axis: int, i: int) -> str:
    """The same on an axis, where the leading `·` is dropped."""
    text = token_text(focus, axis, i)
    return text[1:] if len(text) > 1 and text.startswith("·") else text


def readout_words(
    focus: Focus, array: Array, plane: Plane, room: int, how: Format = USUAL, note: str = ""
) -> list[Span]:
    """`[8,7] fox → small  +0.6141   rank 1 of 9`, the rank where there is room for it.

    `note`, what the number is not, takes the rank's place.
    """
    place = place_words(focus, plane)
    words = [
        Span(place_text(plane), "bright", bold=True),
        Span(f" {place}  " if place else "  ", "muted"),
        value_word(array, plane, how),
    ]
    ranked = rank(plane)
    if note:
        words.append(Span(f"   {note}", "bwd"))
    elif ranked:
        said = Span(f"   rank {ranked[0]} of {ranked[1]}", "muted")
        words += [said] if sum(cell_len(word.text) for word in (*words, said)) <= room else []
    return words


def place_text(plane: Plane) -> str:
    """The cell in the axes drawn: `[8,7]`."""
    return numbers.coordinates(plane.cell if plane.wrap else (plane.cell[plane.rows], plane.cell[plane.columns]))


def value_word(array: Array, plane: Plane, how: Format = USUAL) -> Span:
    """The cell's value, on magenta where it is none."""
    value = array[plane.cell]
    is_masked = plane.masked is not None and bool(plane.masked[plane.row, plane.column])
    if np.isfinite(value) or is_masked:
        return Span(numbers.formatted(value, how), "bright", bold=True)
    return Span(numbers.formatted(value, how), "nanfg", bold=True, bg="nan")


def place_words(focus: Focus, plane: Plane) -> str:
    """`fox → small` between two labelled axes, else `fox, channel 17`; nothing of axes without a name."""
    drawn = (plane.rows,) if plane.wrap else (plane.rows, plane.columns)
    axes = [axis for axis in drawn if has_labels(focus, axis) or not axis_name(focus, axis).startswith("axis ")]
    words = [
        axis_label(focus, axis, plane.cell[axis])
        if has_labels(focus, axis)
        else f"{axis_name(focus, axis)} {plane.cell[axis]}"
        for axis in axes
    ]
    return (" → " if len(axes) == 2 and all(has_labels(focus, axis) for axis in axes) else ", ").join(words)


def rank(plane: Plane) -> tuple[int, int] | None:
    """Where the cell's value stands in its row, 1 the largest, among finite unmasked values other than 0."""
    if plane.wrap or not plane.values.size:
        return None
    row = plane.values[plane.row].astype(np.float64)
    live = np.isfinite(row) & (row != 0)
    if plane.masked is not None:
        live &= ~plane.masked[plane.row]
    if not live[plane.column]:
        return None
    return 1 + int((row[live] > row[plane.column]).sum()), int(live.sum())
