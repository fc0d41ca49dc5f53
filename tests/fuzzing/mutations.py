"""Mutations of files: of their bytes, of the JSON in them, and of the headers and members of archives.

An archive is put together again after it was changed inside, with checksums that agree: what is wrong then lies
deeper than a damaged byte.
"""

import copy
import io
import json
import re
import zipfile
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from glassllm.autograd.ops import OPS
from glassllm.checkpoint.archive import parse_header

Rng = np.random.Generator
Members = dict[str, bytes]

NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**30, 0.5, -0.0, 1e308)
VALUES: tuple[Any, ...] = (
    None, True, False, "", "x", "\x1b[2J", "ab", "\ud800", [], {}, [0], [None], [[]], {"array": 0},
    {"float": "nan"}, {"tuple": []}, {"tuple": [0, 1]}, {"slice": [None, None, -1]}, {"ellipsis": True},
    [3, [2, 2]], [1, [2, 3], [1, 0]],
)  # fmt: skip
DTYPES = ("<f4", "<f2", "<f8", ">f4", "<i8", "|u1", "|b1", "<c8", "<U5", "|O", "|S3", "<M8", "|V4", "<f16", "<i4")


def mutated(valid: list[bytes], rng: Rng) -> bytes:
    """One of the valid files with one to three mutations."""
    content = valid[rng.integers(len(valid))]
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        if rng.random() < 0.15 or not content:
            content = of_bytes(content, valid, rng)
        elif content.startswith(b"PK"):
            content = of_archive(content, valid, rng)
        else:
            content = of_text(content, rng)
    return content


# Bytes


def of_bytes(content: bytes, valid: list[bytes], rng: Rng) -> bytes:
    data = bytearray(content)
    other = valid[rng.integers(len(valid))]
    start, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    kind = rng.integers(6)
    if kind == 0:  # bits
        for place in rng.integers(0, max(len(data), 1), rng.integers(1, 9)) if data else ():
            data[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:  # cut short
        del data[end:]
    elif kind == 2:  # a piece less
        del data[start : start + min(end - start, int(rng.integers(1, 64)))]
    elif kind == 3:  # a piece twice
        data[start:start] = data[start:end][:512]
    elif kind == 4:  # the start of one, the end of another
        data[start:] = other[min(start, len(other)) :]
    else:  # numbers of the directory and of sizes
        value = int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 0xFFFF])).to_bytes(4, "little")
        data[start : start + 4] = value
    return bytes(data)


# JSON


def of_text(content: bytes, rng: Rng) -> bytes:
    """JSON with a value changed, or a character where it is none any more."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return of_bytes(content, [content], rng)
    return json.dumps(of_json(document, rng), ensure_ascii=bool(rng.integers(2))).encode("utf-8", "surrogatepass")


def of_json(document: Any, rng: Rng) -> Any:
    """The document with one of its values replaced, removed, doubled or exchanged for another."""
    document = copy.deepcopy(document)
    slots = list(slots_of(document))
    if not slots:
        return any_value(rng)
    holder, key = slots[rng.integers(len(slots))]
    other_holder, other_key = slots[rng.integers(len(slots))]
    kind = rng.integers(6)
    if rng.random() < 0.05:
        holder[key] = inflated(holder[key], rng)
    elif kind == 0:
        holder[key] = any_value(rng)
    elif kind == 1:
        holder[key] = copy.deepcopy(other_holder[other_key])
    elif kind == 2:
        del holder[key]
    elif kind == 3 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 4 and type(holder[key]) is int:
        holder[key] += int(rng.integers(-3, 4))
    elif isinstance(holder, dict) and rng.random() < 0.5:
        holder[str(rng.choice([*holder, "axis", "keepdims", "place", "custom", "x"]))] = any_value(rng)
    else:
        holder[key], other_holder[other_key] = copy.deepcopy(other_holder[other_key]), copy.deepcopy(holder[key])
    return document


def inflated(value: Any, rng: Rng) -> Any:
    """Very many of a value, in one of the ways that JSON has."""
    size = len(json.dumps(value))
    count = int(10 ** rng.uniform(2, 5.5)) // max(1, size // 10)
    kind = rng.integers(5)
    if kind == 0:
        return [value] * count
    if kind == 1:
        return {str(i): value for i in range(count)}
    if kind == 2:
        return [[] for _ in range(count)]
    if kind == 3:
        return str(rng.choice(["a", "猫", "😀", "\\"])) * count
    return (
        [*value, *([value[-1]] * count)] if isinstance(value, list) and value else [{"a": value}] * (count // 10)
    )


def slots_of(value: Any) -> Any:
    """(container, key) of every value in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from slots_of(inner)


def any_value(rng: Rng) -> Any:
    if rng.random() < 0.4:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if rng.random() < 0.2:
        return list(OPS)[rng.integers(len(OPS))]
    return copy.deepcopy(VALUES[rng.integers(len(VALUES))])


# Archives


def of_archive(content: bytes, valid: list[bytes], rng: Rng) -> bytes:
    try:
        members = unpacked(content)
        others = unpacked(valid[rng.integers(len(valid))])
    except Exception:  # what an earlier mutation left is no archive any more, in any of zipfile's ways
        return of_bytes(content, valid, rng)
    if not members:
        return content
    names = list(members)
    name = names[rng.integers(len(names))]
    kind = rng.random()
    if kind < 0.3 and "text_bytes.npy" in names:
        change_texts(members, rng)
    elif kind < 0.55 and (text := next((n for n in names if n.startswith("__") and rng.random() < 0.7), None)):
        members[text] = with_text(members[text], rng)
    elif kind < 0.7:
        members[name] = with_header(members[name], rng)
    elif kind < 0.9:
        members[name] = with_array(members[name], rng)
    else:
        change_members(members, others, name, rng)
    return packed(members, rng)


def unpacked(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()[:100]}


def packed(members: Members, rng: Rng) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


def change_members(members: Members, others: Members, name: str, rng: Rng) -> None:
    other = list(others)[rng.integers(len(others))]
    kind = rng.integers(4)
    if kind == 0:
        del members[name]
    elif kind == 1:
        members[other] = others[other]
    elif kind == 2:
        members[f"{name[:-4]}x.npy"] = members.pop(name)
    else:
        members[name] = others[other]


def change_texts(members: Members, rng: Rng) -> None:
    """One of a recording's texts changed, as JSON where it is some."""
    try:
        joined, starts = (loaded(members[f"text_{what}.npy"]) for what in ("bytes", "starts"))
        texts = [str(joined[a:b].tobytes(), "utf-8") for a, b in pairwise(starts.tolist())]
        place = int(rng.integers(len(texts)))
        texts[place] = with_json(texts[place], texts, rng)
    except (KeyError, TypeError, ValueError, EOFError, IndexError):
        return  # what an earlier mutation left is none any more
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    members["text_bytes.npy"] = as_member(np.frombuffer(b"".join(parts), np.uint8))
    members["text_starts.npy"] = as_member(np.array([0, *accumulate(map(len, parts))], np.uint32))


def with_json(text: str, others: list[str], rng: Rng) -> str:
    try:
        return json.dumps(of_json(json.loads(text), rng), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return others[rng.integers(len(others))]


def with_text(member: bytes, rng: Rng) -> bytes:
    """A string member whose JSON has been changed."""
    try:
        document = json.loads(str(loaded(member)))
    except (ValueError, EOFError, RecursionError):
        return with_header(member, rng)
    return as_member(np.array(json.dumps(of_json(document, rng))))


def loaded(member: bytes) -> Any:
    """The array of a member that is still whole; ValueError or EOFError for another."""
    header = parse_header(io.BytesIO(member))
    if header.data_start + header.nbytes != len(member):
        raise ValueError("of another size than its header says")
    return np.load(io.BytesIO(member))


def as_member(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def with_header(member: bytes, rng: Rng) -> bytes:
    """A member whose header says something else, of the same length."""
    end = member.find(b"\n", 10)
    head = member[10:end].decode("latin-1")
    kind = rng.integers(4)
    if kind == 0:
        head = re.sub(r"'descr': '[^']*'", f"'descr': '{rng.choice(DTYPES)}'", head)
    elif kind == 1:
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 4, 9, 10**6, 2**40], rng.integers(0, 4)))
        head = re.sub(r"'shape': \([^)]*\)", f"'shape': {shape}", head)
    elif kind == 2:
        head = head.replace("False", "True") if "False" in head else head.replace("True", "False")
    else:
        place = int(rng.integers(len(head) or 1))
        head = head[:place] + str(rng.choice(list("0123456789()[]{}', xO<>|-_."))) + head[place + 1 :]
    return member[:10] + head.ljust(end - 10)[: max(end - 10, 0)].encode("latin-1") + member[end:]


def with_array(member: bytes, rng: Rng) -> bytes:
    """A member with other numbers, another dtype or another shape."""
    try:
        array = loaded(member)
    except (ValueError, EOFError):
        return with_header(member, rng)
    if array.dtype.kind not in "biuf":
        return with_header(member, rng)
    kind = rng.integers(7)
    with np.errstate(all="ignore"):
        if kind == 0:
            array = array.astype(rng.choice(["f2", "f4", "f8", "i1", "i8", "u8", "?", ">f4"]))
        elif kind == 1:
            array = array.reshape(-1)
        elif kind == 2:
            array = array.T
        elif kind == 3 and array.size:
            extreme = rng.choice([np.nan, np.inf, -np.inf, 0, -1, 5, 1e30])
            array.reshape(-1)[rng.integers(array.size)] = np.asarray(extreme).astype(array.dtype)
        elif kind < 6 and array.size:
            array = array.copy()
            array.flat[rng.integers(array.size)] = array.flat[rng.integers(array.size)]
        else:
            array = np.concatenate([array.reshape(-1)] * int(rng.integers(0, 3)) or [array.reshape(-1)[:0]])
    return as_member(array)
