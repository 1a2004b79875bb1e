"""The specification curve: what came out in every specification, sorted, with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharc.results.statistics import Estimate, Pooled, estimate, pooled
from sharc.specifications.factors import Specification

Gains = Mapping[int, float]  # seed -> points


@dataclass(frozen=True)
class Point:
    """One specification on the curve."""

    specification: Specification
    gain: Estimate


@dataclass(frozen=True)
class Curve:
    """All points from the lowest gain to the highest; missing ones are counted, never averaged."""

    points: list[Point]
    missing: list[Specification]
    median: float
    pooled: Pooled

    @property
    def directions(self) -> dict[str, int]:
        """In how many specifications the gain is up, down or undecided."""
        found = [point.gain.direction for point in self.points]
        return {name: found.count(name) for name in ("up", "down", "undecided")}


def curve(found: Sequence[tuple[Specification, Gains]]) -> Curve:
    """From the gains of each specification, paired by seed."""
    points, missing = [], []
    for specification, gains in found:
        gain = estimate(list(gains.values()))
        if gain.n:
            points.append(Point(specification, gain))
        else:
            missing.append(specification)
    points.sort(key=lambda point: (point.gain.mean, point.specification.id))
    means = [point.gain.mean for point in points]
    return Curve(
        points,
        missing,
        median=float(np.median(means)) if means else float("nan"),
        pooled=pooled([gains for _, gains in found]),
    )
