"""Values written out: the cursor's row under its map, or a table of the cells around the cursor."""

from glassllm.debug.snapshot import Focus
from tui.draw import numbers
from tui.draw.canvas import Canvas
from tui.draw.formats import Format
from tui.draw.heatmap import Fit
from tui.draw.numbers import Array
from tui.draw.plane import Plane
from tui.draw.tensor_map import cell_numbers, row_label
from tui.draw.tensor_words import axis_label
from tui.draw.text import Span, cut, pad

STEP = 6


def draw_numbers(
    canvas: Canvas, x: int, y: int, labels: int, focus: Focus, plane: Plane, fit: Fit, width: int, how: Format
) -> int:
    """The cursor's row as numbers: short ones each under its large cell, else those around the cursor.

    Large cells that have their own numbers get the factor that these share. Returns how many columns from `x` on
    a factor takes that stands in the line below.
    """
    columns = plane.values.shape[1]
    if fit.size == "large" and canvas.palette.is_flat:
        factor = cell_numbers(plane, how)[1]
        canvas.words_right(x + labels + 1 + fit.width, y, [Span(factor, "muted")])
        return 0
    if fit.size == "large" and how.is_usual:
        step, first, last = 4, 0, columns
    else:
        step = step_of(plane, how)
        if step > width + 1:
            return 0
        first, last = window(columns, width // step, plane.column)
    texts, factor = written(plane.values[plane.row, first:last], how, digits=2)
    factor = canvas.palette.spell(factor)
    hidden = plane.hidden(plane.row)[first:last].tolist()
    canvas.words(x, y, [Span(pad(row_label(focus, plane, plane.row), labels, "right"), "bright", bold=True)])
    tail = _trailing(hidden, plane.column - first)
    is_behind = bool(factor) and tail * step > len(factor) + 1
    shown = len(texts) - tail if is_behind else len(texts)
    for i in range(shown):
        canvas.words(x + labels + 1 + step * i, y, number_words(texts[i], hidden[i], first + i == plane.column))
    if is_behind:
        canvas.words(x + labels + 2 + step * shown, y, [Span(f" {factor}", "muted")])
        return 0
    canvas.words(x, y + 1, [Span(factor.rjust(labels), "muted")] if factor else [])
    return len(factor)


def step_of(plane: Plane, how: Format) -> int:
    """Columns of a number where it does not stand under a cell of the map."""
    return STEP if how.is_usual else how.columns(plane.values.itemsize)


def written(values: Array, how: Format, digits: int) -> tuple[list[str], str]:
    """The values as short texts with a shared factor, or each in the form asked for."""
    if how.is_usual:
        return numbers.row_numbers(values, digits)
    return [numbers.formatted(value, how) for value in values], ""


def draw_table(
    canvas: Canvas, x: int, y: int, labels: int, focus: Focus, plane: Plane, width: int, height: int, how: Format
) -> None:
    """The cells around the cursor as numbers, `height` lines with the heads of columns.

    The factor they share stands before the heads; one too wide for that moves the numbers to the right.
    """
    rows, columns = plane.values.shape
    step = step_of(plane, how)
    top, bottom = window(rows, height - 1, plane.row)
    first, last = window(columns, width // step, plane.column)
    texts, factor = written(plane.values[top:bottom, first:last].ravel(), how, digits=3)
    while (excess := len(canvas.palette.spell(factor)) - labels) > 0:
        labels, width = labels + excess, width - excess
        first, last = window(columns, width // step, plane.column)
        texts, factor = written(plane.values[top:bottom, first:last].ravel(), how, digits=3)
    canvas.words(x, y, [Span(canvas.palette.spell(factor).rjust(labels), "muted")])
    left = x + labels + 1
    for column in range(first, last):
        is_cursor = column == plane.column
        name = str(column) if plane.wrap else axis_label(focus, plane.columns, column)
        head = Span(cut(name, step - 1), "bright" if is_cursor else "faint", bold=is_cursor)
        canvas.words(left + step * (column - first), y, [head])
    for row in range(top, bottom):
        line = y + 1 + row - top
        label = pad(row_label(focus, plane, row), labels, "right")
        canvas.words(x, line, [Span(label, "bright" if row == plane.row else "muted", bold=row == plane.row)])
        hidden = plane.hidden(row)
        for column in range(first, last):
            text = texts[(row - top) * (last - first) + column - first]
            is_cursor = (row, column) == (plane.row, plane.column)
            words = number_words(text, bool(hidden[column]), is_cursor)
            canvas.words(left + step * (column - first), line, words)


def window(cells: int, room: int, cursor: int) -> tuple[int, int]:
    """The page of `room` cells that the cursor is on, from and to; the last page is as full as the others."""
    room = max(1, min(room, cells))
    first = min(cursor // room * room, cells - room)
    return first, first + room


def _trailing(hidden: list[bool], cursor: int) -> int:
    """How many cells at the end are hidden and not under the cursor."""
    count = 0
    for i in range(len(hidden) - 1, cursor, -1):
        if not hidden[i]:
            break
        count += 1
    return count


def number_words(text: str, hidden: bool, is_cursor: bool) -> list[Span]:
    """One number: underlined under the cursor, magenta where it is none."""
    if hidden:
        return [Span(" ·", "bright" if is_cursor else "line", bold=is_cursor)]
    if text.endswith(("NaN", "Inf")):
        return [Span(text, "nanfg", bold=True, bg="nan")]
    return [Span(text, "bright" if is_cursor else "text", bold=is_cursor, underline=is_cursor)]
