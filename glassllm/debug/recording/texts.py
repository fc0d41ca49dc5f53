"""Many texts as two arrays: their bytes one behind the other, and where each of them starts, the end included."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.by_number import ByNumber
from glassllm.files import printable

from .encoding import Fault

NAME_CHARACTERS = 300
BROKEN = "surrogatepass"  # tokens may be halves of characters


def line_of(text: str) -> str:
    """The start of a text, as it may be shown on one line."""
    return (text if text.isprintable() else printable(text))[:NAME_CHARACTERS]


class Texts(ByNumber[str]):
    """The texts by number, each made when it is looked at. Raises Fault for bytes that are no text."""

    def __init__(self, joined: Array, starts: Array) -> None:
        self._joined = joined
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    def at(self, i: int) -> str:
        start, end = self._starts[int(i)], self._starts[int(i) + 1]  # note: NumPy's own integers may be full
        letters = self._joined[start:end].astype(np.uint8, copy=False)
        try:
            return str(letters.tobytes(), "utf-8", BROKEN)
        except UnicodeDecodeError as error:
            raise Fault(f"text {i}: {error}") from None


class Numbered:
    """Texts to write, each distinct one once and by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)


def packed(texts: Iterable[str]) -> tuple[Array, Array]:
    """What `Texts` is made of."""
    parts = [text.encode("utf-8", BROKEN) for text in texts]
    starts = np.array([0, *accumulate(map(len, parts))])
    return np.frombuffer(b"".join(parts), np.uint8), starts
