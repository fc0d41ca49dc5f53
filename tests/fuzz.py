"""Fuzzing of what we read from strangers: valid small files, mutated, must open or be refused in one line.

`python -m tests.fuzz [--kind KIND] [--count N] [--seed N]` runs many cases; `--case N` runs one of them and shows
its traceback. A case is found again by its kind, seed and number alone.
"""

import argparse
import signal
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.fuzzing.kinds import KINDS, Kind
from tests.fuzzing.mutations import mutated

SECONDS = 5
REFUSAL_BYTES = 20e6
LONGEST_LINE = 1000


class Hang(BaseException):
    """A case took longer than SECONDS; no reader may catch this."""


@dataclass(frozen=True)
class Failure:
    """A case that broke a promise, and which."""

    kind: str
    seed: int
    case: int
    words: str

    def __str__(self) -> str:
        return f"--kind {self.kind} --seed {self.seed} --case {self.case}: {self.words}"


def content(kind: Kind, seed: int, case: int) -> bytes:
    """The mutated file of one case."""
    rng = np.random.default_rng([seed, case, sum(kind.name.encode())])
    return mutated(kind.valid(), rng)


@dataclass
class Tally:
    """How many cases opened and were refused, those that failed, and the most memory that a refusal took."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    peak: int = 0

    def __str__(self) -> str:
        said = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        return f"{said}, {len(self.failures)} failed, refusing took at most {self.peak / 1e6:.1f} MB"


def outcome(kind: Kind, path: Path) -> tuple[str, int]:
    """Open the file and use what it holds: `opened` or `refused`, and the memory that refusing it took.

    Raises whatever went wrong.
    """
    start = time.perf_counter()
    tracemalloc.start()
    try:
        with limited(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", RuntimeWarning)
            opened = kind.read(path)
        _, peak = tracemalloc.get_traced_memory()
    except kind.refusals as refusal:
        _, peak = tracemalloc.get_traced_memory()
        assert peak < REFUSAL_BYTES, f"refusing took {peak / 1e6:.0f} MB"
        line = str(refusal)
        assert line and line.isprintable() and len(line) < LONGEST_LINE, f"not one line: {line!r}"
        return "refused", peak
    finally:
        tracemalloc.stop()
    with limited(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        kind.use(opened)
    assert time.perf_counter() - start < SECONDS, "too slow"
    return "opened", 0


@contextmanager
def limited() -> Iterator[None]:
    """Raise Hang after SECONDS, where the system has alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise Hang(f"longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fuzz(kind: Kind, cases: range, seed: int) -> Tally:
    """Run the cases."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kind.file_name
        for case in cases:
            path.write_bytes(content(kind, seed, case))
            try:
                what, peak = outcome(kind, path)
                tally.counts[what] += 1
                tally.peak = max(tally.peak, peak)
            except (Exception, Hang) as error:
                words = f"{type(error).__name__}: {error}"[:300]
                tally.failures.append(Failure(kind.name, seed, case, words))
    return tally


def show(kind: Kind, seed: int, case: int) -> None:
    """Run one case and let its exception through."""
    path = Path(tempfile.mkdtemp()) / kind.file_name
    path.write_bytes(content(kind, seed, case))
    print(path)
    print(*outcome(kind, path))


def guard_the_machine(gibibytes: int = 6) -> None:
    """Let no case take more memory than this, where the system can see to it."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (gibibytes << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutate valid files and open them.")
    parser.add_argument("--kind", choices=sorted(KINDS), action="append", help="default: all")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    guard_the_machine()
    failed = 0
    for name in options.kind or sorted(KINDS):
        if options.case is not None:
            show(KINDS[name], options.seed, options.case)
            continue
        start = time.perf_counter()
        tally = fuzz(KINDS[name], range(options.count), options.seed)
        print(f"{name}: {tally}, {time.perf_counter() - start:.0f} s", flush=True)
        print(*tally.failures[:20], sep="\n", end="\n" if tally.failures else "")
        failed += len(tally.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
