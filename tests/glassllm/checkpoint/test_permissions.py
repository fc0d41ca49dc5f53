"""Files that may not be read and folders that may not be written to, also where the tests run as root."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from glassllm import Tensor
from glassllm.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from glassllm.debug.commands import run
from glassllm.debug.opening import open_file
from glassllm.debug.recorder import record
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError
from glassllm.tokenizer import Tokenizer
from tests.glassllm.checkpoint.members import CONFIG, TOKENIZER, random_weights

NOBODY = 65534

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no permissions of this kind here")


@contextmanager
def unprivileged() -> Iterator[None]:
    """As somebody to whom permissions apply: root is nobody for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that anybody may enter and write to, unlike those made for tests."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)
        os.chmod(name, 0o777)


@pytest.fixture
def path(folder: Path, tmp_path: Path) -> Path:
    """A good checkpoint in it."""
    run(small_session(), f"save {tmp_path / 'run.npz'}")
    open_file(tmp_path / "run.npz")  # so that all is imported: nobody may not be able to read Python's own modules
    save_checkpoint(folder / "model.npz", CONFIG, random_weights(CONFIG))
    return folder / "model.npz"


def small_session() -> Session:
    with record() as tape:
        Tensor(np.ones(2), requires_grad=True).sum()
    return Session.of(tape)


def test_a_file_that_may_not_be_read(path: Path) -> None:
    with unprivileged():
        assert load_checkpoint(path).config == CONFIG, "only its own permissions keep it from being read"
    path.chmod(0)
    for load in (load_checkpoint, open_file):
        with unprivileged(), pytest.raises(CheckpointError) as refusal:
            load(path)
        assert str(refusal.value) == f"{path}: may not be read; change its permissions"


def test_a_tokenizer_beside_it_that_may_not_be_read(path: Path) -> None:
    beside = path.with_name("model.tokenizer.json")
    TOKENIZER.save(beside)
    beside.chmod(0)
    with unprivileged(), pytest.raises(CheckpointError, match=r"model\.tokenizer\.json: may not be read; change"):
        load_checkpoint(path)
    with unprivileged(), pytest.raises(PermissionError):
        Tokenizer.load(beside)


def test_a_folder_that_may_not_be_entered(path: Path) -> None:
    path.parent.chmod(0)
    with unprivileged(), pytest.raises(CheckpointError, match="may not be read; change its permissions"):
        load_checkpoint(path)


def test_a_folder_that_may_not_be_written_to(path: Path) -> None:
    before, session = path.read_bytes(), small_session()
    path.parent.chmod(0o555)
    with unprivileged():
        for name in ("model.npz", "other.npz"):
            with pytest.raises(
                CheckpointError, match="cannot be written: Permission denied; choose another place"
            ):
                save_checkpoint(path.with_name(name), CONFIG, random_weights(CONFIG))
            with pytest.raises(CommandError, match="cannot be written: Permission denied; choose another place"):
                run(session, f"save! {path.with_name(name)}")
            with pytest.raises(PermissionError):
                TOKENIZER.save(path.with_name(name))
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]
    path.parent.chmod(0o777)
    with unprivileged():
        run(session, f"save {path.with_name('other.npz')}")
    assert open_file(path.with_name("other.npz")).facts == session.facts
