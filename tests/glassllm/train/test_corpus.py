"""Texts: read piece by piece as if at one go, the last tenth kept back, strange characters counted."""

import numpy as np
import pytest

from glassllm import Tokenizer
from glassllm.checkpoint import CheckpointError
from glassllm.train import corpus, read_corpus, split, unigram_entropy

TOKENIZER = Tokenizer.train("the cat sat on the mat\n" * 5, 40)


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.txt"


def test_all_but_the_last_tenth_is_trained_on(path):
    text = "the cat sat on the mat\n" * 40
    ids = TOKENIZER.encode(text)
    found = read_corpus(written(path, text), TOKENIZER, 8)
    kept = len(ids) - len(ids) // 10
    assert found.train.tolist() == ids[:kept] and found.valid.tolist() == ids[kept:]
    assert found.unknown == {} and found.characters_unknown == 0


@pytest.mark.parametrize(("count", "valid"), [(9, 0), (50, 0), (89, 0), (90, 9), (1000, 100)])
def test_too_short_a_text_keeps_none_back(count, valid):
    train, kept = split(np.arange(count), 8)
    assert (0 if kept is None else len(kept)) == valid and len(train) == count - valid


def test_pieces_are_the_whole(path, monkeypatch):
    monkeypatch.setattr(corpus, "PIECE_CHARACTERS", 7)
    text = "the  cat\n\n sat on  \n the mat\ncat" * 20
    pieces = []
    found = read_corpus(written(path, text), TOKENIZER, 4)
    for done, total in corpus.reading_corpus(path, TOKENIZER, 4):
        pieces.append((done, total))
    assert [*found.train, *found.valid] == TOKENIZER.encode(text)
    assert len(pieces) > 20 and pieces[-1] == (len(text), len(text))


def test_line_ends_of_any_system_are_one(path):
    plain = read_corpus(written(path, "the cat\nsat\n" * 3), TOKENIZER, 2)
    for end in ("\r\n", "\r"):
        other = read_corpus(written(path, "\ufeff" + f"the cat{end}sat{end}" * 3), TOKENIZER, 2)
        assert np.array_equal(other.train, plain.train) and other.unknown == {}


def test_characters_without_a_token_are_counted_the_most_frequent_first(path):
    found = read_corpus(written(path, "the cät Zat Zat mat"), TOKENIZER, 2)
    assert list(found.unknown.items()) == [("Z", 2), ("ä", 1)] and found.characters_unknown == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the text is empty"),
        (" \n\r\n ", "the text is empty"),
        ("cat", r"the text has \d+ tokens?, and a row of a batch takes 9"),
        (b"\xff\xfethe", "not UTF-8 text: byte 0"),
        ("X" * 50, "no token for any of its characters"),
    ],
)
def test_texts_that_teach_nothing_are_refused(path, text, words):
    with pytest.raises(CheckpointError, match=words) as refused:
        read_corpus(written(path, text), TOKENIZER, 8)
    assert "\n" not in str(refused.value)


def test_files_that_are_not_there_and_texts_too_long(path, monkeypatch):
    with pytest.raises(CheckpointError, match="no such file"):
        read_corpus(path, TOKENIZER, 8)
    with pytest.raises(CheckpointError, match="a folder"):
        read_corpus(path.parent, TOKENIZER, 8)
    monkeypatch.setattr(corpus, "TEXT_BYTES", 5)
    with pytest.raises(CheckpointError, match="longer than 5 bytes"):
        read_corpus(written(path, "the cat"), TOKENIZER, 8)


def test_what_knowing_the_frequencies_is_worth():
    assert unigram_entropy([3, 3, 3]) == 0
    assert unigram_entropy([0, 7, 0, 7]) == pytest.approx(np.log(2))
