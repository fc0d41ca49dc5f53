"""Ratios of what was measured, and the table they are printed as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

UNITS = {"ms": 1e3, "ns": 1e9, "": 1.0}  # of a second; without a unit, things counted


@dataclass(frozen=True)
class Result:
    """What was compared with what: seconds of both, round by round, and the most the ratio may be."""

    what: str
    times: Sequence[float]
    others: Sequence[float]
    goal: float | None = None
    unit: str = "ms"

    @property
    def ratios(self) -> list[float]:
        return [time / other for time, other in zip(self.times, self.others, strict=True)]

    @property
    def cost(self) -> str:
        """The medians of both."""
        here, there = (UNITS[self.unit] * median(each) for each in (self.times, self.others))
        return f"{here:.2f} / {there:.2f} {self.unit:2}"

    @property
    def verdict(self) -> str:
        """The goal, and whether it is met."""
        if self.goal is None:
            return f"{'–':>4}"
        return f"{self.goal:4g}  {'yes' if median(self.ratios) <= self.goal else 'NO'}"


def table(results: Sequence[Result], before: Mapping[str, float]) -> str:
    """A line each: what, its median ratio and the extremes, the one before, rounds, what both cost, goal, met?"""
    wide = max(len(result.what) for result in results)
    lines = [f"{'what':{wide}}  {'ratio [min, max]':>20}  before  rounds  {'time':>18}  goal  met?"]
    for result in results:
        ratios = result.ratios
        spread = f"{median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
        was = f"{before[result.what]:.2f}" if result.what in before else "–"
        cells = f"{spread:>20}  {was:>6}  {len(ratios):6}  {result.cost:>18}  {result.verdict}"
        lines.append(f"{result.what:{wide}}  {cells}")
    return "\n".join(lines)
