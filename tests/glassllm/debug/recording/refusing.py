"""What refusing a recording says, and what it takes."""

import tracemalloc
from pathlib import Path

import pytest

from glassllm.checkpoint import CheckpointError
from glassllm.debug.recording.read import open_recording


def refused(path: Path, words: str) -> tuple[CheckpointError, int]:
    """How, and with how much memory at most."""
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=words) as refusal:
            open_recording(path)
        return refusal.value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
