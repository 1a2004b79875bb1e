"""Where our own time goes, for whatever did not reach its target: cProfile, by function."""

import cProfile
import io
import pstats
import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from bench.recall import THETA, sharc
from bench.streams import CIFAR10, CIFAR100, OFFLINE, synthetic
from bench.training import ours
from sharc.engine.device import one_thread

SHOWN = 14


def write(measures: Iterable[str], folder: Path) -> list[Path]:
    """One text file per missed measure that training decides."""
    made: list[Path] = []
    jobs = {name: job for name in measures if (job := _job(name))}
    for name, work in jobs.items():
        profiler = cProfile.Profile(time.process_time)
        with one_thread():
            profiler.runcall(work)
        text = io.StringIO()
        stats = pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime")
        stats.print_stats(SHOWN)
        folder.mkdir(parents=True, exist_ok=True)
        made.append(folder / f"{name}.txt")
        lines = [line.rstrip() for line in text.getvalue().strip().splitlines()]
        made[-1].write_text("\n".join(lines) + "\n")
    return made


def _job(measure: str) -> Callable[[], None] | None:
    """What to profile for a measure's name."""
    if found := re.fullmatch(r"(\w+)_vs_(?:plain|avalanche|framework)_(\d+)", measure):
        shape = CIFAR10 if found[2] == "10" else CIFAR100
        return partial(ours, found[1], synthetic(shape, 0.2))
    if found := re.fullmatch(
        r"sharc_cost_(er|er_full)_(modern_hopfield|bayes_pcn)_(\d+)_(\d+)", measure
    ):
        shape = OFFLINE if found[3] == "1280" else CIFAR10
        stream = synthetic(shape, maps=True)
        return partial(sharc, found[1], stream, found[2], THETA, seeds=int(found[4]))
    return None
