"""Head training: a plain PyTorch loop, a framework's step, Avalanche, and the stacked engine."""

from dataclasses import replace
from functools import partial
from typing import Any

import torch

from bench.avalanche import ABSENT, Avalanche
from bench.framework_loop import train_framework
from bench.plain_loop import train_plain
from bench.section import Section, Size, Table
from bench.streams import CIFAR10, CIFAR100, Shape, steps, synthetic
from bench.timing import Measure, Times, Way, interleaved, number, ratio
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.stream import Stream
from sharc.engine.train import train
from sharc.registry import load

BUFFER, SEEDS = 200, 5
LABELS = {
    "sgd": "SGD", "joint": "JOINT", "er": "ER, 10 replayed", "er_full": "ER, whole memory",
    "mer": "MER", "gem": "GEM", "agem": "A-GEM", "derpp": "DER++", "clser": "CLS-ER",
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {"er": {"replay": "sampled"}, "er_full": {"replay": "full"}}
GUARDED = ("er", "er_full", "gem", "agem", "derpp", "clser")
AVALANCHE_SHARE = 0.1  # of the steps the others take: it is slow, and compared by the step


def ours(method: str, stream: Stream, seeds: int = SEEDS, buffer: int = BUFFER) -> None:
    """Train all seeds with our engine."""
    strategy = load("method", method.partition("_")[0])
    runs = [RunSpec(seed, buffer) for seed in range(seeds)]
    options = {"device": "cpu"} | OPTIONS.get(method, {})
    train(stream, runs, strategy, options, DenseBuffer)


def plain(method: str, stream: Stream) -> None:
    """Train one seed with the plain loop; JOINT is SGD on one task that holds everything."""
    if method == "joint":
        everything = torch.cat(stream.train_tasks)
        tests = torch.cat(stream.test_tasks)
        classes = [list(range(stream.n_classes))]
        stream = replace(stream, train_tasks=[everything], test_tasks=[tests], classes=classes)
    train_plain("sgd" if method == "joint" else method, stream, seed=0, buffer=BUFFER)


def run(size: Size) -> Section:
    """Both numbers of classes."""
    section = Section("head", "Head training")
    avalanche = Avalanche(wanted=size.name != "small")
    try:
        with one_thread():
            for shape in (shape for shape in (CIFAR10, CIFAR100) if shape.classes in size.shares):
                _compare(section, shape, size, avalanche)
    finally:
        avalanche.close()
    if size.name != "small":
        section.notes.append(_said(avalanche))
    return section


def _said(avalanche: Avalanche) -> str:
    return (
        f"Avalanche {avalanche.version} in a process of its own, one thread like the others."
        if avalanche.version
        else ABSENT
    )


def _compare(section: Section, shape: Shape, size: Size, avalanche: Avalanche) -> None:
    stream = synthetic(shape, size.shares[shape.classes])
    ways: dict[str, Way] = {}
    for method in GUARDED if size.name == "small" else LABELS:
        ways[f"plain {method}"] = partial(plain, method, stream)
        ways[f"ours {method}"] = partial(ours, method, stream)
    ways |= _steps_only(stream)
    if avalanche.version:
        share = size.shares[shape.classes] * AVALANCHE_SHARE
        for method in ("er", "agem"):
            ways[f"avalanche {method}"] = partial(avalanche.seconds, method, shape.classes, share)
    times = interleaved(ways, size.rounds, warm_up=size.name == "small")
    section.tables.append(_methods(section, times, shape, size))
    section.tables.append(_engines(section, times, shape, size))


def _steps_only(stream: Stream) -> dict[str, Way]:
    """Engines are compared by their steps: next to nothing is evaluated."""
    bare = replace(stream, test_tasks=[task[:10] for task in stream.test_tasks])
    ways: dict[str, Way] = {f"steps er {seeds}": partial(ours, "er", bare, seeds)
                            for seeds in (1, 5, 25)}  # fmt: skip
    return ways | {
        "steps agem 5": partial(ours, "agem", bare, 5),
        "bare er": partial(plain, "er", bare),
        "framework er": partial(train_framework, bare, 0, BUFFER),
    }


def _methods(section: Section, times: dict[str, Times], shape: Shape, size: Size) -> Table:
    table = Table(
        f"Eight strategies, {shape.classes} classes, {SEEDS} seeds stacked",
        ["method", "plain loop, µs per step", "ours, µs per step and run", "ours is × faster",
         "runs per minute and core"],
    )  # fmt: skip
    n = steps(shape, size.shares[shape.classes])
    for method, label in LABELS.items():
        if f"plain {method}" not in times:
            continue
        slow, fast = times[f"plain {method}"], times[f"ours {method}"]
        gain = ratio(slow, fast, SEEDS)
        whole = steps(shape, 1.0) / n  # a real run's steps for each of these
        minutes = Measure.of([60 * SEEDS / (spent * whole) for spent in fast.cpu])
        spent = slow.per(n), fast.per(n * SEEDS)
        table.add(label, *(number(s.median) for s in spent), gain, number(minutes.median))
        section.measures[f"{method}_vs_plain_{shape.classes}"] = gain
        section.measures[f"{method}_runs_per_minute_{shape.classes}"] = minutes
    return table


def _engines(section: Section, times: dict[str, Times], shape: Shape, size: Size) -> Table:
    """ER by every engine, and A-GEM by Avalanche; by the step, for Avalanche takes fewer."""
    table = Table(
        f"Engines, {shape.classes} classes, steps alone",
        ["engine", "µs per step and run", "ours, 5 seeds, is × faster"],
    )
    share = size.shares[shape.classes]
    n, short = steps(shape, share), steps(shape, share * AVALANCHE_SHARE)
    engines = {
        "plain PyTorch loop, ER": ("bare er", n),
        "a framework's step, ER": ("framework er", n),
        "Avalanche, ER": ("avalanche er", short),
        "Avalanche, A-GEM": ("avalanche agem", short),
        "ours, 1 seed, ER": ("steps er 1", n),
        "ours, 5 seeds, ER": ("steps er 5", 5 * n),
        "ours, 25 seeds, ER": ("steps er 25", 25 * n),
        "ours, 5 seeds, A-GEM": ("steps agem 5", 5 * n),
    }
    for name, (key, done) in engines.items():
        if key not in times:
            continue
        kind, method = key.split()[:2]
        ahead = ratio(times[key], times[f"steps {method} 5"], SEEDS * n / done)
        table.add(name, times[key].per(done), ahead)
        section.bars[f"{name}, {shape.classes} classes"] = times[key].per(done)
        if kind in ("framework", "avalanche"):
            section.measures[f"{method}_vs_{kind}_{shape.classes}"] = ahead
    return table
