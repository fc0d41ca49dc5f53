"""From a file to a session: what a person names is opened, run once, and ready to be stepped."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glassllm.checkpoint import Archive
from glassllm.checkpoint.checkpoint import CONFIG
from glassllm.files import shown
from glassllm.model import GlassLM

from .recording.write import RECORDING
from .session import Opening, Session
from .slices import finished, named
from .snapshot import CommandError

if TYPE_CHECKING:
    from .script import Script

PROGRAM = ".py"  # how the name of a user's program ends


def open_file(path: Path, text: str | None = None, ids: Sequence[int] | None = None) -> Session:
    """Open a recording, or a checkpoint: record its forward and loss on `text`, `ids`, or the sample it carries.

    Raises CheckpointError for the file and CommandError for what its model cannot run, both ValueErrors of one
    line: the file, the fault, the remedy.
    """
    return finished(opening_file(path, text, ids))


def opening_file(path: Path, text: str | None = None, ids: Sequence[int] | None = None) -> Opening:
    """The same in slices."""
    if not _is_recording(path):
        return _run(path, text, ids)
    if text is not None or ids is not None:
        words = "a recording holds one run and no model; open the model's own file to run other text"
        raise CommandError(f"{shown(path)}: {words}")
    from .recording.read import opening_recording  # here, since most files are none and need not wait for it

    return (yield from named(opening_recording(path), "opening"))


def open_script(script: "Script") -> Session:
    """Run a user's program and open the run it calls for. Raises as `open_file` does."""
    return Session(*script.record(), script)


def _is_recording(path: Path) -> bool:
    """Told by what the file holds, not by its name. Raises CheckpointError for one that is neither."""
    with Archive(path) as archive:
        if RECORDING not in archive and CONFIG not in archive:
            fault = f"neither a checkpoint nor a recording: no {CONFIG} and no {RECORDING} in it"
            raise archive.fault(fault, "name a file that GlassLM.save or :save wrote")
        return RECORDING in archive


def _run(path: Path, text: str | None, ids: Sequence[int] | None) -> Session:
    model = GlassLM.load(path)
    try:
        return Session.open(model, text=text, ids=ids, name=path.name)
    except CommandError as error:
        raise CommandError(f"{shown(path)}: {error}") from None
