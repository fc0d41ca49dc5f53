"""Opening a recording: from small to large, and nothing is held before all that can be wrong has been looked for.

Almost all of it the manifest and the headers tell: shapes, rows, traversals, visits, the position. Three things
only the arrays do, and none of these costs memory that goes with their size: whether they are whole, and how far
indices reach, which is seen piece by piece, nothing being kept; and the texts of the vocabulary, whose length is
limited. When the arrays are read the recording is known to be a good one. Only a rule may still fail on numbers it
cannot take, such as an integer's negative power: that ends its traversal, as it does in any session.
"""

import os
from dataclasses import replace
from pathlib import Path

from glassllm.autograd.ops import Array
from glassllm.checkpoint import Archive
from glassllm.debug.session import Session

from .encoding import Fault, Ref, as_seen
from .fit import check_shapes, check_values, check_vocabulary, vocabulary_of
from .indices import Extent
from .manifest import CHARACTERS, read_manifest
from .rebuild import rebuild
from .specs import Manifest
from .write import LIMIT_BYTES, RECORDING, member_name

SAVE_AGAIN = "save the recording again"


def open_recording(path: Path, limit_bytes: int = LIMIT_BYTES) -> Session:
    """The session that was saved, at its position. CheckpointError for any file that is no whole recording."""
    with Archive(path) as archive:
        if RECORDING not in archive:
            raise archive.fault(f"no {RECORDING} in it: not a recording", "name another file")
        text = archive.text(RECORDING, CHARACTERS)
        try:
            manifest = read_manifest(text)
            _check_size(archive, manifest, limit_bytes)
            _check_members(archive, manifest)
            check_shapes(manifest)
            for i in range(len(manifest.members)):
                archive.verify(member_name(i))
            check_values(manifest, _Extents(archive).of)
            check_vocabulary(manifest, _Arrays(archive).seen)
            arrays = _Arrays(archive)
            session = rebuild(manifest, arrays.seen, vocabulary_of(manifest, arrays.seen))
        except Fault as fault:
            raise archive.fault(f"bad {RECORDING}: {fault}", SAVE_AGAIN) from None
    session.files.add(os.path.realpath(path))
    return session


def _check_size(archive: Archive, manifest: Manifest, limit_bytes: int) -> None:
    if (needed := manifest.needed_bytes()) > limit_bytes:
        sizes = f"{needed / 2**30:,.1f} GiB, more than the limit of {limit_bytes / 2**30:,.1f} GiB"
        raise archive.fault(f"the recording needs {sizes}", "raise the limit if you trust the file")


def _check_members(archive: Archive, manifest: Manifest) -> None:
    """The file holds the arrays of the manifest, of these dtypes and shapes, and no others."""
    expected = {member_name(i): member for i, member in enumerate(manifest.members)}
    if missing := [name for name in expected if name not in archive]:
        raise Fault(f"'{missing[0]}' is missing")
    if extra := [name for name in archive.names if name not in expected and name != RECORDING]:
        raise Fault(f"it knows nothing of {extra[0][:40]!a}")
    for name, member in expected.items():
        header = archive.header(name)
        if header.dtype != member.dtype or header.shape != member.shape or header.is_fortran:
            found = f"{header.dtype} of shape {header.shape}"
            raise Fault(f"'{name}' is {found}, not {member.dtype} of shape {member.shape}")


class _Extents:
    """How far the numbers of arrays reach, each read through once."""

    def __init__(self, archive: Archive):
        self._archive = archive
        self._known: dict[int, Extent] = {}

    def of(self, ref: Ref) -> Extent:
        if ref.member not in self._known:
            name = member_name(ref.member)
            header = self._archive.header(name)
            self._known[ref.member] = Extent.of(header.shape, header.dtype, self._archive.pieces(name))
        return replace(self._known[ref.member], shape=ref.shape)


class _Arrays:
    """The arrays of the file, read-only, each read once and when it is first asked for."""

    def __init__(self, archive: Archive):
        self._archive = archive
        self._stored: dict[int, Array] = {}
        self._seen: dict[Ref, Array] = {}

    def seen(self, ref: Ref) -> Array:
        if ref not in self._seen:
            self._seen[ref] = as_seen(self._read(ref.member), ref)
        return self._seen[ref]

    def _read(self, member: int) -> Array:
        if member not in self._stored:
            self._stored[member] = self._archive.read(member_name(member))
            self._stored[member].flags.writeable = False
        return self._stored[member]
