"""What runs through the gap between two ranks: nets, the bundles they are drawn as, and where each of those runs.

A gap is a channel: what leaves one producer is one net, a net takes one track (row) of it, and two nets share no
pin, so lines only ever cross squarely. Nets that lead to exactly the same consumers are drawn as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .layered import Size


@dataclass(eq=False)
class Net:
    """What leaves one producer (or comes down in its column) through one gap, and where it goes."""

    gap: int
    tops: set[int]
    targets: list[int] = field(default_factory=list)
    columns: set[int] = field(default_factory=set)  # that it goes on in, past the next rank
    comes_from_afar: bool = False  # in a column that leads to others too
    bundle: "Bundle | None" = None


@dataclass(eq=False)
class Bundle:
    """Nets drawn as one; `ports` is the column at which it enters each consumer from above."""

    nets: list[Net]
    targets: tuple[int, ...]
    ports: dict[int, int] = field(default_factory=dict)
    track: int = 0

    @property
    def tops(self) -> set[int]:
        return set().union(*(net.tops for net in self.nets))

    @property
    def span(self) -> tuple[int, int]:
        pins = self.tops | set(self.ports.values()) | set().union(*(net.columns for net in self.nets))
        return min(pins), max(pins)


def bundle_of(net: Net) -> Bundle:
    assert net.bundle is not None
    return net.bundle


def bundled(nets: list[Net]) -> list[Bundle]:
    """Nets that lead to the same consumers and nowhere else are one bundle, each other net is its own."""
    bundles: dict[object, Bundle] = {}
    for net in nets:
        targets = tuple(sorted(set(net.targets)))
        only_here = not net.columns and not net.comes_from_afar
        net.bundle = bundles.setdefault(targets if only_here else net, Bundle([], targets))
        net.bundle.nets.append(net)
    return list(bundles.values())


def give_ports(bundles: list[Bundle], x: Sequence[int], sizes: Sequence[Size]) -> None:
    """Each bundle enters a consumer in the middle, or beside it where others enter or start in that column."""
    arriving: dict[int, list[Bundle]] = {}
    for bundle in bundles:
        for target in bundle.targets:
            arriving.setdefault(target, []).append(bundle)
    starting = {top: bundle for bundle in bundles for top in bundle.tops}
    for target, those in arriving.items():
        those.sort(key=lambda bundle: sum(bundle.tops) / len(bundle.tops))
        half = (sizes[target].plain - 1) // 2
        step = 2 if 2 * (len(those) - 1) <= 2 * half else 1
        used: set[int] = set()
        for k, bundle in enumerate(those):
            wanted = x[target] + (2 * k - (len(those) - 1)) * step // 2
            near = sorted(range(-half, half + 1), key=lambda off: (abs(x[target] + off - wanted), off))
            free = (
                x[target] + off
                for off in near
                if x[target] + off not in used and starting.get(x[target] + off, bundle) is bundle
            )
            bundle.ports[target] = next(free, wanted)
            used.add(bundle.ports[target])


def allot(bundles: list[Bundle]) -> int:
    """Give each bundle the highest track that is free along its span; how many tracks there are."""
    ends: list[int] = []
    for bundle in sorted(bundles, key=lambda bundle: bundle.span):
        first, last = bundle.span
        if first == last:
            continue
        track = next((t for t, end in enumerate(ends) if end < first), len(ends))
        ends[track : track + 1] = [last]
        bundle.track = track
    return len(ends)
