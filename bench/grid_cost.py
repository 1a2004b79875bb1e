"""What the paper's grid costs: every cell's CPU time, added up.

A cell is a method, a buffer and five stacked seeds. An eighth of its steps is taken at one buffer
(methods that draw from it), or a thirtieth at three (those that replay all of it), and the rest is
extrapolated: the time per step, and between buffers on a log-log line. SHARC at θ = 0.8 holds five
times as many examples; its recall is measured apart.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from bench.section import Section, Size
from bench.streams import CIFAR10, CIFAR100, Shape, examples, synthetic
from bench.timing import Measure, spent
from bench.training import BUFFERS, DRAWN, WHOLE, ours
from sharc.engine.device import one_thread
from sharc.engine.task_stream import TaskStream

MORE, CORES = 5, 2
NEXT_TO_NONE = 200  # test examples
DATASETS = {10: 1, 100: 2}  # Split CIFAR-10; Split CIFAR-100 and Split mini-ImageNet
Costs = dict[tuple[str, int, int], float]  # by method, classes, buffer


def run(size: Size) -> Section:
    """Minutes of the three grids that have a target."""
    with one_thread():
        costs = measure(size)
    both = (1, MORE)
    grids = {
        "300_dense_runs_minutes": total(costs, ("er_full", *DRAWN[1:], "gem"), (1,))
        + sum(n * costs[m, c, 0] for m in ("sgd", "joint") for c, n in DATASETS.items()),
        "450_sampled_runs_minutes": total(costs, DRAWN, both),
        "540_runs_minutes": total(costs, (*DRAWN[1:], *WHOLE), both),
    }
    largest = sum(DATASETS[100] * costs[m, 100, MORE * max(BUFFERS)] for m in WHOLE)
    share = largest / grids["540_runs_minutes"]
    return Section(
        {name: Measure.of(seconds / 60 / CORES) for name, seconds in grids.items()},
        {"540_runs_minutes": f"{share:.0%} of it replays 5,000 examples at 100 classes"},
        [
            "Each cell of the grid is measured once, on a part of its steps, and extrapolated; "
            "θ = 0.8 at buffer 1000 holds 5,000 examples. Minutes on two cores are half of the "
            "CPU time of all cells."
        ],
    )


def total(costs: Costs, methods: Iterable[str], factors: Iterable[int]) -> float:
    """CPU seconds of the methods' cells on three data sets, for each size of the memory."""
    return sum(
        n * at(costs, method, classes, buffer * more)
        for method in methods
        for more in factors
        for buffer in BUFFERS
        for classes, n in DATASETS.items()
    )


def at(costs: Costs, method: str, classes: int, buffer: int) -> float:
    """CPU seconds of a cell, between measured buffers on a line through their logarithms."""
    known = {b: cost for (m, c, b), cost in costs.items() if (m, c) == (method, classes)}
    return float(np.exp(np.interp(np.log(buffer), np.log(list(known)), np.log([*known.values()]))))


def measure(size: Size) -> Costs:
    """CPU seconds of the cells that are measured."""
    buffers: dict[str, tuple[int, ...]] = {"sgd": (0,), "joint": (0,)}
    buffers |= dict.fromkeys(DRAWN, (1000,)) | dict.fromkeys(WHOLE, (200, 1000, 5000))
    return {
        (method, shape.classes, buffer): cell(method, shape, buffer, size.grid_share)
        for shape in (CIFAR10, CIFAR100)
        for method, sizes in buffers.items()
        for buffer in sizes
    }


def cell(method: str, shape: Shape, buffer: int, share: float) -> float:
    """CPU seconds of one cell at its full length: evaluation, fixed cost, and steps.

    A task must have as many examples as it is to hold. Where it holds so many that even that is
    a long run, the fixed cost is counted with the steps: an upper bound.
    """
    task = shape.train // shape.tasks
    few = max(20, buffer // shape.tasks)
    share = share if method in WHOLE else 4 * share  # draws are cheap, and noisier
    many = max(examples(task, share), few)
    steps = seconds(method, shape, buffer, many, NEXT_TO_NONE)
    if buffer >= MORE * max(BUFFERS):
        return steps * task / many + evaluation(method, shape)
    fixed = seconds(method, shape, buffer, few, NEXT_TO_NONE)
    return fixed + (steps - fixed) * (task - few) / (many - few) + evaluation(method, shape)


@cache
def evaluation(method: str, shape: Shape) -> float:
    """CPU seconds that testing takes over a whole run, whatever the memory."""
    all_tests, few = (seconds(method, shape, 100, 20, n) for n in (shape.test, NEXT_TO_NONE))
    return max(0.0, all_tests - few)


@cache
def stream_of(shape: Shape) -> TaskStream:
    """Made once: a stream takes longer than a cell's shortest run."""
    return synthetic(shape)


def seconds(method: str, shape: Shape, buffer: int, count: int, tests: int) -> float:
    """CPU seconds with `count` training examples per task and `tests` test examples in all."""
    stream = stream_of(shape)
    short = replace(
        stream,
        train_tasks=[task[:count] for task in stream.train_tasks],
        test_tasks=[task[: tests // shape.tasks] for task in stream.test_tasks],
    )
    return spent(lambda: ours(method, short, buffers=(buffer,)))
