"""How cost grows: one size at a time, the exponent fitted on a log-log scale.

Four sizes over a range of eight, so that a busy moment at one of them moves the slope little, and
large enough that fixed costs do not flatten it; of each size the least CPU time of all rounds,
for other work on the machine only ever adds to it. The slope between two neighbours, taken once
from two rounds, came out anywhere between 0.7 and 1.5.
"""

from collections.abc import Callable
from functools import partial

from bench.section import Section, Size
from bench.streams import CIFAR10, Shape, synthetic
from bench.timing import Measure, Way, exponent, interleaved
from bench.training import LABELS, ours
from sharc.engine.device import one_thread

ROUNDS = 5
BASE = Shape(train=5_000, test=1_000)


def _steps(n: int) -> Callable[[str], Way]:
    stream = synthetic(CIFAR10, n * 10 / CIFAR10.train)  # all rows exist, whatever the steps
    return lambda method: partial(ours, method, stream)


def _classes(n: int) -> Callable[[str], Way]:
    stream = synthetic(Shape(n, 5, train=4_000, test=1_000))
    return lambda method: partial(ours, method, stream)


def _buffer(n: int) -> Callable[[str], Way]:
    stream = synthetic(BASE)
    return lambda method: partial(ours, method, stream, buffers=(n,))


def _seeds(n: int) -> Callable[[str], Way]:
    stream = synthetic(BASE)
    return lambda method: partial(ours, method, stream, seeds=n)


AXES: dict[str, tuple[tuple[int, ...], Callable[[int], Callable[[str], Way]]]] = {
    "steps": ((500, 1000, 2000, 4000), _steps),
    "classes": ((25, 50, 100, 200), _classes),
    "buffer": ((400, 800, 1600, 3200), _buffer),
    "seeds": ((5, 10, 20, 40), _seeds),
}


def run(size: Size) -> Section:
    """The steepest method of each axis is what counts."""
    section = Section()
    with one_thread():
        for axis, (sizes, make) in AXES.items():
            slopes = {}
            made = {n: make(n) for n in sizes}
            for method in ("er", "er_full", "gem"):
                ways = {str(n): of_method(method) for n, of_method in made.items()}
                times = interleaved(ways, ROUNDS, warm_up=False)
                costs = [min(times[str(n)]) for n in sizes]
                slopes[LABELS[method]] = exponent(sizes, costs)
            section.measures[f"growth_{axis}"] = Measure.of(max(slopes.values()))
            said = ", ".join(f"{method} {slope:.2f}" for method, slope in slopes.items())
            section.notes.append(f"With {axis} from {sizes[0]:,} to {sizes[-1]:,}: {said}.")
    return section
