"""Which of many rows are shown where there is no room for all."""


def in_sight(count: int, here: int, room: int) -> range:
    """At most `room` of them, `here` in the middle as far as the ends allow; at least one, if there are any."""
    room = max(room, 1)
    first = max(0, min(here - room // 2, count - room))
    return range(first, min(first + room, count))
