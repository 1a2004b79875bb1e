"""What a graph of many jobs costs before the first job starts: `snakemake -n` on made-up grids.

    python -m bench.graph_cost 1000 5000 20000

Each grid has that many training jobs of our own kind (same sources, inputs and parameters as a
real one, names made up), once with nothing built and once with everything current, where every
receipt is read and every artifact's digest looked up. A straight line is fitted to both.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.machine import ROOT
from bench.timing import spent

MANY = """

import dataclasses as _dataclasses

_one_grid = Train.jobs.__func__


def _many(cls, graph):
    jobs = list(_one_grid(cls, graph))
    for number in range({count}):
        job = jobs[number % len(jobs)]
        memory = f"{{job.memory}}-{{number}}"
        yield _dataclasses.replace(job, name=f"{{job.name}}-{{number}}", memory=memory)


Train.jobs = classmethod(_many)
Train.classes = property(lambda job: classes(job.method, "dense", {{}}))
"""
PRETEND = """
from pathlib import Path
from typing import NamedTuple
from sharc.artifacts.files import write_text, sha256_of
from sharc.artifacts.receipts import Receipt, write_receipt
from sharc.pipeline import load_graph
graph = load_graph()
for number, job in enumerate(graph.jobs.values()):
    made = job.receipt.with_name(f"made-{number}")
    for path in (made, job.target):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(job.id)
    key = graph.key(job, graph.inputs(job))
    write_receipt(job.receipt, Receipt(key, {str(made): sha256_of(made)}))
"""


class Cost(NamedTuple):
    """Seconds of a command, and the peak MB over all commands so far."""

    wall: float
    cpu: float
    peak: int


def main() -> None:
    """Measure each size and print a table and the fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=int, nargs="+")
    parser.add_argument("--fresh", action="store_true", help="only with nothing built")
    chosen = parser.parse_args()
    print("| jobs | nothing built: s, CPU s, MB | all current: s, CPU s, MB |\n|---|---|---|")
    rows = []
    for count in chosen.counts:
        rows.append(measure(count, chosen.fresh))
        cells = (f"{one.wall:.1f}, {one.cpu:.1f}, {one.peak}" for one in rows[-1])
        print(f"| {count:,} | {' | '.join(cells)} |", flush=True)
    if len(rows) > 1:
        for column, name in enumerate(("nothing built", "all current")[: len(rows[0])]):
            cpu = [row[column].cpu for row in rows]
            slope, start = np.polyfit(chosen.counts, cpu, 1)
            print(f"{name}: {start:.1f} + {slope * 1000:.2f} CPU s per 1,000 jobs")


def measure(count: int, fresh: bool) -> list[Cost]:
    """What it takes to do a dry run with nothing built and, unless fresh, with all current."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "sharc"
        for name in ("Snakefile", "params.yaml", "profiles", "src", "data/paper", "docs"):
            copy(ROOT / name, folder / name)
        with (folder / "src/sharc/pipeline/train.py").open("a") as file:
            file.write(MANY.format(count=count))
        dry = partial(timed, folder, "snakemake", "-n", "--quiet", "all")
        row = [dry()]
        if not fresh:
            timed(folder, sys.executable, "-c", PRETEND)
            time.sleep(0.1)  # so that digests may be remembered
            dry()
            row.append(dry())
    return row


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder to where its parents may not exist yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(source, target, ignore=ignored) if source.is_dir() else shutil.copy(
        source, target
    )


def timed(folder: Path, *words: str) -> Cost:
    """Run a command in the folder."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "PYTHONPATH": str(folder / "src")}
    run = partial(subprocess.run, words, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    start = time.perf_counter()
    cpu = spent(run)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return Cost(time.perf_counter() - start, cpu, peak)


if __name__ == "__main__":
    main()
