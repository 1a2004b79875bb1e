"""Interleaved repetitions, their median and spread.

A round runs every way once, so that a busy moment of the machine hits all alike; what is reported
of a comparison is the median over rounds of the ratio within a round. All times are CPU time: on a
shared machine wall time measures the neighbours.
"""

import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Way = Callable[[], object]
Times = list[float]  # of one way in each round


@dataclass(frozen=True)
class Measure:
    """A median with the smallest and the largest of the n values behind it."""

    median: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, *values: float) -> "Measure":
        """The measure of some values."""
        return cls(statistics.median(values), min(values), max(values), len(values))

    def __str__(self) -> str:
        if self.n == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)}–{number(self.high)})"


def number(value: float) -> str:
    """Three digits, without an exponent where people would not write one."""
    if value == 0 or 0.001 <= abs(value) < 100:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1e}"


def cpu_seconds() -> float:
    """CPU time of this process and of its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # os.times counts in hundredths
    return time.process_time() + children.ru_utime + children.ru_stime


def spent(run: Way) -> float:
    """CPU seconds of a call; one that is timed elsewhere returns its own."""
    start = cpu_seconds()
    reported = run()
    return reported if isinstance(reported, float) else cpu_seconds() - start


def interleaved(ways: Mapping[str, Way], rounds: int, warm_up: bool = True) -> dict[str, Times]:
    """CPU seconds of every way in every round."""
    times: dict[str, Times] = {name: [] for name in ways}
    for _ in range(rounds + warm_up):
        for name, run in ways.items():
            times[name].append(spent(run))
    return {name: found[warm_up:] for name, found in times.items()}


def ratio(slow: Times, fast: Times, work: float = 1.0) -> Measure:
    """How many times as fast, round by round; `work` is what `fast` does for each of `slow`."""
    return Measure.of(*(work * a / b for a, b in zip(slow, fast, strict=True)))


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost against log size, by least squares."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
