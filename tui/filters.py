"""The last door before the terminal: what widgets have drawn, ours and Textual's, as the terminal can show it."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, pairwise

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from .draw.palette import Palette
from .draw.spelling import in_signs


class WithoutColor(LineFilter):
    """Takes away every colour, the default one too, and leaves bold, dim, underline and reverse.

    A ground that was painted is reversed: our palette paints none, but Textual's cursors do.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text, style and _plain(style), control) for text, style, control in segments]


class InAscii(LineFilter):
    """Writes one ASCII sign for each cell; an ellipsis may take the blanks of the segment behind it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        line = in_signs("".join(text for text, _, _ in segments))
        ends = accumulate((len(in_signs(text)) for text, _, _ in segments), initial=0)
        return [
            Segment(line[start:end], style, control)
            for (start, end), (_, style, control) in zip(pairwise(ends), segments, strict=True)
        ]


class Dimmed(LineFilter):
    """Dims what lies behind something."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text, DIM if style is None else style + DIM, control) for text, style, control in segments]


DIM = Style(dim=True)
REVERSED = Style(reverse=True)


def filters_for(palette: Palette) -> Iterable[LineFilter]:
    """What is needed for a palette."""
    if palette.colors == "none":
        yield WithoutColor()
    if palette.is_ascii:
        yield InAscii()


@lru_cache(4096)
def _plain(style: Style) -> Style:
    is_painted = style.bgcolor is not None and not style.bgcolor.is_default
    return style.without_color + REVERSED if is_painted else style.without_color
