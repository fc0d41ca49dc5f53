"""What opening a recording takes in memory, told before any of its numbers is read."""

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.rows import TRACKED

from .columns import CUSTOM, NODE
from .graph import names_of
from .manifest import Manifest

VISIT_BYTES = 500  # what planning one visit takes besides its arrays
MOVING = ("where", "reshape", "transpose", "getitem", "concat")  # ops whose results may carry a mask


def needed_bytes(manifest: Manifest) -> int:
    """The arrays, the masks, and what the visits send."""
    columns, refs = manifest.columns, manifest.refs
    moving = (columns.kinds == NODE) & ~columns.has(CUSTOM) & np.isin(columns.names, names_of(columns, MOVING))
    masks = int(refs.sizes(columns.arrays[moving]).sum())
    sent = np.sort(_sent_bytes(manifest)[columns.has(TRACKED)])[::-1]
    visits = sum(int(sent[: t.visits].sum()) + VISIT_BYTES * len(columns) for t in manifest.traversals)
    return refs.nbytes() + masks + visits


def _sent_bytes(manifest: Manifest) -> Array:
    """Of each row, what its visit sends."""
    columns = manifest.columns
    passed = np.zeros(len(columns.taken) + 1, np.int64)  # by the inputs before each
    np.take(manifest.refs.gradient_bytes(), columns.taken, out=passed[1:], mode="clip")  # else `out` is buffered
    passed[1:] *= columns.carried
    np.cumsum(passed, out=passed)
    return np.diff(passed[columns.input_starts])
