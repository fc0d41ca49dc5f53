"""The members of a zip by name, and their bytes: read ourselves, so that very many members cost little memory.

A zip ends with a directory, and that with a record of where it starts. Of each member the directory tells how it
is compressed, its sizes and checksum, and where in the file it lies. The directory is kept as the bytes it is.
(APPNOTE.TXT, .ZIP File Format Specification, 4.3)
"""

import os
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

MOST_MEMBERS = 40_000
DIRECTORY_BYTES = 4 << 20  # their names included
CHUNK_BYTES = 64 << 10
STORED, DEFLATED = 0, 8
ENCRYPTED = 1  # a flag

END = struct.Struct("<4s4H2IH")  # signature, …, members, directory's size, its start, comment's length
END_64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR_64 = struct.Struct("<4sIQI")  # signature, …, where END_64 is
ENTRY = struct.Struct("<4s6H3I5H2I")
LOCAL = struct.Struct("<4s5H3I2H")
ANY = "surrogateescape"  # names are bytes, of whatever encoding
FARTHEST = 1 << 62  # that a file may reach
ABSENT, ABSENT_16 = 0xFFFFFFFF, 0xFFFF  # the number is in a field that has room for it


class Damage(Exception):
    """What is wrong with a zip, in a few words."""


class TooMany(Exception):
    """More members than are looked at; in a few words."""


class Member(NamedTuple):
    """What the directory says of one."""

    flags: int
    method: int
    checksum: int
    packed: int  # bytes in the file
    size: int  # bytes
    start: int  # of what stands before it, in the file
    name: bytes


class Directory:
    """Where each member is. Raises Damage for what is no directory or names one twice, and TooMany."""

    def __init__(self, file: IO[bytes], most: int = MOST_MEMBERS) -> None:
        self._raw = _directory_of(file)
        self._places: dict[bytes, int] = {}
        place = 0
        while place < len(self._raw):
            name, following = self._entry(place)
            if len(self._places) == most:
                raise TooMany(f"it holds more than {most} arrays")
            if self._places.setdefault(name.removesuffix(b".npy"), place) != place:
                raise Damage("two members have the same name")
            place = following

    def _entry(self, place: int) -> tuple[bytes, int]:
        """Name of the entry at a place, and where the next one is."""
        signature, *_, name, extra, comment, _, _, _, _ = _unpacked(ENTRY, self._raw, place)
        end = place + ENTRY.size + name
        if signature != b"PK\1\2" or end + extra + comment > len(self._raw):
            raise Damage("its directory is none")
        return self._raw[place + ENTRY.size : end], end + extra + comment

    def __iter__(self) -> Iterator[str]:
        return (str(name, "utf-8", ANY) for name in self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: str) -> bool:
        return name.encode("utf-8", ANY) in self._places

    def __getitem__(self, name: str) -> Member:
        place = self._places[name.encode("utf-8", ANY)]
        entry = _unpacked(ENTRY, self._raw, place)
        flags, method, checksum, packed, size, names, extras, start = *entry[3:5], *entry[7:12], entry[-1]
        names_end = place + ENTRY.size + names
        extra = self._raw[names_end : names_end + extras]
        size, packed, start = _in_full((size, packed, start), extra)
        return Member(flags, method, checksum, packed, size, start, self._raw[place + ENTRY.size : names_end])


def _directory_of(file: IO[bytes]) -> bytes:
    length = file.seek(0, os.SEEK_END)
    tail = _read_at(file, max(length - END.size - ABSENT_16, 0), END.size + ABSENT_16)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + END.size > len(tail):
        raise Damage("its end is not there")
    *_, size, start, _ = END.unpack_from(tail, at)
    if ABSENT in (size, start):
        size, start = _end_64(file, length - len(tail) + at)
    if size > DIRECTORY_BYTES:
        raise TooMany(f"the names of its arrays take {size} bytes, more than {DIRECTORY_BYTES}")
    raw = _read_at(file, start, size)
    if len(raw) < size:
        raise Damage("its directory is not there")
    return raw


def _end_64(file: IO[bytes], end: int) -> tuple[int, int]:
    """Size and start of a directory that does not fit the plain record, which is at `end`."""
    locator = _read_at(file, max(end - LOCATOR_64.size, 0), LOCATOR_64.size)
    signature, _, place, _ = _unpacked(LOCATOR_64, locator, 0)
    if signature != b"PK\6\7":
        raise Damage("its end is not there")
    signature, *_, size, start = _unpacked(END_64, _read_at(file, place, END_64.size), 0)
    if signature != b"PK\6\6":
        raise Damage("its end is not there")
    return size, start


def _in_full(numbers: tuple[int, int, int], extra: bytes) -> tuple[int, int, int]:
    """Size, packed size and start; those that are absent stand in the extra field of kind 1, in this order."""
    if ABSENT not in numbers:
        return numbers
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, place)
        if kind == 1:
            wide = iter(struct.unpack_from(f"<{min(length, len(extra) - place - 4) // 8}Q", extra, place + 4))
            size, packed, start = (next(wide, ABSENT) if n == ABSENT else n for n in numbers)
            return size, packed, start
        place += 4 + length
    return numbers


def _unpacked(record: struct.Struct, raw: bytes, place: int) -> tuple[Any, ...]:
    if place + record.size > len(raw):
        raise Damage("it is cut short")
    return record.unpack_from(raw, place)


def _read_at(file: IO[bytes], place: int, size: int) -> bytes:
    if place >= FARTHEST:
        raise Damage("it is cut short")
    file.seek(place)
    return file.read(size)


class Content:
    """The bytes of one member, from front to back. Raises Damage where they end early or their sum is wrong."""

    def __init__(self, file: IO[bytes], member: Member) -> None:
        self._file = file
        self._left, self._packed_left = member.size, member.packed
        self._checksum, self._sum = member.checksum, 0
        self._inflating = zlib.decompressobj(-15) if member.method == DEFLATED else None
        self._place = self._start_of(member)

    def _start_of(self, member: Member) -> int:
        """Where its bytes begin: behind what is said of it again."""
        signature, *_, names, extras = _unpacked(LOCAL, _read_at(self._file, member.start, LOCAL.size), 0)
        if signature != b"PK\3\4":
            raise Damage("it is not where the directory says")
        if self._file.read(names) != member.name:
            raise Damage("the directory has another name for it")
        return member.start + LOCAL.size + int(names) + int(extras)

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end."""
        parts, wanted = [], min(size, self._left)
        while wanted:
            part = self._some(wanted)
            wanted -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _some(self, most: int) -> bytes:
        part = self._packed(most) if self._inflating is None else self._inflated(most)
        self._sum = zlib.crc32(part, self._sum)
        self._left -= len(part)
        if not self._left and self._sum != self._checksum:
            raise Damage("Bad CRC-32")
        return part

    def _inflated(self, most: int) -> bytes:
        assert self._inflating is not None, "it is not compressed"
        waiting = self._inflating.unconsumed_tail
        while not (part := self._inflating.decompress(waiting, most)):
            if self._inflating.eof:
                raise Damage(f"{self._left} bytes are missing")
            waiting = self._packed(CHUNK_BYTES)
        return part

    def _packed(self, most: int) -> bytes:
        part = _read_at(self._file, self._place, min(most, self._packed_left, CHUNK_BYTES))
        if not part:
            raise Damage(f"{self._left} bytes are missing")
        self._place += len(part)
        self._packed_left -= len(part)
        return part
