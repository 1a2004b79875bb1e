"""Associative memory: BayesPCN against the direct way, Hopfield reads, and what SHARC costs."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from bench.machine import ROOT, environment
from bench.section import Section, Size, Table
from bench.streams import CIFAR10, OFFLINE, Shape, synthetic
from bench.timing import Measure, Spent, Way, interleaved, number, ratio
from bench.training import LABELS, OPTIONS, ours
from sharc.buffers.sharc import SharcBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import load
from sharc.trainer.train import train

THETA, BUFFER = 0.8, 200
Case = tuple[Shape, str, int]  # and the method, and how many seeds are stacked
SMALL = Shape(features=256, side=4, train=20_000, test=500)
CASES = (
    (CIFAR10, "er", 1),
    (CIFAR10, "er_full", 1),
    (CIFAR10, "er_full", 5),
    (OFFLINE, "er_full", 1),
)
SHOWN = {"modern_hopfield": "modern Hopfield", "bayes_pcn": "BayesPCN"}


def sharc(
    method: str, stream: TaskStream, memory: str, theta: float, buffer: int = BUFFER, seeds: int = 5
) -> Spent:
    """Train a method with an associative buffer; making the synthetic maps is not counted."""
    maps: Any = stream.maps
    wall, start, making = time.perf_counter(), time.process_time(), maps.seconds
    make = partial(SharcBuffer, memory=load("memory", memory))
    runs = [RunSpec(seed, buffer, theta) for seed in range(seeds)]
    options = {"device": "cpu"} | OPTIONS.get(method, {})
    train(stream, runs, load("method", method.partition("_")[0]), options, make)
    spent = time.process_time() - start - (maps.seconds - making)
    return Spent(spent, time.perf_counter() - wall)


def run(size: Size) -> Section:
    """The memory alone, then within training."""
    section = Section("memory", "Associative memory")
    rounds = {"small": 1, "bench": 2, "full": 3}[size.name]
    measured = [_in_a_process(size.name == "small") for _ in range(rounds)]
    _bayes_pcn(section, [lines[0] for lines in measured])
    _hopfield(section, [lines[1:] for lines in measured])
    with one_thread():
        cases = ((SMALL, "er", 1),) if size.name == "small" else CASES
        _within_training(section, cases, max(2, rounds))
    return section


def _in_a_process(small: bool) -> list[dict[str, Any]]:
    """bench.memory in a process of its own, so that its peak memory is its own too."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory", *(["--small"] if small else [])],
        cwd=ROOT, env=environment(),
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def _bayes_pcn(section: Section, found: list[dict[str, Any]]) -> None:
    table = Table(
        "BayesPCN, d = 25,088, h = 256, θ = 0.8",
        ["way", "maps", "write, s", "read, s", "error on dropped entries"],
        note=f"Filling with zeros gives an error of {found[0]['zero_fill_mse']:.3g}. The direct "
        "way is measured on ten maps; on a thousand it would write and read a hundred such "
        "batches, and that ratio is extrapolated from its time per map.",
    )
    for key, name in (("direct", "direct: Adam over the full map"), ("ours_ten", "ours"),
                      ("ours", "ours")):  # fmt: skip
        rows = [one[key] for one in found]
        spent = [Measure.of([row[part] for row in rows]) for part in ("write_s", "read_s")]
        table.add(name, rows[0]["maps"], *spent, f"{rows[0]['mse']:.3g}")
    section.tables.append(table)
    measures = {
        "bayes_pcn_same_ten": [one["ratio_same_ten"] for one in found],
        "bayes_pcn_per_map": [one["ratio_per_map_extrapolated"] for one in found],
        "bayes_pcn_read_same_ten": [o["direct"]["read_s"] / o["ours_ten"]["read_s"] for o in found],
        "bayes_pcn_read_per_map": [
            o["direct"]["read_s"] / 10 / (o["ours"]["read_s"] / o["ours"]["maps"]) for o in found
        ],
        "bayes_pcn_error_share": [o["ours_ten"]["mse"] / o["direct"]["mse"] for o in found],
        "bayes_pcn_peak_gb": [one["peak_gb"] for one in found],
    }
    section.measures |= {name: Measure.of(values) for name, values in measures.items()}


def _hopfield(section: Section, found: list[list[dict[str, Any]]]) -> None:
    table = Table(
        "Modern Hopfield read, d = 25,088, θ = 0.8, up to 1,000 read in one batch",
        ["stored maps", "ms per query", "error on dropped entries"],
    )
    for sizes in zip(*found, strict=True):
        spent = Measure.of([one["ms_per_query"] for one in sizes])
        table.add(sizes[0]["stored"], spent, f"{sizes[0]['mse']:.3g}")
        section.measures[f"hopfield_ms_{sizes[0]['stored']}"] = spent
    section.tables.append(table)


def _within_training(section: Section, cases: Sequence[Case], rounds: int) -> None:
    """SHARC's cost as a multiple of its dense counterpart's, over a whole run."""
    table = Table(
        "A SHARC run as a multiple of its dense counterpart, buffer 200, θ = 0.8",
        ["method", "maps", "seeds stacked", "dense, s per run", *SHOWN.values()],
        note="Dense runs share their steps when stacked, memories are each run's own: hence the "
        "larger multiple with five seeds. 5,000 steps; making the synthetic maps is not counted.",
    )
    for shape, method, seeds in cases:
        stream = synthetic(shape, maps=True)
        ways: dict[str, Way] = {"dense": partial(ours, method, stream, seeds)}
        ways |= {m: partial(sharc, method, stream, m, THETA, seeds=seeds) for m in SHOWN}
        times = interleaved(ways, rounds, warm_up=False)
        costs = {m: ratio(times[m], times["dense"]) for m in SHOWN}
        size = f"{shape.side}×{shape.side}×{shape.features}"
        table.add(
            LABELS[method],
            size,
            seeds,
            number(times["dense"].per(seeds, 1).median),
            *costs.values(),
        )
        for memory, cost in costs.items():
            section.measures[f"sharc_cost_{method}_{memory}_{shape.features}_{seeds}"] = cost
    section.tables.append(table)
