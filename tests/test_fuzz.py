"""A few hundred mutations of each kind of file, always the same; and that the fuzzer would notice a fault."""

from dataclasses import replace

import pytest

from tests import fuzz
from tests.fuzzing.kinds import KINDS

COUNT = {"checkpoint": 300, "large-recording": 12, "recording": 300, "tokenizer": 600}


@pytest.mark.parametrize("name", KINDS)
def test_mutated_files_open_or_are_refused_in_one_line(name):
    tally = fuzz.fuzz(KINDS[name], range(COUNT[name]), seed=1)
    assert tally.failures == [], "\n".join(map(str, tally.failures[:5]))
    assert tally.counts["refused"] > COUNT[name] / 4, "both kinds of end are tried"
    assert tally.counts["opened"] > COUNT[name] / 40, "both kinds of end are tried"


def test_a_case_is_found_again():
    kind = KINDS["recording"]
    assert fuzz.content(kind, 1, 5) == fuzz.content(kind, 1, 5) != fuzz.content(kind, 1, 6)


def hang(path):
    while True:
        pass


def two_lines(path):
    raise ValueError("one\ntwo")


def costly(path):
    held = bytes(30_000_000)
    raise ValueError(f"too large: {len(held)}")


def unforeseen(path):
    return {}["no such key"]


FAULTS = [
    (hang, "Hang: longer than"),
    (two_lines, "not one line"),
    (costly, "took 30 MB"),
    (unforeseen, "KeyError"),
]


@pytest.mark.parametrize(("read", "words"), FAULTS, ids=[read.__name__ for read, _ in FAULTS])
def test_it_notices(read, words, monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 0.2)
    tally = fuzz.fuzz(replace(KINDS["tokenizer"], read=read), range(2), seed=0)
    assert not tally.counts
    assert len(tally.failures) == 2 and all(words in str(failure) for failure in tally.failures)
    assert str(tally.failures[0]).startswith("--kind tokenizer --seed 0 --case 0: ")
