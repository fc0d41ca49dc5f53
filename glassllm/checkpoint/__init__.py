"""Checkpoints: named arrays and dicts <-> one .npz; sizes checked first, written whole, never pickled."""

from glassllm.checkpoint.archive import Archive, CheckpointError, Header
from glassllm.checkpoint.checkpoint import (
    Checkpoint,
    check_weights,
    checkpoint_arrays,
    load_checkpoint,
    read_checkpoint,
    read_config,
    save_checkpoint,
    tokenizer_path,
)
from glassllm.checkpoint.npz import Writable, write_npz, writing_npz

__all__ = [
    "Archive",
    "Checkpoint",
    "CheckpointError",
    "Header",
    "Writable",
    "check_weights",
    "checkpoint_arrays",
    "load_checkpoint",
    "read_checkpoint",
    "read_config",
    "save_checkpoint",
    "tokenizer_path",
    "write_npz",
    "writing_npz",
]
