"""Saving and opening again, for every test of recordings."""

import pytest

from glassllm.debug.recording.read import open_recording
from tests.glassllm.debug.recording.sameness import saved_and_opened


@pytest.fixture
def again(tmp_path):
    """Save a session and open it again."""
    return lambda session: saved_and_opened(session, tmp_path / "run.npz", open_recording)
