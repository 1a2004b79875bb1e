"""Head training: the stacked engine against the textbook's plain loop and against Avalanche."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bench.avalanche import ABSENT, Avalanche
from bench.profiles import where
from bench.section import Section, Size
from bench.streams import CIFAR10, shape_of, synthetic
from bench.timing import Way, interleaved, ratio
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import load
from sharc.textbook import sharc as textbook
from sharc.trainer.heads import suited
from sharc.trainer.train import train

BUFFER, SEEDS = 200, 5
BUFFERS = (200, 500, 1000)  # a step that draws has one shape for all: the pipeline stacks them
LABELS = {
    "sgd": "SGD", "er": "ER, 10 replayed", "er_full": "ER, whole memory", "mer": "MER",
    "gem": "GEM", "agem": "A-GEM", "derpp": "DER++", "clser": "CLS-ER",
}  # fmt: skip
DRAWN = ("er", "mer", "agem", "derpp", "clser")
WHOLE = ("er_full", "gem")
BY_LOSS = ("sgd", "er", "agem", "derpp")
BY_AVALANCHE = ("er", "agem")
PROFILED = 0.1  # of the steps: the profiler keeps every call
Train = Callable[..., None]  # ours, but for its stream
OPTIONS: dict[str, dict[str, Any]] = {"er": {"replay": "sampled"}, "er_full": {"replay": "full"}}
PLAIN = {"er": "er_sampled", "er_full": "er"}  # the textbook's names


def ours(
    method: str,
    stream: TaskStream,
    seeds: int = SEEDS,
    buffers: Sequence[int] = (BUFFER,),
    *,
    by_loss: bool = False,
    device: str = "cpu",
) -> None:
    """Train all seeds with our engine, with one buffer or more."""
    strategy = load("method", method.partition("_")[0])
    strategy = suited(strategy, "mlp") if by_loss else strategy
    runs = [RunSpec(seed, size) for size in buffers for seed in range(seeds)]
    train(stream, runs, strategy, {"device": device} | OPTIONS.get(method, {}), DenseBuffer)


def plain(method: str, stream: TaskStream) -> None:
    """Train one seed as the textbook does."""
    known = load("method", method.partition("_")[0]).complete({}).model_dump()
    textbook.train(PLAIN.get(method, method), stream, 0, BUFFER, known)


def run(size: Size) -> Section:
    """Whole runs against the plain loop, evaluation included; steps alone against Avalanche."""
    section = Section()
    with one_thread():
        _against_the_plain_loop(section, size)
        if not size.small:
            _against_avalanche(section, size)
    return section


def _against_the_plain_loop(section: Section, size: Size) -> None:
    stream, short = synthetic(CIFAR10, size.share), synthetic(CIFAR10, PROFILED)
    stacks: dict[str, tuple[str, Train, int]] = {
        f"{m}_vs_plain": (m, partial(ours, m, buffers=BUFFERS), SEEDS * len(BUFFERS)) for m in DRAWN
    }
    stacks |= {f"{m}_vs_plain": (m, partial(ours, m), SEEDS) for m in WHOLE}
    stacks |= {
        f"{m}_vs_plain_by_loss": (m, partial(ours, m, by_loss=True), SEEDS)
        for m in (() if size.small else BY_LOSS)  # recording a loss outweighs a short run
    }
    methods = dict.fromkeys(method for method, _, _ in stacks.values())
    for method in methods:  # what torch imports at its first use is not part of a step
        plain(method, short)
    if not size.small:
        section.profiles = {m: where(partial(go, stream=short)) for m, (_, go, _) in stacks.items()}
    times = interleaved(
        {method: partial(plain, method, stream) for method in methods}
        | {measure: partial(go, stream=stream) for measure, (_, go, _) in stacks.items()},
        size.rounds,
        warm_up=size.small,
    )
    for measure, (method, _, runs) in stacks.items():
        section.measures[measure] = ratio(times[method], times[measure], runs)


def _against_avalanche(section: Section, size: Size) -> None:
    """By steps alone, for their evaluations differ: next to nothing is tested."""
    avalanche = Avalanche()
    if avalanche.version is None:
        section.notes.append(f"Avalanche was {ABSENT}.")
        return
    try:
        for classes in (10, 100):
            stream = synthetic(shape_of(classes), size.share)
            stream = replace(stream, test_tasks=[task[:10] for task in stream.test_tasks])
            # With 100 classes the engine stacks five runs at a time, however many it is given.
            buffers = BUFFERS if classes == CIFAR10.classes else (BUFFER,)
            short = synthetic(shape_of(classes), PROFILED)
            mine = {m: partial(ours, m, buffers=buffers) for m in BY_AVALANCHE}
            ways: dict[str, Way] = {m: partial(way, stream=stream) for m, way in mine.items()}
            ways |= {
                f"avalanche {m}": partial(avalanche.train, m, classes, size.share)
                for m in BY_AVALANCHE
            }
            avalanche.train("er", classes, 0.0)  # its first steps import, too
            times = interleaved(ways, size.rounds, warm_up=False)
            for method, way in mine.items():
                measure, runs = f"{method}_vs_avalanche_{classes}", SEEDS * len(buffers)
                section.measures[measure] = ratio(times[f"avalanche {method}"], times[method], runs)
                section.profiles[measure] = where(partial(way, stream=short))
    finally:
        avalanche.close()
    section.notes.append(
        f"Avalanche {avalanche.version} in a process of its own, one thread like the others; what "
        "it does once per task (loaders, its buffer) is in its time. Its A-GEM draws one example "
        "of each task at least, so 20 at 100 classes, ours 10."
    )
