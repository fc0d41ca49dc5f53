"""How we write an .npz: whole or not at all, piece by piece, and the same arrays as the same bytes."""

import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from glassllm.checkpoint.archive import Array, CheckpointError
from glassllm.checkpoint.directory import ANY, DIRECTORY_BYTES, ENTRY, MOST_MEMBERS
from glassllm.files import StrPath, replacing

LONGEST_EXTRA = 12  # bytes that the directory says of a member far into a large file
PIECE_BYTES = 512 << 10  # that are written at once: compressing them takes a moment
SAMPLES, SAMPLE_BYTES = 16, 4096  # places, and bytes at each, that show how small numbers get
WORTH = 0.75  # of their size to which numbers have to shrink: both ways cost several times what plain bytes do

Writable = Array | list[Array]
"""What becomes one member: an array, or flat ones of one dtype that are written one behind the other."""


def write_npz(path: StrPath, arrays: Mapping[str, Writable]) -> None:
    """Write named arrays, whole or not at all; the same arrays give the same bytes."""
    for _ in writing_npz(path, arrays):
        pass


def writing_npz(path: StrPath, arrays: Mapping[str, Writable]) -> Iterator[tuple[int, int]]:
    """`write_npz` piece by piece, yielding (done, total); abandoned midway it has written nothing.

    Raises CheckpointError where there are more arrays than a file may hold that is opened, and where it cannot be
    written.
    """
    total, done = sum(map(_count, arrays.values())), 0
    _check_directory(path, arrays)
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
                info.compress_type = _method(_parts(array))
                info.create_system = 3  # the default differs from system to system
                with archive.open(info, "w", force_zip64=True) as member:
                    np.lib.format.write_array_header_1_0(member, _header_of(array))
                    for piece in _pieces_of(_parts(array)):
                        member.write(piece)
                        done += 1
                        yield done, total
    except OSError as error:
        reason = error.strerror or error
        raise CheckpointError(path, f"cannot be written: {reason}", "choose another place") from None


def _check_directory(path: StrPath, names: Collection[str]) -> None:
    """Nothing is written that would not be opened."""
    if len(names) > MOST_MEMBERS:
        remedy = f"a file opens with {MOST_MEMBERS} at most"
        raise CheckpointError(path, f"it would hold {len(names)} arrays", remedy)
    taken = sum(ENTRY.size + LONGEST_EXTRA + len(f"{name}.npy".encode("utf-8", ANY)) for name in names)
    if taken > DIRECTORY_BYTES:
        remedy = f"a file opens with {DIRECTORY_BYTES} at most; use shorter ones"
        raise CheckpointError(path, f"the names of its arrays would take {taken} bytes", remedy)


def _parts(array: Writable) -> Sequence[Array]:
    return array if isinstance(array, list) else [np.asarray(array)]


def _header_of(array: Writable) -> dict[str, Any]:
    parts = _parts(array)
    if parts[0].dtype.hasobject:
        raise ValueError("Object arrays are not written, since they would have to be pickled")
    header: dict[str, Any] = np.lib.format.header_data_from_array_1_0(parts[0])
    return header | {"shape": (sum(part.size for part in parts),)} if isinstance(array, list) else header


def _method(parts: Sequence[Array]) -> int:
    """How numbers are held: compressed, or as they are where they would hardly get smaller."""
    sample = _sample(parts)
    is_worth_it = len(zlib.compress(sample, 1)) < WORTH * len(sample)
    return zipfile.ZIP_DEFLATED if is_worth_it else zipfile.ZIP_STORED


def _sample(parts: Sequence[Array]) -> bytes:
    """Some of the numbers, from evenly spaced places: those of a run often change their kind on the way."""
    taken = []
    for i in range(SAMPLES):
        flat = _flat(parts[i * len(parts) // SAMPLES])
        count = SAMPLE_BYTES // max(flat.itemsize, 1)
        start = max(min(i * flat.size // SAMPLES, flat.size - count), 0)
        taken.append(flat[start : start + count].tobytes())
    return b"".join(taken)


def _flat(part: Array) -> Array:
    """Its numbers in the order in which a file holds them."""
    is_fortran = part.flags.f_contiguous and not part.flags.c_contiguous
    return (part.T if is_fortran else part).reshape(-1)


def _count(array: Writable) -> int:
    """How many pieces it is written in."""
    return max(1, -(-sum(part.nbytes for part in _parts(array)) // PIECE_BYTES))


def _pieces_of(parts: Sequence[Array]) -> Iterator[bytes]:
    """All numbers, in pieces of the same length but the last; a single empty one where there are none."""
    piece = bytearray()
    for part in parts:
        flat = _flat(part)
        step = max(1, PIECE_BYTES // max(part.itemsize, 1))
        for start in range(0, flat.size, step):
            piece += flat[start : start + step].tobytes()
            if len(piece) >= PIECE_BYTES:
                yield bytes(piece[:PIECE_BYTES])
                del piece[:PIECE_BYTES]
    if piece or not any(part.nbytes for part in parts):
        yield bytes(piece)
