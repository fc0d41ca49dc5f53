"""The visits of a recording's traversals, known from its graph alone: how many there are and which can be pulled.

So a recording whose traversals or position cannot be is refused before an array is read.
"""

from array import array
from collections.abc import Mapping, Sequence

from .encoding import Fault
from .specs import Manifest, TraversalSpec

MOST_VISITS = 200_000  # to pull again, and to plan from each root: looking at them takes a moment

Sends = dict[int, list[int]]  # of each node, oldest first: the rows its visit sends to, in order


def check_visits(manifest: Manifest) -> None:
    """Raise Fault where a traversal has more visits than there are, or lacks what a custom op sent in one of
    them; and where the position is no place of its traversal.
    """
    sends = {row: manifest.carried(row) for row in manifest.created}
    orders: dict[int, Sequence[int]] = {}  # by root
    total = 0
    for i, traversal in enumerate(manifest.traversals, 1):
        if traversal.root not in orders:
            orders[traversal.root] = visits_from(traversal.root, sends)
            total += len(orders[traversal.root])
        if (total := total + traversal.visits) > MOST_VISITS:
            raise Fault(f"its traversals have more than {MOST_VISITS} visits")
        try:
            _check_sent(manifest, traversal, orders[traversal.root], sends)
        except Fault as fault:
            raise Fault(f"traversal {i}: {fault}") from None
    _check_position(manifest, orders, sends)


def visits_from(root: int, sends: Sends) -> Sequence[int]:
    """The rows a traversal visits, in order: nodes newest first, each leaf once its last contribution is in."""
    waiting = {root: 0}  # of each row that is reached: contributions to come
    for row in reversed(sends):
        if row in waiting:
            for target in sends[row]:
                waiting[target] = waiting.get(target, 0) + 1
    order = array("i")
    for row in reversed(sends):
        if row in waiting:
            order.append(row)
            for target in sends[row]:
                waiting[target] -= 1
                if not waiting[target] and target not in sends:
                    order.append(target)
    return order or array("i", [root])


def _check_sent(manifest: Manifest, traversal: TraversalSpec, order: Sequence[int], sends: Sends) -> None:
    """What custom ops sent is there for each of their visits that a gradient reached, and for no other."""
    if traversal.visits > len(order):
        raise Fault(f"{traversal.visits} visits, there are {len(order)}")
    sent, reached = dict(traversal.sent), {traversal.root}
    for row in order[: traversal.visits]:
        spec = manifest.rows[row]
        if row not in reached or spec.kind != "node":
            continue
        if spec.op is not None:
            reached.update(sends[row])
        elif row in sent:
            reached.update(spec.inputs[slot] for slot, ref in enumerate(sent.pop(row)) if ref is not None)
        else:
            raise Fault(f"{spec.name} has no rule, and row {row} sent nothing in its visit")
    if sent:
        raise Fault(f"row {min(sent)} sends nothing in its visits")


def _check_position(manifest: Manifest, orders: Mapping[int, Sequence[int]], sends: Sends) -> None:
    at, fewest, most = manifest.position, 0, 0
    if at.traversal == 0:
        places = sum(row.kind != "leaf" for row in manifest.rows)
    else:
        traversal = manifest.traversals[at.traversal - 1]
        places = traversal.visits
        if at.place < places:
            most = len(sends.get(orders[traversal.root][at.place], ()))
            fewest = min(most, 1)
    if at.place >= places or not fewest <= at.edges <= most:
        raise Fault(f"there is no position {at.traversal}, {at.place}, {at.edges}")
