"""The log: what the program printed, in order, then what the debugger said."""

from collections.abc import Collection, Sequence

from glassllm.debug.output import split
from glassllm.debug.snapshot import Line

from . import numbers
from .listing import Listing
from .text import Span

ERR = "err  "


def log_listing(printed: Sequence[Line], said: Collection[str]) -> Listing:
    """Lines of stderr are marked where stdout has some too; the debugger's own are of less weight.

    Lines have the numbers they were printed as, whether those before them are kept or not.
    """
    gone, kept = split(printed)
    streams = {line.stream for line in kept}
    marks = {"err": ERR, "out": " " * len(ERR)} if len(streams) > 1 else {"err": "", "out": ""}
    lines = [*(marks[line.stream] + line.text for line in kept), *said]
    title = (Span("log", "bright", bold=True), Span(f"  {_how_many(gone, len(kept))}", "muted"))
    own = frozenset(range(len(kept), len(lines)))
    return Listing(title, lines, dim=own, first_number=gone + 1, said="nothing was printed or said yet")


def _how_many(gone: int, kept: int) -> str:
    """`30 001 lines printed, the last 10 000 kept`"""
    if not kept:
        return "nothing was printed"
    total = f"{numbers.count(gone + kept)} {'line' if gone + kept == 1 else 'lines'} printed"
    return f"{total}, the last {numbers.count(kept)} kept" if gone else total
