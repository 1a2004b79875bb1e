"""How cost grows: one size at a time, the exponent fitted on a log-log scale."""

import statistics
from collections.abc import Callable
from functools import partial

from bench.recall import SHOWN, sharc
from bench.section import Section, Size, Table
from bench.streams import Shape, synthetic
from bench.timing import Measure, Way, exponent, interleaved
from bench.training import LABELS, ours
from sharc.engine.device import one_thread

BASE = Shape(train=5_000, test=1_000)
THETA = Shape(train=2_000, test=500, features=256, side=4)
LONGEST = Shape(train=20_000, test=1_000)


def _steps(method: str, n: float) -> Way:
    # all rows exist in every case, so that only the number of steps grows
    return partial(ours, method, synthetic(LONGEST, n * 10 / LONGEST.train))


def _classes(method: str, n: float) -> Way:
    return partial(ours, method, synthetic(Shape(int(n), 5, train=5_000, test=1_000)))


def _buffer(method: str, n: float) -> Way:
    return partial(ours, method, synthetic(BASE), buffer=int(n))


def _seeds(method: str, n: float) -> Way:
    return partial(ours, method, synthetic(BASE), seeds=int(n))


def _tasks(method: str, n: float) -> Way:
    return partial(ours, method, synthetic(Shape(100, int(n), train=10_000, test=1_000)))


def _theta(memory: str, n: float) -> Way:
    stream = synthetic(THETA, maps=True)
    return partial(sharc, "er", stream, memory, theta=1 - 1 / n, buffer=50, seeds=1)


AXES: dict[str, tuple[list[float], Callable[[str, float], Way], tuple[str, ...]]] = {
    "steps": ([125, 250, 500, 1000, 2000], _steps, ("er", "er_full", "gem")),
    "classes": ([10, 25, 50, 100, 200], _classes, ("er", "er_full", "gem")),
    "buffer": ([100, 200, 500, 1000, 2000], _buffer, ("er", "er_full", "gem")),
    "seeds": ([1, 2, 5, 10, 20], _seeds, ("er", "er_full", "gem")),
    "tasks": ([2, 5, 10, 20], _tasks, ("er", "er_full", "gem")),
    "1 / (1 − θ)": ([1.25, 2, 3.333, 5, 10], _theta, ("modern_hopfield", "bayes_pcn")),
}


def run(size: Size) -> Section:
    """Every axis for every method; CPU seconds, medians of interleaved rounds.

    Fixed costs flatten the fit at small sizes, so the slope between the two largest counts too.
    """
    section = Section("growth", "Growth")
    columns = ["size", "from–to", "method", "exponent", "between the two largest"]
    table = Table("Fitted exponents (1 is linear)", columns)
    worst: dict[str, float] = {}
    with one_thread():
        for axis, (sizes, make, methods) in AXES.items():
            name = "growth_" + (axis if axis.isalpha() else "theta")
            for method in methods:
                label = LABELS.get(method) or f"ER with {SHOWN[method]}, θ grows"
                ways = {str(n): make(method, n) for n in sizes}
                times = interleaved(ways, size.rounds - 1, warm_up=False)
                costs = [statistics.median(times[str(n)].cpu) for n in sizes]
                whole, last = exponent(sizes, costs), exponent(sizes[-2:], costs[-2:])
                span = f"{sizes[0]:g}–{sizes[-1]:g}"
                table.add(axis, span, label, f"{whole:.2f}", f"{last:.2f}")
                worst[name] = max(worst.get(name, 0.0), whole, last)
    section.measures = {name: Measure.of([value]) for name, value in worst.items()}
    section.tables = [table]
    return section
