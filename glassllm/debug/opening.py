"""From a file to a session: what a person names is opened, run once, and ready to be stepped."""

from collections.abc import Sequence
from pathlib import Path

from glassllm.files import printable
from glassllm.model import GlassLM

from .session import Session
from .snapshot import CommandError


def open_file(path: Path, text: str | None = None, ids: Sequence[int] | None = None) -> Session:
    """Open a checkpoint and record its forward and loss on `text`, `ids`, or the sample it carries.

    Raises CheckpointError for the file and CommandError for what its model cannot run, both ValueErrors of one
    line: the file, the fault, the remedy.
    """
    model = GlassLM.load(path)
    try:
        return Session.open(model, text=text, ids=ids, name=path.name)
    except CommandError as error:
        raise CommandError(f"{printable(str(path))}: {error}") from None
