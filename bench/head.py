"""How fast the stacked closed-form engine is against a plain PyTorch loop, on the same features.

Run: python bench/head.py [--classes 10 100] [--seeds 5] [--rounds 3]

The plain loop is what one would write first: nn.Linear, autograd, torch.optim.SGD, one seed at a
time. Both sides use one thread; rounds are interleaved, so that a busy machine slows both alike.
"""

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from plain_loop import PLAIN, train_plain

from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.stream import Stream
from sharc.engine.train import train
from sharc.strategies.agem import AGEM
from sharc.strategies.base import Strategy
from sharc.strategies.clser import CLSER
from sharc.strategies.derpp import DERpp
from sharc.strategies.er import ER
from sharc.strategies.gem import GEM
from sharc.strategies.mer import MER
from sharc.strategies.sgd import SGD

OURS: dict[str, tuple[type[Strategy], dict[str, Any]]] = {
    "sgd": (SGD, {}),
    "er": (ER, {"replay": "sampled"}),
    "er_full": (ER, {"replay": "full"}),
    "mer": (MER, {}),
    "gem": (GEM, {}),
    "agem": (AGEM, {}),
    "derpp": (DERpp, {}),
    "clser": (CLSER, {}),
}
BATCH = 10


def synthetic(classes: int, tasks: int, examples: int, features: int = 512) -> Stream:
    """Rectified Gaussian blobs: `examples` training and 50 test rows per task."""
    source = torch.Generator().manual_seed(0)
    centres = 0.1 * torch.randn(classes, features, generator=source)
    per_task = classes // tasks

    def split(n: int) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        y = torch.arange(classes).repeat_interleave(n // per_task)
        x = centres[y] + 0.3 * torch.randn(len(y), features, generator=source)
        return x.relu_(), y, list(torch.arange(len(y)).split(n // per_task * per_task))

    x, y, train_tasks = split(examples)
    test_x, test_y, test_tasks = split(10 * per_task)
    own = [list(range(t * per_task, (t + 1) * per_task)) for t in range(tasks)]
    return Stream(x, y, train_tasks, test_x, test_y, test_tasks, own, classes, name="synthetic")


def seconds(call: Callable[[], object]) -> float:
    """CPU time of one call: on a shared machine wall time measures the neighbours."""
    start = time.process_time()
    call()
    return time.process_time() - start


def compare(
    method: str, classes: int, seeds: int = 5, rounds: int = 3, examples: int | None = None
) -> dict[str, Any]:
    """Medians of interleaved rounds, in us per step and run, and their ratio."""
    tasks = 5 if classes == 10 else 20
    stream = synthetic(classes, tasks, examples or 50_000 // tasks)
    strategy, options = OURS[method]
    runs = [RunSpec(seed, 200) for seed in range(seeds)]
    steps = sum(len(task) // BATCH for task in stream.train_tasks)
    plain, ours = [], []
    with one_thread():
        train(stream, runs[:1], strategy, options, DenseBuffer)  # warm up
        for _ in range(rounds):
            plain.append(seconds(lambda: train_plain(method, stream, seed=0, buffer=200)))
            ours.append(seconds(lambda: train(stream, runs, strategy, options, DenseBuffer)))
    plain_us = statistics.median(plain) / steps * 1e6
    ours_us = statistics.median(ours) / steps / seeds * 1e6
    return {
        "method": method,
        "classes": classes,
        "seeds": seeds,
        "steps": steps,
        "plain_us": round(plain_us, 1),
        "ours_us": round(ours_us, 1),
        "ratio": round(plain_us / ours_us, 1),
    }


def compare_avalanche(method: str, classes: int, seeds: int = 5, rounds: int = 3) -> dict[str, Any]:
    """The same against Avalanche, for "er" and "agem"; raises ImportError if it is absent."""
    from avalanche_loop import seconds as avalanche_seconds

    tasks = 5 if classes == 10 else 20
    stream = synthetic(classes, tasks, 200)  # Avalanche is slow: fewer steps, still per step
    long = synthetic(classes, tasks, 2000)
    strategy, options = OURS[method]
    runs = [RunSpec(seed, 200) for seed in range(seeds)]
    theirs, ours = [], []
    with one_thread():
        for _ in range(rounds):
            theirs.append(avalanche_seconds(method, stream))
            ours.append(seconds(lambda: train(long, runs, strategy, options, DenseBuffer)))
    their_us = statistics.median(theirs) / (tasks * 20) * 1e6
    ours_us = statistics.median(ours) / (tasks * 200) / seeds * 1e6
    row = {"method": method, "classes": classes, "against": "avalanche"}
    figures = {"avalanche_us": their_us, "ours_us": ours_us, "ratio": their_us / ours_us}
    return row | {name: round(value, 1) for name, value in figures.items()}


def growth(method: str = "er") -> list[dict[str, Any]]:
    """Our cost in us per step and run as classes, buffer, seeds and steps grow, one at a time."""
    base = {"classes": 10, "buffer": 200, "seeds": 5, "examples": 1000}
    axes = {
        "classes": [10, 50, 100, 200],
        "buffer": [200, 500, 1000],
        "seeds": [1, 2, 5, 10, 20],
        "examples": [500, 1000, 2000, 4000],
    }
    strategy, options = OURS[method]
    rows = []
    for axis, values in axes.items():
        for value in values:
            at = base | {axis: value}
            stream = synthetic(at["classes"], 5, at["examples"])
            runs = [RunSpec(seed, at["buffer"]) for seed in range(at["seeds"])]
            used = statistics.median(
                seconds(lambda: train(stream, runs, strategy, options, DenseBuffer))  # noqa: B023
                for _ in range(3)
            )
            steps = at["examples"] // BATCH * 5 * at["seeds"]
            rows.append(
                {"method": method, "axis": axis, "value": value, "seconds": used}
                | {"us_per_step_and_run": round(used / steps * 1e6, 1)}
            )
    return rows


def main() -> None:
    """Print one JSON line per comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--methods", nargs="+", default=list(PLAIN))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", action="store_true", help="cost against size instead")
    parser.add_argument("--avalanche", action="store_true", help="against Avalanche instead")
    asked = parser.parse_args()
    if asked.growth:
        rows = (row for method in ("er", "er_full") for row in growth(method))
    else:
        against = compare_avalanche if asked.avalanche else compare
        methods = ["er", "agem"] if asked.avalanche else asked.methods
        cells = itertools.product(methods, asked.classes)
        rows = (against(method, n, asked.seeds, asked.rounds) for method, n in cells)
    for row in rows:
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
