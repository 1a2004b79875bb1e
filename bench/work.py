"""What py-spy watches: python -m bench.work steps er 10 5. Names are those of bench.profiles."""

import sys
import time
from collections.abc import Callable
from functools import partial

import torch

from bench.growth import AXES
from bench.memory import CHANNELS, HIDDEN, POSITIONS, masks, relu_maps
from bench.recall import THETA, sharc
from bench.streams import CIFAR10, CIFAR100, OFFLINE, OFFLINE100, synthetic
from bench.training import BUFFER, BUFFERS, DRAWN, SEEDS, bare, ours
from sharc.engine.device import one_thread
from sharc.engine.task_stream import TaskStream
from sharc.memories.base import Shape
from sharc.memories.bayes_pcn import BayesPCN

SECONDS = 2.5
Work = Callable[[], object]


def _features(classes: str) -> TaskStream:
    return synthetic(CIFAR10 if classes == "10" else CIFAR100, 0.2)


def _ours(method: str, stream: TaskStream, runs: str) -> Work:
    return partial(ours, method, stream, SEEDS, *((BUFFER,) if runs == "5" else BUFFERS))


def training(method: str, classes: str, runs: str) -> Work:
    """A fifth of a run's steps, with its evaluation."""
    return _ours(method, _features(classes), runs)


def steps(method: str, classes: str, runs: str) -> Work:
    """The same without evaluation, as engines are compared."""
    return _ours(method, bare(_features(classes)), runs)


def with_sharc(method: str, memory: str, features: str, seeds: str) -> Work:
    """A run with an associative memory."""
    stream = synthetic(OFFLINE if features == "1280" else CIFAR10, maps=True)
    return partial(sharc, method, stream, memory, THETA, seeds=int(seeds))


def growth(axis: str) -> Work:
    """ER over the whole memory (or BayesPCN), at the largest size of an axis."""
    key = axis if axis in AXES else next(name for name in AXES if not name.isalpha())
    sizes, make, methods = AXES[key]
    return make(methods[1], sizes[-1])


def recall(maps: str) -> Work:
    """BayesPCN's read of all that it was written."""
    x, kept = relu_maps(int(maps)), masks(int(maps), 5 if maps == "10" else 20)
    memory = BayesPCN(Shape(POSITIONS, CHANNELS), BayesPCN.Options(hidden=HIDDEN))
    labels = torch.zeros(len(x), dtype=torch.long)
    memory.write(x, labels)
    return lambda: memory.recall(x, kept, labels)


def draws() -> Work:
    """Every method that draws, at 100 classes."""
    stream = bare(synthetic(CIFAR100, 0.05))

    def each() -> None:
        for method in DRAWN:
            ours(method, stream)

    return each


def whole() -> Work:
    """ER over a memory of 5,000 examples, at 100 classes."""
    return partial(ours, "er_full", bare(synthetic(CIFAR100, 0.1)), 2, 5000)


def offline() -> Work:
    """The suite's dearest kind of unit: ER over all that BayesPCN recalls, at 100 classes."""
    stream = synthetic(OFFLINE100, 0.1, maps=True)
    return partial(sharc, "er_full", stream, "bayes_pcn", THETA, buffer=200, seeds=1)


WORK: dict[str, Callable[..., Work]] = {
    "training": training, "steps": steps, "sharc": with_sharc, "growth": growth,
    "recall": recall, "draws": draws, "whole": whole, "offline": offline,
}  # fmt: skip


def measured(work: Work) -> None:
    """Again and again, until there are samples enough."""
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        work()


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    with torch.no_grad(), one_thread():
        measured(WORK[kind](*words))
