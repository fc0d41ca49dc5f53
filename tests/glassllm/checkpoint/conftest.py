"""What the tests of checkpoints share."""

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a checkpoint may be put."""
    return tmp_path / "model.npz"
