"""Tokenizer: byte-pair encoding over characters.

Text is cut into chunks (a newline; a word with the spaces before it; spaces alone). Each chunk starts as single
characters, and learned merges join neighbours, the earliest learned first. An id is a place in one list: four
specials, the alphabet, then what each merge makes.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import index

from glassllm.files import StrPath, brief, parse_json, read_text, replacing

Pair = tuple[str, str]

SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>")
PAD, UNK, BOS, EOS = range(4)
UNKNOWN = "⁇"
SPACE = "▁"
NO_PAIR = ("", "")

MOST_ENTRIES = 50 << 10  # of a file; with its length this bounds what refusing the last entry takes in memory
FILE_BYTES = 3 << 19
JSON_BYTES = 128  # what parsing takes for each character of an alphabet, and more
CACHED_CHUNKS = 1 << 16
CACHED_LENGTH = 64  # characters of a chunk worth remembering

_CHUNK = re.compile(f"\n|{SPACE}*[^{SPACE}\n]+|{SPACE}+")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_MERGES = re.compile(r'"merges"\s*+:\s*+\[')
_MERGE = re.compile(rf"\s*+(\[\s*+{_STRING}\s*+,\s*+{_STRING}\s*+\])\s*+(?:,(?=\s*+\[)|(?=\]))")
_END = re.compile(r"\s*+\]")


def split_chunks(text: str) -> list[str]:
    """NFC-normalised pieces that no merge crosses, spaces shown as `▁`; joined, they are the whole text."""
    return _CHUNK.findall(unicodedata.normalize("NFC", text).replace(" ", SPACE))


class _Corpus:
    """All chunks in one row of linked symbols, with the places of each pair and how often it counts."""

    def __init__(self, chunks: Mapping[str, int]) -> None:
        self.symbols = [""]  # "" ends a chunk, and stands where a symbol was merged away
        self.weights = [0]
        for chunk, count in chunks.items():
            self.symbols += [*chunk, ""]
            self.weights += [count] * (len(chunk) + 1)
        self.left = list(range(-1, len(self.symbols) - 1))
        self.right = list(range(1, len(self.symbols) + 1))
        self.places: defaultdict[Pair, set[int]] = defaultdict(set)
        self.counts: Counter[Pair] = Counter()
        for i in range(len(self.symbols)):
            self._enter(i)

    def join(self, pair: Pair) -> set[Pair]:
        """Merge every `pair`, from left to right; the pairs whose counts changed."""
        changed: set[Pair] = set()
        for i in sorted(self.places[pair]):
            if i not in self.places[pair]:
                continue  # in "aaa" the first merge of (a, a) took what the second would need
            before, j = self.left[i], self.right[i]
            changed |= {self._leave(before), self._leave(i), self._leave(j)}
            self.symbols[i], self.symbols[j] = self.symbols[i] + self.symbols[j], ""
            self.right[i] = self.right[j]
            self.left[self.right[j]] = i
            changed |= {self._enter(before), self._enter(i)}
        changed.discard(NO_PAIR)
        return changed

    def _pair_at(self, i: int) -> Pair:
        first = self.symbols[i]
        second = first and self.symbols[self.right[i]]
        return (first, second) if second else NO_PAIR

    def _enter(self, i: int) -> Pair:
        pair = self._pair_at(i)
        if pair != NO_PAIR:
            self.places[pair].add(i)
            self.counts[pair] += self.weights[i]
        return pair

    def _leave(self, i: int) -> Pair:
        pair = self._pair_at(i)
        if pair != NO_PAIR:
            self.places[pair].discard(i)
            self.counts[pair] -= self.weights[i]
        return pair


def learn_merges(chunks: Mapping[str, int], limit: int) -> list[Pair]:
    """The `limit` merges (fewer if no pair is left) that always join the most frequent neighbours.

    `chunks` counts each chunk. Of equally frequent pairs the smaller one, compared as two strings, is taken.
    """
    corpus = _Corpus(chunks)
    queue = [(-count, pair) for pair, count in corpus.counts.items()]
    heapify(queue)
    merges: list[Pair] = []
    while queue and len(merges) < limit:
        count, pair = heappop(queue)
        if count == 0 or -count != corpus.counts[pair]:
            continue  # an entry from before the pair's count changed
        merges.append(pair)
        for changed in corpus.join(pair):
            heappush(queue, (-corpus.counts[changed], changed))
    return merges


class _WrittenMerges:
    """The merges in a tokenizer's JSON: where they lie is found at once, each is parsed when its turn comes."""

    def __init__(self, text: str) -> None:
        """Raise ValueError for the first that is no pair of strings."""
        found = _MERGES.search(text)
        self.text = text
        self.start = self.end = found.end() if found else 0
        self.count = 0
        while found and (merge := _MERGE.match(text, self.end)):
            self.end, self.count = merge.end(), self.count + 1
        if found and not _END.match(text, self.end):
            written = text[self.end : self.end + 60].strip()
            raise ValueError(f"merge {self.count} must be two strings, got {brief(written)}")

    @property
    def rest(self) -> str:
        """The JSON without them."""
        return self.text[: self.start] + self.text[self.end :]

    def __iter__(self) -> Iterator[Pair]:
        for merge in islice(_MERGE.finditer(self.text, self.start), self.count):
            first, second = parse_json(merge[1], FILE_BYTES)
            yield first, second


class Tokenizer:
    """Text <-> ids. `alphabet`: single characters; `merges`: pairs of entries known before them."""

    def __init__(self, alphabet: Iterable[str], merges: Iterable[Sequence[str]]) -> None:
        """Raise ValueError for an entry that is no character, is there twice, or has unknown parts."""
        self.alphabet: tuple[str, ...] = tuple(alphabet)
        self._entries: list[str] = list(SPECIALS)
        self._ids: dict[str, int] = {}  # note: without the specials; text that spells one is plain text
        for character in self.alphabet:
            if not isinstance(character, str) or len(character) != 1 or "\ud800" <= character <= "\udfff":
                raise ValueError(f"the alphabet holds {brief(character)}, which is not one character")
            self._enter(character)
        self.merges: tuple[Pair, ...] = tuple(map(self._enter_merge, merges))
        self._cache: dict[str, list[int]] = {}

    @cached_property
    def _ranks(self) -> dict[Pair, int]:
        """The place of each merge; found when there is something to encode."""
        return {pair: rank for rank, pair in enumerate(self.merges)}

    def _enter(self, entry: str) -> None:
        if entry in self._ids:
            raise ValueError(f"the entry {brief(entry)} is there twice")
        self._ids[entry] = len(self._entries)
        self._entries.append(entry)

    def _enter_merge(self, merge: Sequence[str]) -> Pair:
        """The pair, made of the entries themselves: they are many, and their texts are held once."""
        if not isinstance(merge, (list, tuple)) or len(merge) != 2 or not all(isinstance(p, str) for p in merge):
            raise ValueError(f"a merge must be two strings, got {brief(merge)}")
        if unknown := [part for part in merge if part not in self._ids]:
            raise ValueError(
                f"the merge of {' and '.join(map(brief, merge))} joins the unknown {brief(unknown[0])}"
            )
        first, second = (self._entries[self._ids[part]] for part in merge)
        self._enter(first + second)
        return first, second

    @classmethod
    def train(cls, text: str, vocab_size: int) -> "Tokenizer":
        """Learn from `text`, until there are `vocab_size` entries or no neighbours left to join."""
        chunks = Counter(split_chunks(text))
        alphabet = sorted(set().union(*chunks))
        room = vocab_size - len(SPECIALS) - len(alphabet)
        if room < 0:
            needed = vocab_size - room
            raise ValueError(f"vocab_size {vocab_size} is too small: specials and characters take {needed}")
        return cls(alphabet, learn_merges(chunks, room))

    @property
    def vocab_size(self) -> int:
        """Entries in all: specials, alphabet, merges."""
        return len(self._entries)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`; no special is added, and a character outside the alphabet is `<unk>`."""
        ids: list[int] = []
        for chunk in split_chunks(text):
            known = self._cache.get(chunk)
            ids += self._encode_chunk(chunk) if known is None else known
        return ids

    def _encode_chunk(self, chunk: str) -> list[int]:
        ids = [self._ids.get(symbol, UNK) for symbol in self._merge(chunk)]
        if len(chunk) <= CACHED_LENGTH and len(self._cache) < CACHED_CHUNKS:
            self._cache[chunk] = ids
        return ids

    def _merge(self, chunk: str) -> list[str]:
        """Join neighbours, lowest rank first and leftmost among equals, in O(n log n)."""
        symbols = [*chunk, ""]  # "" also stands where a symbol was merged away
        left = list(range(-1, len(chunk)))
        right = list(range(1, len(chunk) + 2))

        def rank_at(i: int) -> int | None:
            return self._ranks.get((symbols[i], symbols[right[i]]))

        queue = [(rank, i) for i in range(len(chunk)) if (rank := rank_at(i)) is not None]
        heapify(queue)
        while queue:
            rank, i = heappop(queue)
            if not symbols[i] or rank_at(i) != rank:
                continue  # a neighbour has changed since
            j = right[i]
            symbols[i], symbols[j] = symbols[i] + symbols[j], ""
            right[i] = right[j]
            left[right[j]] = i
            for place in (left[i], i):
                if place >= 0 and (fresh := rank_at(place)) is not None:
                    heappush(queue, (fresh, place))
        return [symbol for symbol in symbols if symbol]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The entry behind each id, spaces as `▁`; an id outside the vocabulary is `⁇`."""
        return [self._entries[i] if 0 <= i < self.vocab_size else UNKNOWN for i in map(index, ids)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`: unknown ones as `⁇`, other specials as nothing."""
        return "".join(self._spoken(i) for i in map(index, ids)).replace(SPACE, " ")

    def _spoken(self, i: int) -> str:
        if i in (PAD, BOS, EOS):
            return ""
        return UNKNOWN if i == UNK or not 0 <= i < self.vocab_size else self._entries[i]

    def to_json(self) -> str:
        """Version, alphabet and merges as one JSON object. ValueError where no file may be so large."""
        content = {"version": 1, "alphabet": self.alphabet, "merges": self.merges}
        text = json.dumps(content, ensure_ascii=False)
        if self.vocab_size > MOST_ENTRIES or len(text.encode()) > FILE_BYTES:
            raise ValueError(f"the tokenizer's {self.vocab_size} entries are too many or too long to be saved")
        return text

    @classmethod
    def from_json(cls, text: str, most: int = MOST_ENTRIES) -> "Tokenizer":
        """Read what `to_json` writes; anything else, and more than `most` entries, is a ValueError of one line.

        What is refused costs about as much memory as the entries before its fault.
        """
        merges = _WrittenMerges(text)
        content = parse_json(merges.rest, 4096 + JSON_BYTES * most)
        if not isinstance(content, dict) or set(content) != {"version", "alphabet", "merges"}:
            raise ValueError("a tokenizer must be a JSON object of version, alphabet and merges")
        if content["version"] != 1 or isinstance(content["version"], bool):
            raise ValueError(f"the tokenizer's version is {brief(content['version'])}, not 1")
        for name in ("alphabet", "merges"):
            if not isinstance(content[name], list):
                raise ValueError(f"the tokenizer's {name} must be a list, got {brief(content[name])}")
        if content["merges"]:
            raise ValueError("the tokenizer's merges are there twice")
        if (found := len(SPECIALS) + len(content["alphabet"]) + merges.count) > most:
            raise ValueError(f"the tokenizer has {found} entries, more than {most}")
        return cls(content["alphabet"], merges)

    def save(self, path: StrPath) -> None:
        """Write the JSON, whole or not at all."""
        with replacing(path) as file:
            file.write(self.to_json().encode("utf-8"))

    @classmethod
    def load(cls, path: StrPath) -> "Tokenizer":
        """Read a saved tokenizer: OSError if it cannot be read, ValueError of one line if it is not one."""
        return cls.from_json(read_text(path, FILE_BYTES))


def texts(tokenizer: Tokenizer | None, ids: Iterable[int]) -> tuple[str, ...]:
    """Each id's text, with its leading space; the id itself where there is no tokenizer."""
    if tokenizer is None:
        return tuple(str(i) for i in ids)
    return tuple(token.replace(SPACE, " ") for token in tokenizer.tokens(ids))
