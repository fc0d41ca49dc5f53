"""What lives on the engine's thread beside the session, made when it is first asked for. All of it runs there."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.engine import Engine

if TYPE_CHECKING:
    from glassllm.debug.replays import TokenRun
    from glassllm.generation import Writer
    from glassllm.train import Training

    from .shelf import Shelf

OPENED, SHELF = "opened", "shelf"
NO_MODEL = "this needs a model; {} has none: open a checkpoint, NAME.npz"


def corpus_path() -> Path:
    """The sample's own corpus: beside the package's modules where it is installed, in samples/ in a checkout."""
    here = Path(__file__).resolve().parents[1]
    beside = here / "tiny.txt"
    return beside if beside.exists() else here.parent / "samples" / "tiny.txt"


def keep(engine: Engine, name: str, session: Any) -> None:
    """Keep what was opened to go back to. What was opened first has the model that writes and is trained."""
    engine.bench.setdefault(OPENED, session.run)
    shelf(engine).put(name, session)


def shelf(engine: Engine) -> "Shelf":
    """The sessions opened so far."""

    def make() -> "Shelf":
        from .shelf import Shelf

        return Shelf()

    made: Shelf = _kept(engine, SHELF, make)
    return made


def opened(engine: Engine, name: str) -> Any:
    """The run that was opened. CommandError where it was no model's."""
    from glassllm.debug.snapshot import CommandError

    run = engine.bench.get(OPENED)
    if getattr(run, "model", None) is None:
        raise CommandError(NO_MODEL.format(name))
    return run


def writer(engine: Engine, name: str) -> "Writer":
    """The writer, at first with the text that was opened as its prompt."""

    def make() -> "Writer":
        from glassllm.generation import Writer

        run = opened(engine, name)
        is_shifted = run.targets is not None and run.ids[1:] == run.targets[:-1]
        return Writer(run.model, run.ids + run.targets[-1:] if is_shifted else run.ids)

    made: Writer = _kept(engine, "writer", make)
    return made


def next_token(engine: Engine, name: str) -> "TokenRun":
    """The pass that chooses the writer's next token, or fails to."""
    from glassllm.debug.replays import TokenRun

    return TokenRun.ahead(writer(engine, name), name)


def training(engine: Engine, name: str, text: Path, folder: Path) -> "Training":
    """The training, at first on `text`; it writes into `folder`."""

    def make() -> "Training":
        from glassllm.train import Training, reuse_memory

        run = opened(engine, name)
        reuse_memory()
        return Training(run.model, text, folder, f"{Path(name).stem}-trained")

    made: Training = _kept(engine, "training", make)
    return made


def _kept(engine: Engine, name: str, make: Callable[[], Any]) -> Any:
    if name not in engine.bench:
        engine.bench[name] = make()
    return engine.bench[name]
