"""Corpus: a text file as one row of ids, the last tenth of it kept back for validation.

The text is taken as it stands: no marker is put before, between or after what may be documents in it. Line ends
of any system count as one newline.
"""

import io
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from glassllm.autograd.ops import Array
from glassllm.checkpoint import CheckpointError
from glassllm.checkpoint.archive import opening_error
from glassllm.files import StrPath, read_text
from glassllm.tokenizer import SPACE, UNK, Tokenizer

TEXT_BYTES = 256 << 20
PIECE_CHARACTERS = 1 << 15
VALIDATION_ONE_IN = 10


@dataclass(frozen=True, eq=False)
class Corpus:
    """What a run learns from."""

    train: Array  # (N,) int64
    valid: Array | None  # (M,) int64, the end of the text; None: the text is too short to keep some back
    unknown: dict[str, int]  # how often each character the tokenizer lacks stands there, the most frequent first

    @property
    def characters_unknown(self) -> int:
        """How many characters in all became `<unk>`."""
        return sum(self.unknown.values())


def split(ids: ArrayLike, seq_len: int) -> tuple[Array, Array | None]:
    """All but the last tenth of ids (N,), and that; None and all of them where either would hold no batch."""
    row = np.asarray(ids)
    kept = len(row) - len(row) // VALIDATION_ONE_IN
    if min(kept, len(row) - kept) <= seq_len:
        return row, None
    return row[:kept], row[kept:]


def reading_corpus(path: StrPath, tokenizer: Tokenizer, seq_len: int) -> Generator[tuple[int, int], None, Corpus]:
    """Read a UTF-8 text, yielding (characters done, of all) piece by piece; returns the Corpus.

    CheckpointError for a file that is no text, or has too few tokens for a batch of seq_len.
    """
    text = _read(path)
    if not text.strip():
        raise CheckpointError(path, "the text is empty", "name a file with some words in it")
    rows: list[Array] = []
    done = 0
    for piece in _pieces(text):
        rows.append(np.array(tokenizer.encode(piece), np.int64))
        done += len(piece)
        yield done, len(text)
    ids = np.concatenate(rows)
    if len(ids) <= seq_len:
        tokens = "1 token" if len(ids) == 1 else f"{len(ids)} tokens"
        fault = f"the text has {tokens}, and a row of a batch takes {seq_len + 1}"
        raise CheckpointError(path, fault, "name a longer text or take shorter rows")
    if (ids == UNK).all():
        raise CheckpointError(path, "the model has no token for any of its characters", "name another text")
    return Corpus(*split(ids, seq_len), unknown_characters(text, tokenizer))


def read_corpus(path: StrPath, tokenizer: Tokenizer, seq_len: int) -> Corpus:
    """`reading_corpus` at one go."""
    reading = reading_corpus(path, tokenizer, seq_len)
    while True:
        try:
            next(reading)
        except StopIteration as end:
            corpus: Corpus = end.value
            return corpus


def _read(path: StrPath) -> str:
    try:
        text = read_text(path, TEXT_BYTES)
    except OSError as error:
        raise opening_error(path, error) from None
    except ValueError as error:
        raise CheckpointError(path, str(error), "name a text in UTF-8") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end with a line: no token reaches over a newline."""
    lines = io.StringIO(text, newline="\n")
    while piece := "".join(lines.readlines(PIECE_CHARACTERS)):
        yield piece


def unknown_characters(text: str, tokenizer: Tokenizer) -> dict[str, int]:
    """The characters of `text` that `tokenizer` would encode as `<unk>`, the most frequent first."""
    counts = Counter(unicodedata.normalize("NFC", text).replace(" ", SPACE))
    for character in tokenizer.alphabet:
        counts.pop(character, None)
    return dict(counts.most_common())


def unigram_entropy(ids: ArrayLike) -> float:
    """Nats per token of whoever knows how frequent each id (N,) is and nothing else: what a model must beat."""
    counts = np.bincount(np.asarray(ids))
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
