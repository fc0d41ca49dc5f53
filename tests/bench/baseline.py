"""The ratios of an earlier measurement, by what was measured: beside them a change shows."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from .table import Result

FILE = Path(__file__).with_name("baseline.json")


def kept() -> dict[str, float]:
    """The medians that were kept; empty where none were."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def keep(results: Sequence[Result]) -> None:
    """Write these medians down in the place of their former ones; others stay."""
    medians = kept() | {result.what: round(median(result.ratios), 3) for result in results}
    FILE.write_text(json.dumps(medians, indent=1, ensure_ascii=False) + "\n", "utf-8")
