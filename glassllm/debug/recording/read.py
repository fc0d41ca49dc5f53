"""Opening a recording: from small to large, and nothing is held before all that can be wrong has been looked for.

Almost all of it the manifest and its columns tell: shapes, rows, traversals, visits, the position. Two things only
the numbers do, and neither costs memory that goes with their size: whether they are whole, and how far indices
reach, which is seen piece by piece, nothing being kept. When the numbers are held the recording is known to be a
good one. Only a rule may still fail on numbers it cannot take, such as an integer's negative power: that ends its
traversal, as it does in any session.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.checkpoint import Archive
from glassllm.debug.session import Session
from glassllm.debug.slices import Slice, Sliced, finished

from .arrays import Refs, Views
from .columns import COLUMN_BYTES, COLUMNS, Columns
from .encoding import Fault
from .extents import Extents
from .fit import attrs_of, check_indices, checking
from .manifest import CHARACTERS, OLDER, Manifest, read_manifest
from .rebuild import rebuilding
from .sizes import needed_bytes
from .write import LIMIT_BYTES, RECORDING

SAVE_AGAIN = "save the recording again"


def open_recording(path: Path, limit_bytes: int = LIMIT_BYTES) -> Session:
    """The session that was saved, at its position. CheckpointError for any file that is no whole recording."""
    return finished(opening_recording(path, limit_bytes))


def opening_recording(path: Path, limit_bytes: int = LIMIT_BYTES) -> Sliced[Session]:
    """The same in slices."""
    with Archive(path) as archive:
        if RECORDING not in archive:
            raise archive.fault(f"no {RECORDING} in it: not a recording", "name another file")
        text = archive.text(RECORDING, CHARACTERS)
        if text.startswith(OLDER):
            raise archive.fault("an earlier version made this recording", "save the run again with this one")
        try:
            manifest = read_manifest(text, Columns.read(_column_of(archive)))
            del text
            _check_size(archive, manifest, limit_bytes)
            _check_members(archive, manifest.refs)
            indexed = yield from checking(manifest)
            yield from _looking_through(archive, manifest, indexed)
            numbers = yield from _reading(archive, manifest.refs)
            session = yield from rebuilding(manifest, Views(manifest.refs, manifest.columns, numbers))
        except Fault as fault:
            raise archive.fault(f"bad {RECORDING}: {fault}", SAVE_AGAIN) from None
    session.files.add(os.path.realpath(path))
    return session


def _column_of(archive: Archive) -> Callable[[str], Array]:
    """What reads a column, once it is known that all of them are small enough and of the right kind."""
    total = 0
    for name in COLUMNS:
        if name not in archive:
            raise Fault(f"'{name}' is missing")
        header = archive.header(name)
        if header.dtype.kind != "u" or len(header.shape) != 1:
            raise Fault(f"'{name}' is {header.dtype} of shape {header.shape}, not a row of integers from 0 on")
        total += header.nbytes
    if total > COLUMN_BYTES:
        raise Fault(f"it says {total / 1e6:.1f} MB of its rows, more than {COLUMN_BYTES / 1e6:.1f}")
    return archive.read


def _check_size(archive: Archive, manifest: Manifest, limit_bytes: int) -> None:
    if (needed := needed_bytes(manifest)) > limit_bytes:
        sizes = f"{needed / 2**30:,.1f} GiB, more than the limit of {limit_bytes / 2**30:,.1f} GiB"
        raise archive.fault(f"the recording needs {sizes}", "raise the limit if you trust the file")


def _check_members(archive: Archive, refs: Refs) -> None:
    """The file holds all numbers of the arrays, and nothing else."""
    expected = refs.totals()
    if extra := [name for name in archive.names if name not in {*expected, *COLUMNS, RECORDING}]:
        raise Fault(f"it knows nothing of {extra[0][:40]!a}")
    for name, count in expected.items():
        if name not in archive:
            raise Fault(f"'{name}' is missing")
        header = archive.header(name)
        if (header.dtype, header.shape) != (np.dtype(name), (count,)):
            raise Fault(f"'{name}' is {header.dtype} of shape {header.shape}, not {count} numbers")


def _looking_through(archive: Archive, manifest: Manifest, rows: Sequence[int]) -> Sliced[None]:
    """Raise an error where numbers are damaged, or indices of these rows out of range."""
    columns, extents = manifest.columns, Extents(manifest)
    for row in rows:
        attrs_of(columns.texts, columns.attrs[row], extents.want)
    yield from extents.look(archive.pieces)
    check_indices(manifest, rows, extents.of)


def _reading(archive: Archive, refs: Refs) -> Sliced[Mapping[str, Array]]:
    """All numbers, read-only."""
    numbers, pace, totals, done = {}, Slice(), refs.totals(), 0
    for name, count in totals.items():
        numbers[name] = np.empty(count, name)
        start = 0
        for piece in archive.pieces(name):
            numbers[name][start : start + len(piece)] = piece
            start += len(piece)
            if pace.is_full(piece.nbytes):
                yield done + start, sum(totals.values())
        numbers[name].flags.writeable = False
        done += count
    return numbers
