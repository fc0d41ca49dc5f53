"""The source of a row: the line that made it in its file, which is read as text and never run."""

import linecache
import os
import stat
from collections.abc import Sequence

from textual.binding import Binding

from glassllm.debug.origins import lines_of
from glassllm.debug.snapshot import Origin, Snapshot
from tui.draw.listing import Listing
from tui.draw.palette import Palette
from tui.draw.text import Span

from .listing import ListingScreen

LARGEST = 4 << 20  # bytes of a file that is shown


def read(file: str) -> tuple[list[str], str]:
    """The lines of a source file, a program's own as they were when it ran; and why there are none."""
    if file not in linecache.cache:
        try:
            found = os.stat(file)
        except (OSError, ValueError) as error:
            return [], f"cannot be read: {getattr(error, 'strerror', None) or error}"
        if not stat.S_ISREG(found.st_mode):  # a recording may name anything; a pipe would never end
            return [], "is no regular file"
        if found.st_size > LARGEST:
            return [], f"longer than {LARGEST >> 20} MB"
    lines = [line.rstrip("\r\n") for line in linecache.getlines(file)]
    return lines, "" if lines else "cannot be read"


def source_listing(name: str, found: Sequence[Origin], what: str, frame: int) -> Listing:
    """The file around one of the lines found, number `frame`."""
    if not found:
        head = (Span("source", "bright", bold=True), Span(f"  {name}", "muted"))
        return Listing(head, (), said=f"the recording does not say which line made {name}")
    origin = found[frame]
    led = f"{name} {what} this line" if frame == 0 else f"led to {name}"
    title = (
        Span(origin.short, "bright", bold=True),
        Span(f"  {origin.function}"),
        Span(f"   {led}", "muted"),
    )
    keys = (("u d", f"caller, callee  {frame + 1}/{len(found)}"),) if len(found) > 1 else ()
    lines, fault = read(origin.file)
    if origin.line > len(lines):
        fault = fault or f"has no line {origin.line} any more"
        return Listing(title, (), said=f"{origin.file} {fault}", keys=keys)
    return Listing(title, lines, origin.line - 1, keys=keys)


class SourceScreen(ListingScreen):
    """The line that made the selected row; `u` and `d` go to the line that called it and back."""

    BINDINGS = [
        Binding("u", "frame(1)", "caller", show=False, priority=True),
        Binding("d", "frame(-1)", "callee", show=False, priority=True),
        Binding("w", "close", "close", show=False, priority=True),
    ]

    def __init__(self, palette: Palette, snapshot: Snapshot):
        self._row_title = snapshot.focus.title
        self._origins, self._what = lines_of(snapshot.tape, snapshot.focus.row)
        self._frame = 0
        super().__init__(palette, self._found())

    def _found(self) -> Listing:
        return source_listing(self._row_title, self._origins, self._what, self._frame)

    def action_frame(self, by: int) -> None:
        self._frame = max(0, min(self._frame + by, len(self._origins) - 1))
        self.listing, self._top, self._left = self._found(), None, 0
        self.place()
