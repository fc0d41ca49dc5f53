"""`python -m tests.bench [startup] [screen] [engine] [big] [training] [--keep]`: speed, held against goals.

Ratios are of CPU times taken in turns, so that a busy machine slows both sides; only `big` looks at the clock,
since there it is waiting that counts. A goal is met if the
median meets it; beside it stands what `baseline.json` has kept of an earlier run, and `--keep` keeps this one. Run
it alone: what else runs widens the spread.
"""

import sys

from tui.cli import settle_threads

settle_threads()  # before numpy is imported

from . import baseline, big, engine, screen, startup, training  # noqa: E402
from .table import table  # noqa: E402

GROUPS = {
    "startup": startup.measure,
    "screen": screen.measure,
    "engine": engine.measure,
    "big": big.measure,
    "training": training.measure,  # last: it keeps freed memory from here on
}


def main(words: list[str]) -> None:
    """Measure the groups named, or all, and print one table."""
    names = [word for word in words if word != "--keep"]
    unknown = sorted(set(names) - set(GROUPS))
    if unknown:
        raise SystemExit(f"no such group: {unknown[0]}; there are {', '.join(GROUPS)}")
    results = [result for name in names or GROUPS for result in GROUPS[name]()]
    print(table(results, baseline.kept()))
    if "--keep" in words:
        baseline.keep(results)


if __name__ == "__main__":
    main(sys.argv[1:])
