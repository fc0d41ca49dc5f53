"""A text to train on, and a folder for what is saved."""

import pytest

WORDS = "Once upon a time there was a small fox named Pip. He saw a red ball. "


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(WORDS * 60, encoding="utf-8")
    return path


@pytest.fixture
def options(corpus, tmp_path):
    return {"corpus": corpus, "folder": tmp_path}
