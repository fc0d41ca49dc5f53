"""Where failures are written down in full: in a file that was named, else in the platform's folder for logs."""

from datetime import datetime
from pathlib import Path

import platformdirs


def log_file() -> Path:
    """Today's log."""
    return Path(platformdirs.user_log_dir("glassllm", appauthor=False)) / f"{datetime.now():%Y-%m-%d}.log"


def write(title: str, details: str, path: Path | None = None) -> Path | None:
    """Append one failure to `path`, or to today's log; the file it went to, None where it cannot be written."""
    path = path or log_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now():%H:%M:%S}  {title}\n{details.rstrip()}\n\n")
    except OSError:
        return None
    return path


def shown(path: Path) -> str:
    """The path as people write it, with ~ for their home."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
