"""Whether the parts of a recording fit together, so that no rule is ever given arrays it cannot take.

`check_shapes` needs no data: an array that takes no memory stands for each. `check_values` needs of an array of
indices only how far its numbers reach, and `check_vocabulary` reads two arrays that are small.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from glassllm.autograd.graph import gradient_dtype
from glassllm.autograd.ops import Array

from .encoding import ArrayOf, Fault, Ref, StandIn, decode
from .indices import INDEXED, Extent
from .indices import check_values as check_indices
from .shapes import is_saved, result_shape
from .specs import Manifest, RowSpec, TraversalSpec
from .visits import check_visits

LOGITS = "logits"
VOCABULARY = (4 << 20, 1 << 18)  # bytes and texts
NUMPY_FAULTS = (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError)


@contextmanager
def about(what: str) -> Iterator[None]:
    """Whatever NumPy refuses inside is a Fault of `what`."""
    try:
        yield
    except NUMPY_FAULTS as error:
        raise Fault(f"{what}: {error or type(error).__name__}") from None


def attrs_of(manifest: Manifest, row: RowSpec, array_of: StandIn) -> dict[str, Any]:
    return {name: decode(value, manifest.members, array_of) for name, value in row.attrs.items()}


def check_shapes(manifest: Manifest) -> None:
    """Raise Fault where an op, a traversal or the text of the run cannot belong to arrays of these shapes."""

    def blank(ref: Ref) -> Array:
        return np.broadcast_to(np.zeros((), manifest.members[ref.member].dtype), ref.shape)

    for i, row in enumerate(manifest.rows):
        if row.kind == "node":
            with about(f"row {i}, {row.name}"):
                _check_node(manifest, row, attrs_of(manifest, row, blank))
    _check_graph(manifest)
    for i, traversal in enumerate(manifest.traversals, 1):
        with about(f"traversal {i}"):
            _check_traversal(manifest, traversal)
    if manifest.chosen is not None and manifest.chosen[1] is not None:
        with about("the chosen seed"):
            _check_gradient(manifest, manifest.chosen[1], manifest.rows[manifest.chosen[0]].array)
    _check_text(manifest)
    check_visits(manifest)


def _check_node(manifest: Manifest, row: RowSpec, attrs: dict[str, Any]) -> None:
    for slot, ref in row.used:
        expected = row.array if slot < 0 else manifest.rows[row.inputs[slot]].array
        if (ref.shape, _dtype(manifest, ref)) != (expected.shape, _dtype(manifest, expected)):
            raise Fault(f"it used {ref.shape} in the place of {expected.shape}")
    if row.op is None:
        if row.saved:
            raise Fault("a custom op has no saved arrays here")
        return
    shapes = [ref.shape for ref in manifest.inputs_of(row)]
    found = result_shape(row.op, shapes, attrs)
    if found not in (None, row.array.shape):
        raise Fault(f"its result has the shape {row.array.shape}, its inputs make {found}")
    if not is_saved(row.op, shapes, row.array.shape, [ref.shape for ref in row.saved]):
        raise Fault(f"its rule needs other arrays than the {len(row.saved)} saved ones")


def _check_graph(manifest: Manifest) -> None:
    """Which leaves take a gradient, in which order nodes were made, and where traversals may start."""
    rows, made = manifest.rows, {row: order for order, row in enumerate(manifest.created)}
    taking = set()
    for i in manifest.created:
        sources = manifest.carried(i)
        if any(made.get(source, -1) >= made[i] for source in sources):
            raise Fault("created has a node before one of its inputs")
        taking |= {source for source in sources if rows[source].kind == "leaf"}
    if taking != set(manifest.leaves):
        raise Fault("leaves must hold the leaves that take a gradient, and no others")
    roots = [traversal.root for traversal in manifest.traversals]
    for root in [*roots, *(manifest.chosen or ())[:1]]:
        if root not in made and root not in taking:
            raise Fault(f"row {root} takes no gradient, and nothing starts from it")


def _check_traversal(manifest: Manifest, traversal: TraversalSpec) -> None:
    _check_gradient(manifest, traversal.seed, manifest.rows[traversal.root].array)
    for source, sent in traversal.sent:
        row = manifest.rows[source]
        for slot, (ref, taken) in enumerate(zip(sent, manifest.inputs_of(row), strict=True)):
            if ref is not None and not manifest.is_carried(row, slot):
                raise Fault(f"row {source} sent to an input that takes no gradient")
            if ref is not None:
                _check_gradient(manifest, ref, taken)


def _check_gradient(manifest: Manifest, gradient: Ref, array: Ref) -> None:
    found, wanted = _dtype(manifest, gradient), gradient_dtype(_dtype(manifest, array))
    if gradient.shape != array.shape or found != wanted:
        raise Fault(f"{found} of shape {gradient.shape} for a gradient, {wanted} of {array.shape} is needed")


def _check_text(manifest: Manifest) -> None:
    """Logits have a row for each token, ids and their texts the right kinds."""
    tokens = len(manifest.facts["tokens"])
    named = {event.row for event in manifest.events if event.step == LOGITS}
    for i, row in enumerate(manifest.rows):
        if (i in named or row.name == LOGITS) and len(row.array.shape) > 1 and row.array.shape[-2] < tokens:
            raise Fault(f"row {i}, logits of shape {row.array.shape} for {tokens} tokens")
    if manifest.vocabulary is not None:
        kinds = [(_dtype(manifest, ref).str, len(ref.shape)) for ref in manifest.vocabulary]
        if kinds != [("|u1", 1), ("<i8", 1)]:
            raise Fault("the vocabulary must be bytes, and where the texts end")
        if any(ref.shape[0] > most for ref, most in zip(manifest.vocabulary, VOCABULARY, strict=True)):
            raise Fault("the vocabulary is absurdly large")
        known = manifest.vocabulary[1].shape[0]
        for what in ("ids", "targets"):
            if any(i >= known for i in manifest.facts[what]):
                raise Fault(f"{what} beyond the vocabulary's {known} entries")


def _dtype(manifest: Manifest, ref: Ref) -> "np.dtype[Any]":
    return manifest.members[ref.member].dtype


def check_values(manifest: Manifest, extent_of: Callable[[Ref], Extent]) -> None:
    """Raise Fault where an id, a target or an index is out of range; asks only for the arrays that hold them."""
    for i, row in enumerate(manifest.rows):
        if row.op is not None and row.name in INDEXED:
            with about(f"row {i}, {row.name}"):
                shapes = [ref.shape for ref in manifest.inputs_of(row)]
                check_indices(row.op, shapes, attrs_of(manifest, row, extent_of), row.array.shape)


def check_vocabulary(manifest: Manifest, array_of: ArrayOf) -> None:
    """Raise Fault where the vocabulary is no texts; no more than one of them is held at a time."""
    if manifest.vocabulary is not None:
        with about("the vocabulary"):
            for _ in _texts(*map(array_of, manifest.vocabulary)):
                pass


def vocabulary_of(manifest: Manifest, array_of: ArrayOf) -> tuple[str, ...]:
    """One text per id; empty where the run had none."""
    return () if manifest.vocabulary is None else tuple(_texts(*map(array_of, manifest.vocabulary)))


def _texts(joined: Array, ends: Array) -> Iterator[str]:
    start = 0
    for end in ends:
        if not start <= end <= len(joined):
            raise Fault("its texts end where there are none")
        yield str(joined[start:end].tobytes(), "utf-8", "surrogatepass")
        start = end
    if start != len(joined):
        raise Fault("there is more than its texts")
