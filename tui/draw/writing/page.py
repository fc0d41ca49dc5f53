"""The Generate screen's board: panes laid out by the size of the terminal, and by whether a token is played."""

from collections.abc import Callable

from glassllm.generation import Written
from tui.draw.palette import Palette
from tui.draw.pane import board_rows
from tui.draw.text import Row

from .attention import attention_pane, attention_strip
from .candidates import candidates_pane
from .choice import Choice
from .event import event_pane
from .lens import lens_pane
from .prose import prose_pane
from .spots import Sketch, Sketched

LENS_FROM = 30  # rows from which the lens has a place of its own
MAP_FROM = 26  # and the map of all heads
TWO_FROM = 80  # columns from which there are two columns of panes
HEAD = 5  # rows of an event whose value is the candidates below it
LEAST = 12  # rows with room for an event above what else there is


def board(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> tuple[Row, ...]:
    """All rows between the track and the rule."""
    return board_rows(width, height, palette, panes(view, choice, width, height, palette))


def panes(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> list[Sketched]:
    """All that lies on the board."""
    if width < TWO_FROM:
        side = right if choice.tab else left
        return side(view, choice, width, height, palette)
    wide = round(width * 0.595) if width >= 120 else round(width * 0.54)
    beside = right(view, choice, width - wide - 1, height, palette)
    return [*left(view, choice, wide, height, palette), *((wide + 1 + x, y, pane) for x, y, pane in beside)]


def left(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> list[Sketched]:
    """The text, and who looks at what: all heads where there is room for them, else the chosen one."""
    if height < 12 or view.attention is None:
        return [(0, 0, prose_pane(view, choice, width, height, palette, is_roomy=height >= MAP_FROM))]
    if height < MAP_FROM:
        strip = Sketch(width, 2, palette)
        strip.block(0, 0, attention_strip(view, choice, width, palette), width)
        text = prose_pane(view, choice, width, height - 2, palette, is_roomy=False)
        return [(0, 0, text), (0, height - 2, strip)]
    tall = min(view.layers * view.heads + 5, height - 13)
    above = height - tall - 1
    return [
        (0, 0, prose_pane(view, choice, width, above, palette, is_roomy=width >= 60)),
        (0, above + 1, attention_pane(view, choice, width, tall, palette)),
    ]


def right(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> list[Sketched]:
    """What may follow and what each layer says; above them the event, while a token is played."""
    has_lens = height >= LENS_FROM and view.lens is not None
    tall = min(view.layers + 5, height // 3) if has_lens else 0
    above = height - tall - 1 if tall else height
    is_lens = choice.has_lens and not has_lens and view.lens is not None
    first = upper(view, choice, width, above, palette, lens_pane if is_lens else candidates_pane)
    return [*first, *([(0, above + 1, lens_pane(view, choice, width, tall, palette))] if tall else [])]


Draw = Callable[[Written, Choice, int, int, Palette], Sketch]


def upper(view: Written, choice: Choice, width: int, height: int, palette: Palette, draw: Draw) -> list[Sketched]:
    """One pane, or above it the event: large while its value is drawn, else as high as its words."""
    if view.event == 0:
        return [(0, 0, draw(view, choice, width, height, palette))]
    if height < LEAST:
        return [(0, 0, (event_pane if view.is_waiting else draw)(view, choice, width, height, palette))]
    if draw is lens_pane:
        below = min(view.layers + 4, height // 2)
    elif view.candidates is not None:
        below = height - HEAD - 1
    else:
        below = 4 if height >= MAP_FROM - 6 else 2
    event = height - below - 1
    return [
        (0, 0, event_pane(view, choice, width, event, palette)),
        (0, event + 1, draw(view, choice, width, below, palette)),
    ]
