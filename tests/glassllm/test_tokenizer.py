"""Tokenizer: compared with the plain textbook algorithm, and fed what it must refuse."""

import json
import os
import time
import tracemalloc
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassllm.tokenizer import (
    FILE_BYTES,
    MOST_ENTRIES,
    SPECIALS,
    Pair,
    Tokenizer,
    learn_merges,
    split_chunks,
    texts,
)

STORY = "the cat saw the hat.\n  the hat saw that\tcat, and that was that.\n\nAção é ação — the end. "
TOKENIZER = Tokenizer.train(STORY, 50)

spoken = st.text(alphabet="ab \n▁é", max_size=40)


def joined(symbols: list[str], pair: Pair) -> list[str]:
    """Every `pair` joined from left to right, the textbook way."""
    result: list[str] = []
    for symbol in symbols:
        if result and (result[-1], symbol) == pair:
            # a marker keeps a fresh symbol from being joined again in the same pass
            result[-1:] = ["".join(pair), ""]
        else:
            result.append(symbol)
    return [symbol for symbol in result if symbol]


def textbook_merges(chunks: dict[str, int], limit: int) -> list[Pair]:
    words = {chunk: list(chunk) for chunk in chunks}
    merges: list[Pair] = []
    while len(merges) < limit:
        counts: Counter[Pair] = Counter()
        for chunk, word in words.items():
            for pair in pairwise(word):
                counts[pair] += chunks[chunk]
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        words = {chunk: joined(word, merges[-1]) for chunk, word in words.items()}
    return merges


def test_chunks() -> None:
    assert split_chunks("a  bc\n\n  \n d ") == ["a", "▁▁bc", "\n", "\n", "▁▁", "\n", "▁d", "▁"]
    assert split_chunks("") == []
    assert split_chunks("e\u0301") == ["é"]


@given(spoken)
def test_chunks_are_the_whole_text(text: str) -> None:
    assert "".join(split_chunks(text)) == unicodedata.normalize("NFC", text).replace(" ", "▁")


@given(st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=12), st.integers(1, 4), max_size=6))
def test_training_is_the_textbook_algorithm(chunks: dict[str, int]) -> None:
    assert learn_merges(chunks, 8) == textbook_merges(chunks, 8)


def test_the_most_frequent_pair_first_and_ties_in_order() -> None:
    assert learn_merges({"zy": 2, "ab": 1, "ba": 1}, 9) == [("z", "y"), ("a", "b"), ("b", "a")]
    assert learn_merges({"aaaa": 1}, 9) == [("a", "a"), ("aa", "aa")]
    assert learn_merges({"ab": 1}, 0) == []


@given(spoken, spoken)
def test_encoding_applies_the_merges_in_order(corpus: str, text: str) -> None:
    tokenizer = Tokenizer.train(corpus, 16)
    expected: list[str] = []
    for chunk in split_chunks(text):
        symbols = list(chunk)
        for pair in tokenizer.merges:
            symbols = joined(symbols, pair)
        expected += [symbol if symbol[0] in tokenizer.alphabet else "<unk>" for symbol in symbols]
    assert tokenizer.tokens(tokenizer.encode(text)) == expected


@given(spoken)
def test_round_trip(text: str) -> None:
    tokenizer = Tokenizer.train(text, 20)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == unicodedata.normalize("NFC", text).replace("▁", " ")
    assert ids == [i for chunk in split_chunks(text) for i in tokenizer.encode(chunk)]


@given(st.text(max_size=60))
def test_any_text_encodes_within_the_vocabulary(text: str) -> None:
    shown = unicodedata.normalize("NFC", text).replace(" ", "▁")
    known = "".join(c if c in TOKENIZER.alphabet else "⁇" for c in shown).replace("▁", " ")
    ids = TOKENIZER.encode(text)
    assert all(type(i) is int and (i == 1 or len(SPECIALS) <= i < 50) for i in ids)
    assert TOKENIZER.decode(ids) == known


def test_ids_are_specials_then_alphabet_then_merges() -> None:
    tokenizer = Tokenizer("ab▁", [("a", "b"), ("▁", "ab")])
    assert tokenizer.vocab_size == 9
    assert tokenizer.tokens(range(9)) == ["<pad>", "<unk>", "<bos>", "<eos>", "a", "b", "▁", "ab", "▁ab"]
    assert tokenizer.encode("ab abz") == [7, 8, 1]
    assert tokenizer.decode(np.array([2, 7, 8, 1, 0, 3])) == "ab ab⁇"
    assert tokenizer.decode([9, -1]) == "⁇⁇" and tokenizer.tokens([9, -1]) == ["⁇", "⁇"]
    assert tokenizer.encode("") == [] and tokenizer.decode([]) == ""


def test_a_special_spelt_in_text_is_text() -> None:
    tokenizer = Tokenizer.train("<bos> <bos> <bos>", 40)
    assert min(tokenizer.encode("<bos>")) >= len(SPECIALS)
    assert tokenizer.decode(tokenizer.encode("<bos> <bos>")) == "<bos> <bos>"


def test_vocab_size_is_reached_or_the_text_is_used_up() -> None:
    assert TOKENIZER.vocab_size == 50
    assert Tokenizer.train("ab", 50).vocab_size == 4 + 2 + 1
    assert Tokenizer.train("", 4).vocab_size == 4
    with pytest.raises(ValueError, match="vocab_size 5 is too small: specials and characters take 6"):
        Tokenizer.train("ab", 5)


def test_long_chunks_cost_no_more_than_their_length_in_time() -> None:
    solid = "abcab" * 20_000  # minutes, if each merge walked the whole chunk for each place
    tokenizer = Tokenizer.train(solid, 60)
    assert tokenizer.decode(tokenizer.encode(solid)) == solid


def test_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "t.tokenizer.json"
    TOKENIZER.save(path)
    again = Tokenizer.load(path)
    assert (again.alphabet, again.merges) == (TOKENIZER.alphabet, TOKENIZER.merges)
    assert again.encode(STORY) == TOKENIZER.encode(STORY)
    assert json.loads(path.read_text("utf-8"))["merges"][0] == list(TOKENIZER.merges[0])
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.json"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        TOKENIZER.save(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def document(**changes: Any) -> str:
    return json.dumps({"version": 1, "alphabet": ["a", "b"], "merges": [["a", "b"]]} | changes)


BAD_JSON = {
    "empty": ("not JSON", ""),
    "cut": ("merge 0 must be two strings", document()[:-3]),
    "cut early": ("not JSON", document()[:30]),
    "deep": ("deep", "[" * 5_000),
    "very deep": ("JSON of too many entries", "[" * 100_000),
    "digits": ("not JSON", document(version=0).replace("0", "9" * 5000)),
    "list": ("object", "[]"),
    "missing": ("object", '{"version": 1, "alphabet": []}'),
    "more": ("object", document(extra=1)),
    "version": ("version is 2", document(version=2)),
    "true": ("version is True", document(version=True)),
    "alphabet text": ("alphabet must be a list", document(alphabet="ab")),
    "alphabet number": ("holds 3", document(alphabet=["a", 3])),
    "alphabet word": ("holds 'bc'", document(alphabet=["a", "bc"])),
    "alphabet nothing": ("holds ''", document(alphabet=["a", ""])),
    "alphabet surrogate": ("not one character", document(alphabet=["a", "\ud800"])),
    "alphabet twice": ("'b' is there twice", document(alphabet=["a", "b", "b"])),
    "merges text": ("merges must be a list", document(merges="ab")),
    "merge of one": ("two strings", document(merges=[["a"]])),
    "merge text": ("two strings", document(merges=["ab"])),
    "merge numbers": ("two strings", document(merges=[[1, 2]])),
    "merge of three": ("two strings", document(merges=[["a", "b", "c"]])),
    "merge behind a comma": ("two strings", document().replace("]]", "],]")),
    "merge of no JSON": ("not JSON: Invalid", document().replace('["a", "b"]]', r'["\q", "b"]]')),
    "merges twice": ("merges are there twice", document().replace("}", ', "merges": [["a", "b"]]}')),
    "merge unknown": ("unknown 'c'", document(merges=[["a", "c"]])),
    "merge of nothing": ("unknown ''", document(merges=[["", "a"]])),
    "merge too early": ("unknown 'ab'", document(merges=[["ab", "a"], ["a", "b"]])),
    "merge twice": ("'ab' is there twice", document(merges=[["a", "b"], ["a", "b"]])),
    "escape codes": (r"\\x1b", document(alphabet=["\x1b[2J\n"])),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_json_is_one_line(name: str, tmp_path: Path) -> None:
    words, text = BAD_JSON[name]
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=words) as fault:
        Tokenizer.load(path)
    assert str(fault.value).isprintable() and len(str(fault.value)) < 200


def in_full(merges: list[list[str]], alphabet: str = "".join(map(chr, range(0x1F600, 0x1F640)))) -> str:
    """The JSON of a tokenizer, written as short as may be."""
    content = {"version": 1, "alphabet": list(alphabet), "merges": merges}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def most_merges(last: list[str]) -> list[list[str]]:
    """As many different merges of characters that take the most memory as a file may hold, and then `last`."""
    faces = [chr(0x1F600 + i) for i in range(64)]
    pairs = [[a, b] for a in faces for b in faces]
    joined = ["".join(pair) for pair in pairs[:800]]
    count = MOST_ENTRIES - len(SPECIALS) - len(faces) - 1
    pairs += [[a, b] for a in joined for b in faces]
    return [*pairs[:count], last]


COSTLY = {
    "its last merge": ("joins the unknown 'zz'", in_full(most_merges(["zz", "a"]))),
    "one merge too many": ("more than 51200", in_full([*most_merges(["😀😀", "😀😀"]), ["😀", "a"]])),
    "a million merges": ("longer than", in_full([["a", "b"]] * 10**6)),
    "many merges that are none": ("merge 90000 must be two strings", in_full([["a", "b"]] * 90_000 + [["a"]])),
    "a long merge": ("joins the unknown 'aaa", in_full([["😀", "a" * 10**6]])),
    "its last character": ("'ab', which is not", in_full([], "".join(map(chr, range(0x20000, 0x2C000)))).replace(
        "]", ',"ab"]', 1)),
    "many lists": ("JSON of too many entries", "[[]," * 300_000),
    "many objects": ("JSON of too many entries", '{"a":' * 200_000),
    "a claim only": ("merge 0 must be two strings", in_full([], "ab").replace("[]", "[" + "[]," * 300_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", COSTLY)
def test_refusing_what_claims_to_be_large_costs_little(name: str, tmp_path: Path) -> None:
    words, text = COSTLY[name]
    path = tmp_path / "t.json"
    path.write_text(text, "utf-8")
    start = time.process_time()
    with pytest.raises(ValueError, match=words):
        Tokenizer.load(path)
    assert time.process_time() - start < 2
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            Tokenizer.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_the_largest_tokenizer_comes_back() -> None:
    tokenizer = Tokenizer(map(chr, range(0x1F600, 0x1F640)), most_merges(["😀😀", "😀😀"]))
    assert tokenizer.vocab_size == MOST_ENTRIES
    assert Tokenizer.from_json(tokenizer.to_json()).merges == tokenizer.merges
    with pytest.raises(ValueError, match="51201 entries are too many"):
        Tokenizer([*tokenizer.alphabet, "a"], tokenizer.merges).to_json()


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b'{"version": \xff')
    with pytest.raises(ValueError, match="not UTF-8"):
        Tokenizer.load(path)
    with path.open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    with pytest.raises(ValueError, match=f"longer than {FILE_BYTES} bytes"):
        Tokenizer.load(path)
    with pytest.raises(OSError, match="folder"):
        Tokenizer.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "none.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        Tokenizer.load(tmp_path / "pipe")


def test_ids_are_shown_as_texts_or_as_they_are() -> None:
    tokenizer = Tokenizer("▁a", [("▁", "a")])
    assert texts(tokenizer, [2, 5, 6, 99]) == ("<bos>", "a", " a", "⁇")
    assert texts(None, range(2)) == ("0", "1")
