"""Tokenizer: compared with the plain textbook algorithm, and fed what it must refuse."""

import json
import os
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassllm.tokenizer import SPECIALS, Pair, Tokenizer, learn_merges, split_chunks, texts

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
    "cut": ("not JSON", document()[:-3]),
    "deep": ("deep", "[" * 100_000),
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


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b'{"version": \xff')
    with pytest.raises(ValueError, match="not UTF-8"):
        Tokenizer.load(path)
    with path.open("wb") as file:
        file.truncate((8 << 20) + 1)
    with pytest.raises(ValueError, match="longer than 8388608 bytes"):
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
