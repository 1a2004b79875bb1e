"""Interleaved repetitions, their median and spread.

A round runs every way once, so that a busy moment of the machine hits all alike; what is reported
of a comparison is the median over rounds of the ratio within a round. CPU time is used where both
sides compute with the same threads: on a shared machine wall time measures the neighbours.
"""

import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Way = Callable[[], object]


@dataclass(frozen=True)
class Measure:
    """A median with the smallest and the largest of the n values behind it."""

    median: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Measure":
        """The measure of some values."""
        return cls(statistics.median(values), min(values), max(values), len(values))

    def scaled(self, by: float) -> "Measure":
        """In another unit."""
        return Measure(self.median * by, self.low * by, self.high * by, self.n)

    def json(self) -> dict[str, float | int]:
        """Rounded to six digits, three more than are shown."""
        numbers = {name: float(f"{value:.6g}") for name, value in vars(self).items()}
        return numbers | {"n": self.n}

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> "Measure":
        """The inverse of `json`."""
        return cls(**content)

    def __str__(self) -> str:
        if self.n == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)}–{number(self.high)})"


def number(value: float) -> str:
    """Three digits, without an exponent where people would not write one."""
    if value == 0 or 0.001 <= abs(value) < 100:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1e}"


class Spent(NamedTuple):
    """Seconds of one call."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Times:
    """Seconds of one way in each round."""

    cpu: list[float]
    wall: list[float]

    def per(self, count: float, unit: float = 1e6) -> Measure:
        """CPU time per piece of work, in microseconds unless told otherwise."""
        return Measure.of([unit * spent / count for spent in self.cpu])


def cpu_seconds() -> float:
    """CPU time of this process and of its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # os.times counts in hundredths
    return time.process_time() + children.ru_utime + children.ru_stime


def interleaved(ways: Mapping[str, Way], rounds: int, warm_up: bool = True) -> dict[str, Times]:
    """Time every way in every round; a way that is timed elsewhere returns its `Spent`."""
    times = {name: Times([], []) for name in ways}
    for round_number in range(rounds + warm_up):
        for name, run in ways.items():
            wall, cpu = time.perf_counter(), cpu_seconds()
            reported = run()
            spent = Spent(cpu_seconds() - cpu, time.perf_counter() - wall)
            if isinstance(reported, Spent):
                spent = reported
            if round_number >= warm_up:
                times[name].cpu.append(spent[0])
                times[name].wall.append(spent[1])
    return times


def ratio(slow: Times, fast: Times, work: float = 1.0, wall: bool = False) -> Measure:
    """How many times faster, round by round; `work` is what `fast` does for each of `slow`."""
    ours, theirs = (fast.wall, slow.wall) if wall else (fast.cpu, slow.cpu)
    return Measure.of([work * a / b for a, b in zip(theirs, ours, strict=True)])


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost against log size, by least squares."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
