"""Archive: the arrays of one .npz from a stranger.

An .npz is a zip of .npy members: a short header (dtype, order, shape), then raw numbers. Reading goes from small
to large: the zip's directory, then a member's header, and data only once every size agrees. Headers are matched
by a pattern, never evaluated, and nothing is unpickled.
"""

import codecs
import difflib
import io
import itertools
import math
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glassllm.checkpoint.directory import (
    CHUNK_BYTES,
    DEFLATED,
    ENCRYPTED,
    MOST_MEMBERS,
    STORED,
    Content,
    Damage,
    Directory,
    Member,
    TooMany,
)
from glassllm.config import Shape
from glassllm.files import StrPath, open_descriptor, printable, shown

Array = NDArray[Any]

HEADER_BYTES = 4096
REASON_CHARACTERS = 120
COPY_AGAIN = "copy or download the file again"
SAVE_ARRAYS = "save it with numpy.savez_compressed"

DAMAGE = (Damage, zlib.error, EOFError, OSError, ValueError)

_HEADER = re.compile(
    r"\{\s*'descr'\s*:\s*'([<>|=][a-zA-Z]\d{0,9})'\s*,\s*'fortran_order'\s*:\s*(True|False)\s*,"
    r"\s*'shape'\s*:\s*\(([\d\s,]*)\)\s*,?\s*\}\s*"
)


class CheckpointError(ValueError):
    """A file that cannot be opened or written, in one line: its path, the fault, the remedy."""

    def __init__(self, path: StrPath, fault: str, remedy: str) -> None:
        super().__init__(path, fault, remedy)
        self.path = os.fspath(path)
        self.fault = printable(fault)
        self.remedy = printable(remedy)

    def __str__(self) -> str:
        return f"{shown(self.path)}: {self.fault}; {self.remedy}"


def opening_error(path: StrPath, error: OSError | ValueError) -> CheckpointError:
    """What an operating system's refusal to open `path` means, and what to do about it."""
    if isinstance(error, FileNotFoundError):
        if os.path.islink(path):
            return CheckpointError(path, "a link that leads nowhere", "mend the link or name the file itself")
        return CheckpointError(path, "no such file", _nearest_name(path))
    if isinstance(error, IsADirectoryError):
        return CheckpointError(path, "a folder, not a file", "name the file in it")
    if isinstance(error, PermissionError):
        return CheckpointError(path, "may not be read", "change its permissions")
    reason = getattr(error, "strerror", None) or error
    return CheckpointError(path, f"cannot be opened: {reason}", "name another file")


def _nearest_name(path: StrPath) -> str:
    folder, name = os.path.split(os.fspath(path))
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in itertools.islice(entries, 2000)]
    except OSError:
        return f"there is no folder {shown(folder)}"
    nearest = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {nearest[0]}?" if nearest else "check the name"


@dataclass(frozen=True)
class Header:
    """What stands before a member's numbers."""

    dtype: np.dtype[Any]
    shape: Shape
    is_fortran: bool
    data_start: int  # bytes from the member's start

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize


class Readable(Protocol):
    """Anything with bytes, from front to back."""

    def read(self, size: int, /) -> bytes: ...


def parse_header(stream: Readable) -> Header:
    """Read the head of a .npy stream; ValueError unless it is that of a plain array."""
    start = _read_exactly(stream, 8)
    if start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
        raise ValueError("it does not start like an array")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(_read_exactly(stream, width), "little")
    if length > HEADER_BYTES:
        raise ValueError(f"its header is {length} bytes long")
    match = _HEADER.fullmatch(_read_exactly(stream, length).decode("latin-1"))
    if match is None:
        raise ValueError("its header is not that of a plain array")
    descr, fortran, sizes = match.groups()
    if descr[1] == "O":
        raise ValueError("it holds Python objects, which are never unpickled")
    if descr[1] not in "biufcUS":
        raise ValueError(f"its dtype {descr} is not of numbers or text")
    return Header(_plain_dtype(descr), _parse_shape(sizes), fortran == "True", 8 + width + length)


def _plain_dtype(descr: str) -> np.dtype[Any]:
    try:
        return np.dtype(descr)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"its dtype {descr} is unknown") from None


def _parse_shape(text: str) -> Shape:
    sizes = [size.strip() for size in text.split(",") if size.strip()]
    if len(sizes) > 32 or not all(size.isdecimal() and len(size) < 19 for size in sizes):
        raise ValueError("its shape is absurd")
    return tuple(map(int, sizes))


def _read_exactly(stream: Readable, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError("it ends within its header")
    return content


class Archive:
    """The arrays of one .npz by name; every fault is a CheckpointError. Use as a context manager.

    `header` is safe on any file. `verify` and `read` take as long and as much memory as that header says, so
    look at it first. A file with very many arrays needs a larger `most`.
    """

    def __init__(self, path: StrPath, most: int = MOST_MEMBERS) -> None:
        self.path = path
        try:
            descriptor = open_descriptor(path)
        except (OSError, ValueError) as error:
            raise opening_error(path, error) from None
        self._file = io.BufferedReader(io.FileIO(descriptor))
        try:
            self._refuse_other_formats(self._file.peek(16)[:16])
            with self._reading("the archive"):
                self._members = Directory(self._file, most)
        except BaseException:
            self._file.close()
            raise
        self._header: tuple[str, Header] | None = None  # the last that was asked for

    def _refuse_other_formats(self, start: bytes) -> None:
        remedy = "name a .npz file"
        if not start:
            raise self.fault("the file is empty", COPY_AGAIN)
        if start.startswith(b"\x93NUMPY"):
            raise self.fault("a single array, not an archive of them", remedy)
        if start.startswith(b"version https://"):
            raise self.fault("a Git LFS pointer, not the file itself", "run git lfs pull")
        if start[0] == 0x80 and start[1:2] in (b"\2", b"\3", b"\4", b"\5"):
            raise self.fault("a pickle, which is never read", remedy)
        if not start.startswith(b"PK"):
            raise self.fault("not an .npz archive", remedy)

    def fault(self, fault: str, remedy: str) -> CheckpointError:
        """An error that names this file."""
        return CheckpointError(self.path, fault, remedy)

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        try:
            yield
        except CheckpointError:
            raise
        except TooMany as error:
            raise self.fault(str(error), "keep fewer in one file") from None
        except DAMAGE as error:
            reason = str(error)[:REASON_CHARACTERS]
            raise self.fault(f"{what} is damaged or cut short: {reason}", COPY_AGAIN) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all members, in file order, whatever they hold."""
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def header(self, name: str) -> Header:
        """Dtype and shape of one array; its size agrees with what the directory says. KeyError: no such name."""
        if self._header is None or self._header[0] != name:
            self._header = name, self._read_header(name, self._members[name])
        return self._header[1]

    def _read_header(self, name: str, member: Member) -> Header:
        self._refuse_unreadable(name, member)
        with self._reading(f"'{name}'"):
            try:
                header = parse_header(Content(self._file, member))
            except ValueError as error:
                raise self.fault(f"'{name}' is not a plain array: {error}", SAVE_ARRAYS) from None
        if header.data_start + header.nbytes != member.size:
            sizes = f"{header.dtype} of shape {header.shape} in {member.size} bytes"
            raise self.fault(f"'{name}' claims to be {sizes}", COPY_AGAIN)
        return header

    def _refuse_unreadable(self, name: str, member: Member) -> None:
        if member.flags & ENCRYPTED:
            raise self.fault(f"'{name}' is encrypted", SAVE_ARRAYS)
        if member.method not in (STORED, DEFLATED):
            raise self.fault(f"'{name}' is compressed by the unknown method {member.method}", SAVE_ARRAYS)

    def _data(self, name: str, width: int = 1) -> Iterator[bytes]:
        """The bytes of one array, in chunks of whole `width`; a fault if they end early or their sum is wrong."""
        header = self.header(name)
        longest = CHUNK_BYTES // width * width
        with self._reading(f"'{name}'"):
            stream = Content(self._file, self._members[name])
            stream.read(header.data_start)
            left = header.nbytes
            while left:
                chunk = stream.read(min(left, longest))
                if not chunk:
                    raise EOFError(f"{left} bytes are missing")
                left -= len(chunk)
                yield chunk

    def pieces(self, name: str) -> Iterator[Array]:
        """The numbers of one array as the file has them, in flat pieces that are not kept."""
        dtype = self.header(name).dtype
        if dtype.itemsize > CHUNK_BYTES:
            raise self.fault(f"'{name}' holds texts that are too long", SAVE_ARRAYS)
        for chunk in self._data(name, max(dtype.itemsize, 1)):
            yield np.frombuffer(chunk, dtype)

    def verify(self, name: str) -> None:
        """Read one array through and keep nothing, so that refusing a damaged file costs no memory."""
        for _ in self._data(name):
            pass

    def read(self, name: str, dtype: DTypeLike | None = None) -> Array:
        """One array, in C order and native byte order; as `dtype` if one is given, converted piece by piece."""
        header = self.header(name)
        try:
            array: Array = np.empty(header.shape, dtype or header.dtype.newbyteorder("="))
        except MemoryError:
            raise self.fault(f"'{name}' does not fit into memory", "close other programs") from None
        flat: Any = array.T.flat if header.is_fortran else array.reshape(-1)  # in the file's order
        start = 0
        for piece in self.pieces(name):
            flat[start : start + len(piece)] = piece
            start += len(piece)
        return array

    def text(self, name: str, limit: int) -> str:
        """A 0-d string array of at most `limit` characters."""
        header = self.header(name)
        if header.dtype.kind != "U" or header.shape != ():
            found = f"{header.dtype} of shape {header.shape}"
            raise self.fault(f"'{name}' must be one string, got {found}", "save it as numpy.array(text)")
        if header.nbytes > 4 * limit:
            raise self.fault(f"'{name}' has {header.nbytes // 4} characters, more than {limit}", "shorten it")
        codec = "utf-32-le" if header.dtype.newbyteorder("<") == header.dtype else "utf-32-be"
        with self._reading(f"'{name}'"):
            return "".join(codecs.iterdecode(self._data(name), codec)).rstrip("\0")
