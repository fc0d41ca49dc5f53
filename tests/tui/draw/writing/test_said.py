"""The Generate screen's status line and titles: counts that are right, in one or in many."""

import re

import pytest

from glassllm.generation import Writer
from tui.draw.palette import Palette
from tui.draw.writing import page
from tui.draw.writing.choice import Choice
from tui.draw.writing.status import said


def line(writer):
    return "".join(text for text, _ in said(writer.view()))


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("Once upon", "the prompt  2 tokens; n writes"),
        ("Once", "the prompt  1 token; n writes"),
        ("Once 😀 日", "the prompt  5 tokens, 2 unknown to the model; n writes"),
    ],
)
def test_characters_the_model_lacks_are_counted(tiny, prompt, words):
    writer = Writer(tiny)
    writer.write_after(prompt)
    assert words in line(writer)


def test_forks_are_counted(tiny):
    writer = Writer(tiny)
    for forks in ("1 fork in the tree", "2 forks in the tree"):
        writer.next()
        writer.back()
        writer.take(writer.view().candidates.order[5])
        assert line(writer).endswith(forks)


def test_attention_says_how_many_tokens_the_model_sees(tiny):
    writer = Writer(tiny)
    for seen in (len(tiny.sample), 128):
        rows = page.board(writer.view(), Choice(), 160, 37, Palette())
        text = "\n".join("".join(segment.text for segment in row) for row in rows)
        (found,) = re.findall(r"heads × (\d+) tokens", text)
        assert int(found) == writer.view().attention.shape[-1] == seen
        writer.next(130)
