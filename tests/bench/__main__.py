"""`python -m tests.bench [startup] [screen] [engine] [training]`: how fast the program is, held against its goals.

Everything is a ratio of CPU times taken in turns, so that a busy machine slows both sides. A goal is met if the
median meets it. Run it alone: what else runs widens the spread.
"""

import sys

from tui.cli import settle_threads

settle_threads()  # before numpy is imported

from . import engine, screen, startup, training  # noqa: E402
from .table import table  # noqa: E402

GROUPS = {
    "startup": startup.measure,
    "screen": screen.measure,
    "engine": engine.measure,
    "training": training.measure,  # last: it keeps freed memory from here on
}


def main(names: list[str]) -> None:
    """Measure the groups named, or all, and print one table."""
    unknown = sorted(set(names) - set(GROUPS))
    if unknown:
        raise SystemExit(f"no such group: {unknown[0]}; there are {', '.join(GROUPS)}")
    print(table([result for name in names or GROUPS for result in GROUPS[name]()]))


if __name__ == "__main__":
    main(sys.argv[1:])
