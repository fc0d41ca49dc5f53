"""From a file to a session: what a person names is opened, run once, and ready to be stepped."""

from collections.abc import Sequence
from pathlib import Path

from glassllm.model import GlassLM

from .session import Session


def open_file(path: Path, text: str | None = None, ids: Sequence[int] | None = None) -> Session:
    """Open a checkpoint and record its forward and loss on `text`, `ids`, or the sample it carries.

    Raises ValueError (CheckpointError for the file itself) with one line that says what is wrong and what to do.
    """
    model = GlassLM.load(path)
    return Session.open(model, text=text, ids=ids, name=path.name)
