"""The visits of a recording's traversals, known from its graph alone: how many there are and which can be pulled.

So a recording whose traversals or position cannot be is refused before its numbers are read.
"""

from array import array
from collections.abc import Mapping, Sequence

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.rows import KIND
from glassllm.debug.slices import LOOK, Slice, Sliced

from .columns import CUSTOM, LEAF, NODE, Columns
from .encoding import Fault
from .graph import made_order
from .manifest import Manifest, TraversalSpec

MOST_VISITS = 600_000  # to pull again, and to plan from each root: looking at them takes a moment


def checking_visits(manifest: Manifest) -> Sliced[None]:
    """Raise Fault where a traversal has more visits than there are, or lacks what a custom op sent in one of
    them; and where the position is no place of its traversal.
    """
    sends = Sends(manifest.columns)
    orders: dict[int, Sequence[int]] = {}  # by root
    total = first = 0
    for i, traversal in enumerate(manifest.traversals, 1):
        if traversal.root not in orders:
            orders[traversal.root] = yield from sends.visits_from(traversal.root)
            total += len(orders[traversal.root])
        if (total := total + traversal.visits) > MOST_VISITS:
            raise Fault(f"its traversals have more than {MOST_VISITS} visits")
        last = first + traversal.sent
        try:
            yield from _checking_sent(manifest, traversal, orders[traversal.root], sends, first, last)
        except Fault as fault:
            raise Fault(f"traversal {i}: {fault}") from None
        first = last
    _check_position(manifest, orders, sends)


class Sends:
    """The rows that each node's visit sends to, in order."""

    def __init__(self, columns: Columns) -> None:
        passed = np.zeros(len(columns.carried) + 1, np.int32)  # how many before each input
        np.cumsum(columns.carried, out=passed[1:])
        self._starts = passed[columns.input_starts].data
        self._targets = columns.sources[columns.carried != 0].data
        self._created = columns.tracked.data
        self._made = made_order(columns).data

    def of(self, row: int) -> Sequence[int]:
        targets: Sequence[int] = self._targets[self._starts[row] : self._starts[row + 1]]
        return targets

    def visits_from(self, root: int) -> Sliced[Sequence[int]]:
        """The rows a traversal visits: nodes newest first, each leaf once its last contribution is in."""
        nodes, made, pace = (yield from self._reaching(root)), self._made, Slice(LOOK)
        backward, is_in = array("i"), bytearray(len(made))
        for done, place in enumerate(reversed(nodes)):
            row = self._created[place]
            if pace.is_full():
                yield done, len(nodes)
            for target in reversed(self.of(row)):
                if made[target] < 0 and not is_in[target]:
                    is_in[target] = True
                    backward.append(target)
            backward.append(row)
        return backward[::-1] or array("i", [root])

    def _reaching(self, root: int) -> Sliced[Sequence[int]]:
        """The nodes behind a root and itself, newest first, by their place in the order of creation."""
        made, found, is_reached = self._made, array("i"), bytearray(len(self._created))
        place, pace = made[root], Slice(LOOK)
        while place >= 0:
            found.append(place)
            for target in self.of(self._created[place]):
                if made[target] >= 0:
                    is_reached[made[target]] = True
            place = is_reached.rfind(True, 0, place)
            if pace.is_full():
                yield len(found), len(made)
        return found


def _checking_sent(
    manifest: Manifest, traversal: TraversalSpec, order: Sequence[int], sends: Sends, at: int, last: int
) -> Sliced[None]:
    """What custom ops sent is there for each of their visits that a gradient reached, in their order, and for
    no other; it is that of senders `at` to `last`."""
    columns, pace = manifest.columns, Slice(LOOK)
    if traversal.visits > len(order):
        raise Fault(f"{traversal.visits} visits, there are {len(order)}")
    flags, starts, sources = columns.flags.data, columns.input_starts.data, columns.sources.data
    senders, slots, sent = columns.senders.data, sent_slots(columns).data, columns.sent.data
    reached = bytearray(len(columns))
    reached[traversal.root] = True
    for visit, row in enumerate(order[: traversal.visits] if columns.has(CUSTOM).any() else ()):
        if pace.is_full():
            yield visit, traversal.visits
        if not reached[row] or flags[row] & KIND != NODE:
            continue
        if not flags[row] & CUSTOM:
            for target in sends.of(row):
                reached[target] = True
        elif at < last and senders[at] == row:
            first = starts[row] - slots[at]
            for slot in range(slots[at], slots[at + 1]):
                if sent[slot]:
                    reached[sources[first + slot]] = True
            at += 1
        else:
            raise Fault(f"{manifest.name(row)} has no rule, and row {row} sent nothing in its visit")
    if at < last:
        raise Fault(f"row {senders[at]} sends nothing in its visits")


def sent_slots(columns: Columns) -> Array:
    """Where in `sent` each sender's inputs start, and the end."""
    slots = np.zeros(len(columns.senders) + 1, np.int64)
    np.cumsum(np.diff(columns.input_starts)[columns.senders], out=slots[1:])
    return slots


def _check_position(manifest: Manifest, orders: Mapping[int, Sequence[int]], sends: Sends) -> None:
    at, fewest, most = manifest.position, 0, 0
    if at.traversal == 0:
        places = int(np.count_nonzero(manifest.columns.kinds != LEAF))
    else:
        traversal = manifest.traversals[at.traversal - 1]
        places = traversal.visits
        if at.place < places:
            most = len(sends.of(orders[traversal.root][at.place]))
            fewest = min(most, 1)
    if at.place >= places or not fewest <= at.edges <= most:
        raise Fault(f"there is no position {at.traversal}, {at.place}, {at.edges}")
