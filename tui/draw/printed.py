"""The log: what the program printed, in order, then what the debugger said."""

from collections.abc import Collection, Sequence

from glassllm.debug.numerals import counted
from glassllm.debug.snapshot import Line

from .listing import Listing
from .text import Span

ERR = "err  "


def log_listing(printed: Sequence[Line], said: Collection[str]) -> Listing:
    """Lines of stderr are marked where stdout has some too; the debugger's own are of less weight."""
    streams = {line.stream for line in printed}
    marks = {"err": ERR, "out": " " * len(ERR)} if len(streams) > 1 else {"err": "", "out": ""}
    lines = [*(marks[line.stream] + line.text for line in printed), *said]
    title = (
        Span("log", "bright", bold=True),
        Span(f"  {counted(len(printed), 'line')} printed" if printed else "  nothing was printed", "muted"),
    )
    own = frozenset(range(len(printed), len(lines)))
    return Listing(title, lines, dim=own, said="nothing was printed or said yet")
