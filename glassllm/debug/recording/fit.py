"""Whether the parts of a recording fit together, so that no rule is ever given arrays it cannot take.

Rows of the same op, attributes and shapes fit or do not together, so each such kind of row is looked at once.
`checking` needs no data: an array that takes no memory stands for each. `check_indices` needs of an array of
indices only how far its numbers reach.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from glassllm.autograd.graph import gradient_dtype
from glassllm.autograd.ops import Array
from glassllm.debug.rows import TRACKED
from glassllm.debug.slices import LOOK, Slice, Sliced

from .arrays import DTYPES, KIND_OF
from .columns import CUSTOM, NODE, Columns, first_wrong
from .encoding import Fault, Json, decode
from .graph import check_graph
from .indices import INDEXED, Extent, check_values
from .lines import checking_texts
from .manifest import Manifest
from .shapes import is_saved, result_shape
from .texts import Texts
from .values import parse
from .visits import checking_visits, sent_slots

LOGITS = "logits"
SENDERS_AT_ONCE = 1 << 14
MOST_KINDS = 40_000  # of rows that differ in op, attributes or shapes
GRADIENT_KINDS = np.array([KIND_OF[gradient_dtype(dtype)] for dtype in DTYPES])  # of arrays of each dtype
NUMPY_FAULTS = (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError)


@contextmanager
def about(what: str) -> Iterator[None]:
    """Whatever NumPy refuses inside is a Fault of `what`."""
    try:
        yield
    except NUMPY_FAULTS as error:
        raise Fault(f"{what}: {error or type(error).__name__}") from None


def attrs_of(texts: Texts, text: int, array_of: Callable[[Json], Any]) -> dict[str, Any]:
    """What a text says of attributes."""
    said = parse(texts[text] or "{}")
    if not isinstance(said, dict):
        raise Fault("attrs must be an object")
    return {name: decode(value, array_of) for name, value in said.items()}


def checking(manifest: Manifest) -> Sliced[Sequence[int]]:
    """Raise Fault where an op, a traversal or the text of the run cannot belong to arrays of these shapes.

    Returns rows whose indices are still to be looked at, one of each kind.
    """
    columns = manifest.columns
    yield from checking_texts(columns)
    check_graph(columns)
    _check_used(manifest)
    indexed = yield from _checking_kinds(manifest)
    _check_roots(manifest)
    for i, traversal in enumerate(manifest.traversals, 1):
        with about(f"traversal {i}"):
            _check_seed(manifest, traversal.seed, traversal.root)
    _check_sent(manifest)
    _check_text(manifest)
    yield from checking_visits(manifest)
    return indexed


# Rows


def _check_used(manifest: Manifest) -> None:
    """What an op took and made is like what its rows hold."""
    columns, refs = manifest.columns, manifest.refs
    pairs = (columns.owners(), columns.taken, columns.arrays[columns.sources])
    for rows, used, shown in (pairs, (np.arange(len(columns)), columns.results, columns.arrays)):
        if (i := first_wrong(~refs.alike(used, shown))) is not None:
            shapes = f"{refs.shape(used[i])} in the place of {refs.shape(shown[i])}"
            raise Fault(f"row {rows[i]}, {manifest.name(rows[i])}: it used {shapes}")


def _checking_kinds(manifest: Manifest) -> Sliced[Sequence[int]]:
    columns, pace = manifest.columns, Slice(4 * LOOK)
    known: set[bytes] = set()
    indexed = array("i")
    for row, kind in _kinds(columns):
        if kind not in known:
            if len(known) == MOST_KINDS:
                raise Fault(f"its rows differ in op, attributes or shapes in more than {MOST_KINDS} ways")
            known.add(kind)
            with about(f"row {row}, {manifest.name(row)}"):
                _check_node(manifest, row)
            if not columns.flags[row] & CUSTOM and manifest.name(row) in INDEXED:
                indexed.append(row)
        if pace.is_full():
            yield row, len(columns)
    return indexed


def _kinds(columns: Columns) -> Iterator[tuple[int, bytes]]:
    """Each node, and what tells whether it fits: its op, its attributes and the shapes of its arrays."""
    own = np.stack([columns.names, columns.attrs, columns.ref_shapes[columns.arrays], columns.flags & CUSTOM], 1)
    taken, saved = columns.ref_shapes[columns.taken], columns.ref_shapes[columns.saved]
    ends = columns.input_starts.data, columns.saved_starts.data
    for row in np.flatnonzero(columns.kinds == NODE).data:
        inputs, kept = (slice(starts[row], starts[row + 1]) for starts in ends)
        length = (inputs.stop - inputs.start).to_bytes(4, "little")
        yield row, b"".join((own[row].tobytes(), length, taken[inputs].tobytes(), saved[kept].tobytes()))


def _check_node(manifest: Manifest, row: int) -> None:
    columns, refs, op = manifest.columns, manifest.refs, manifest.op(row)
    attrs = attrs_of(columns.texts, columns.attrs[row], refs.blank)
    saved = columns.saved[slice(*columns.saved_starts[row : row + 2])]
    if op is None:
        if len(saved):
            raise Fault("a custom op has no saved arrays here")
        return
    shapes, shape = _shapes(manifest, row), refs.shape(columns.arrays[row])
    found = result_shape(op, shapes, attrs)
    if found not in (None, shape):
        raise Fault(f"its result has the shape {shape}, its inputs make {found}")
    if not is_saved(op, shapes, shape, [refs.shape(ref) for ref in saved]):
        raise Fault(f"its rule needs other arrays than the {len(saved)} saved ones")


def _shapes(manifest: Manifest, row: int) -> list[tuple[int, ...]]:
    return [manifest.refs.shape(ref) for ref in manifest.columns.taken[manifest.inputs(row)]]


def check_indices(manifest: Manifest, rows: Sequence[int], extent_of: Callable[[Json], Extent]) -> None:
    """Raise Fault where an id, a target or an index of these rows is out of range."""
    columns = manifest.columns
    for row in rows:
        with about(f"row {row}, {manifest.name(row)}"):
            op, attrs = manifest.op(row), attrs_of(columns.texts, columns.attrs[row], extent_of)
            assert op is not None, f"row {row} is of a custom op"
            check_values(op, _shapes(manifest, row), attrs, manifest.refs.shape(columns.arrays[row]))


# Traversals


def _check_roots(manifest: Manifest) -> None:
    columns = manifest.columns
    taking = columns.has(TRACKED)
    taking[columns.leaves] = True
    for root in [*(traversal.root for traversal in manifest.traversals), *(manifest.chosen or ())[:1]]:
        if root is not None and not taking[root]:
            raise Fault(f"row {root} takes no gradient, and nothing starts from it")
    if manifest.chosen is not None and manifest.chosen[1] is not None:
        with about("the chosen seed"):
            _check_seed(manifest, manifest.chosen[1], manifest.chosen[0])


def _check_seed(manifest: Manifest, seed: int, root: int) -> None:
    _check_gradients(manifest, np.array([seed]), manifest.columns.arrays[[root]])


def _check_gradients(manifest: Manifest, gradients: Array, arrays: Array) -> None:
    """Gradients have the shape of what they are of, and its dtype or float64."""
    refs, shapes = manifest.refs, manifest.columns.ref_shapes
    wanted = GRADIENT_KINDS[refs.kinds[arrays]]
    if (i := first_wrong((shapes[gradients] != shapes[arrays]) | (refs.kinds[gradients] != wanted))) is not None:
        found = f"{refs.dtype(gradients[i])} of shape {refs.shape(gradients[i])}"
        needed = f"{DTYPES[wanted[i]]} of {refs.shape(arrays[i])}"
        raise Fault(f"{found} for a gradient, {needed} is needed")


def _check_sent(manifest: Manifest) -> None:
    """Senders are tracked custom ops, each with what it sent to its inputs."""
    columns = manifest.columns
    senders, slots = columns.senders, sent_slots(columns)
    custom = columns.has(CUSTOM) & columns.has(TRACKED)
    if (i := first_wrong(~custom[senders])) is not None:
        raise Fault(f"row {senders[i]} is no custom op that sends")
    claimed = sum(traversal.sent for traversal in manifest.traversals)
    if (claimed, slots[-1]) != (len(senders), len(columns.sent)):
        raise Fault(f"{len(senders)} senders of {len(columns.sent)} arrays, not {claimed} of {slots[-1]}")
    for first in range(0, len(senders), SENDERS_AT_ONCE):
        _check_some_sent(manifest, slots, first, min(first + SENDERS_AT_ONCE, len(senders)))


def _check_some_sent(manifest: Manifest, slots: Array, first: int, last: int) -> None:
    """What these senders sent are gradients of what they took, where a gradient goes."""
    columns, of_each = manifest.columns, slots[first : last + 1]
    inputs = np.repeat(columns.input_starts[columns.senders[first:last]] - of_each[:-1], np.diff(of_each))
    inputs += np.arange(of_each[0], of_each[-1])
    sent = columns.sent[of_each[0] : of_each[-1]].astype(np.int64)
    inputs, sent = inputs[sent > 0], sent[sent > 0] - 1
    if not columns.carried[inputs].all():
        raise Fault("something was sent to an input that takes no gradient")
    if len(sent) and sent.max() >= len(manifest.refs):
        raise Fault(f"there is no array {sent.max()} that was sent")
    _check_gradients(manifest, sent, columns.taken[inputs])


# Text


def _check_text(manifest: Manifest) -> None:
    """Logits have a row for each token, and ids have texts where any has."""
    columns, tokens = manifest.columns, len(manifest.facts["tokens"])
    used = np.union1d(columns.event_steps, columns.names)
    logits = [text for text in used.data if columns.texts[text] == LOGITS]
    by_event = columns.event_rows[np.isin(columns.event_steps, logits)]
    for row in np.concatenate([by_event, np.flatnonzero(np.isin(columns.names, logits))]):
        shape = manifest.refs.shape(columns.arrays[row])
        if len(shape) > 1 and shape[-2] < tokens:
            raise Fault(f"row {row}, logits of shape {shape} for {tokens} tokens")
    if known := len(columns.words):
        for what in ("ids", "targets"):
            if any(i >= known for i in manifest.facts[what]):
                raise Fault(f"{what} beyond the vocabulary's {known} entries")
