"""Which part of a picture is shown: a block stays where it is while one steps through it."""

from bisect import bisect_left
from dataclasses import dataclass

from .layout import Layout
from .rails import Rails

Picture = Layout | Rails


@dataclass(frozen=True, slots=True)
class Corner:
    """The column and row of the picture at the window's upper left; both can be negative."""

    left: int = 0
    top: int = 0


def height_of(picture: Picture) -> int:
    return picture.height if isinstance(picture, Layout) else len(picture.graph.items)


def row_of(picture: Picture, item: int) -> int:
    return picture.chips[item][1] if isinstance(picture, Layout) else item


def span_of(picture: Picture, item: int) -> tuple[int, int]:
    """First and last row of the open group that an item is in, with what comes before and after; else its own."""
    items = picture.graph.items
    if not items.group(item):
        return row_of(picture, item), row_of(picture, item)
    first, last = items.span(item)
    return row_of(picture, max(first - 1, 0)), row_of(picture, min(last + 1, len(items) - 1))


def corner(picture: Picture, item: int, before: Corner, width: int, height: int) -> Corner:
    """Where the window goes for an item: to its group, if that fits in it; else no farther than it must."""
    return Corner(_left(picture, item, before.left, width), _top(picture, item, before.top, height))


def _top(picture: Picture, item: int, before: int, height: int) -> int:
    total = height_of(picture)
    first, last = span_of(picture, item)
    if total <= height:
        return 0
    if last > first and last - first < height:
        return first
    return kept(total, row_of(picture, item), before, height)


def _left(picture: Picture, item: int, before: int, width: int) -> int:
    """The middle of the picture in the middle of the window, as far as that leaves its sides in sight."""
    if not isinstance(picture, Layout):
        return 0
    room = width - 2
    if picture.width <= room:
        return -min(max(room // 2 - picture.axis, 1), width - 1 - picture.width)
    return kept(picture.width, picture.chips[item][0], before + 1, room) - 1


def kept(total: int, at: int, before: int, room: int) -> int:
    """The first of `room` cells to show of `total`: moved only as far as keeps `at` inside the middle third."""
    third = room // 3
    start = max(min(before, at - third), at - (room - 1 - third))
    return max(0, min(start, total - room))


def moved(picture: Picture, item: int, direction: str, by: int) -> int:
    """The item that so many arrows lead to."""
    if not isinstance(picture, Layout):
        step = {"up": -by, "down": by}.get(direction, 0)
        return min(max(item + step, 0), len(picture.graph.items) - 1)
    for _ in range(by):
        before, item = item, beside(picture, item, direction)
        if item == before:
            break
    return item


def beside(picture: Picture, item: int, direction: str) -> int:
    """The item that an arrow leads to: the nearest in the next rank or beside it; itself where there is none."""
    if not isinstance(picture, Layout):
        return moved(picture, item, direction, 1)
    x, y = picture.chips[item]
    step = 1 if direction in ("down", "right") else -1
    if direction in ("left", "right"):
        line = picture.lines[y]
        at = line.index(item) + step
        return line[at] if 0 <= at < len(line) else item
    at = bisect_left(picture.ranks, y) + step
    if not 0 <= at < len(picture.ranks):
        return item
    return min(picture.lines[picture.ranks[at]], key=lambda i: abs(picture.chips[i][0] - x))


def entered(picture: Picture, item: int, direction: str) -> int:
    """The row to select when an arrow leads to an item: of a group, going down, its first event, else its last."""
    found = picture.graph.items[item]
    if found.kind == "group" and direction == "down":
        return picture.graph.first_row(item)
    return found.boundary
