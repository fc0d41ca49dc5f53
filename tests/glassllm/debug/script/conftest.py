"""Writing programs and recording them."""

import pytest

from glassllm.debug.script import Script
from tests.glassllm.debug.script.program import HEAD


@pytest.fixture
def write(tmp_path):
    """`write(text)` makes a program of it, under a few lines that import what all need."""

    def made(text, name="program.py", head=HEAD):
        path = tmp_path / name
        path.write_text(head + text)
        return path

    return made


@pytest.fixture
def record(write):
    """`record(text, *arguments)` runs it: its tape and facts."""
    return lambda text, *arguments, **more: Script(write(text), arguments, **more).record()
