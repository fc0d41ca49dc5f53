"""Strangers' files: opened, replaced and spoken of so that nothing hangs, breaks or reaches the terminal raw.

A file is read only if it is a regular one, and JSON parsed only once it is known what that costs at most. A file
is replaced whole or not at all: the new bytes are written beside it, flushed to the disk, and only then take its
name.
"""

import errno
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

StrPath = str | os.PathLike[str]

LONGEST_SHOWN = 200  # characters of a path
JSON_COSTS = {"{": 190, "[": 90, ",": 48, ":": 90, '"': 36}
"""What parsing makes of each sign, in bytes, at most: dicts, lists, numbers and places, values, texts and keys."""


def printable(text: str) -> str:
    """`text` on one line, control characters, bidirectional marks and lone surrogates written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(path: StrPath) -> str:
    """A path as messages say it: on one harmless line, and only its end where it is very long."""
    text = os.fspath(path)
    return printable(text if len(text) <= LONGEST_SHOWN else "…" + text[1 - LONGEST_SHOWN :])


def expanded(path: str) -> Path:
    """A path as it was typed, `~` for a home. Raises ValueError, one line, where nobody has such a home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"{shown(path)}: there is no such home; choose another place") from None


def brief(value: Any) -> str:
    """`repr` on one line, of bounded length and cost."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, list | dict):
        return f"a {type(value).__name__}"
    text = printable(repr(value[:60] if isinstance(value, str) else value))
    return text if len(text) <= 60 else text[:57] + "..."


def parse_json(text: str, limit: int, **options: Any) -> Any:
    """JSON that takes at most `limit` bytes of memory besides the text itself; `options` are those of json.loads.

    Raises ValueError, one line, for what may take more, is nested too deeply, or is no JSON.
    """
    if sum(text.count(sign) * cost for sign, cost in JSON_COSTS.items()) > limit:
        raise ValueError("JSON of too many entries")
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None


def open_descriptor(path: StrPath) -> int:
    """A read-only descriptor of a regular file; anything else is an OSError, at once."""
    # note: without O_NONBLOCK opening a pipe would wait for its writer
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", os.fspath(path))
    raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def read_text(path: StrPath, limit: int) -> str:
    """A whole UTF-8 file of at most `limit` bytes; longer or other bytes are a ValueError."""
    with open(open_descriptor(path), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"longer than {limit} bytes")
    try:
        return str(content, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text: byte {error.start} is {content[error.start]:#04x}") from None


@contextmanager
def replacing(path: StrPath) -> Iterator[BinaryIO]:
    """A file to write; it becomes `path` when the block ends well, and is removed when it does not."""
    target = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    beside = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
