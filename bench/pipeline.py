"""What the pipeline adds to the computing: in a copy of the project with a small suite.

The copy is built once, which also gives every stage's peak memory from its provenance; then doing
nothing is timed with Snakemake and with DVC.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

from bench.machine import ROOT, environment
from bench.section import Section, Size, Table
from bench.timing import Measure, Times, interleaved, number
from sharc.pipeline import load_graph
from sharc.report.facts import duration, records
from sharc.workflow.graph import Graph

SUITES = ("demo", "cifar10", "ladder", "offline", "paper")
TIMED = ("demo", "offline")  # suites with a promise about their time
# A finished build to read provenance from: this folder, or another copy of the project.
BUILT = Path(os.environ.get("SHARC_BUILT", ROOT))
GRAPH = (
    "import sys, time; from sharc.pipeline import load_graph; start = time.process_time(); "
    "graph = load_graph(sys.argv[1]); print(len(graph.jobs), time.process_time() - start)"
)


def run(size: Size) -> Section:
    """Overheads, and peak memory per stage."""
    sys.path.insert(0, str(ROOT / "tests/workflow"))
    from project import clone  # type: ignore[import-not-found]

    section = Section("pipeline", "Pipeline overhead")
    with tempfile.TemporaryDirectory() as folder:
        project = clone(Path(folder) / "sharc", methods=("er",))
        project.set(sharc__memory="bayes_pcn")
        first = interleaved({"build": lambda: _build(project)}, 1, warm_up=False)["build"]
        project.commit("built")
        made = list(provenance(project.folder))
        nothing = _doing_nothing(project, size)
        graphs = {suite: _graph(suite) for suite in SUITES}
        idle = nothing["no-op `snakemake all`"]
        work = (sum(one[kind] for one in made) for kind in ("wall_seconds", "cpu_seconds"))
        per_job = [
            (spent[0] - worked - statistics.median(doing_nothing)) / len(made)
            for spent, worked, doing_nothing in zip(
                (first.wall, first.cpu), work, (idle.wall, idle.cpu), strict=True
            )
        ]
    section.measures["seconds_per_job"] = Measure.of(per_job[:1])
    section.measures["cpu_seconds_per_job"] = Measure.of(per_job[1:])
    _overheads(section, nothing, graphs, per_job)
    _durations(section, per_job[1])
    _peaks(section, made)
    return section


def _build(project: Any) -> None:
    project.run("snakemake", "--cores", "1", "all")


def provenance(root: Path) -> Iterator[dict[str, Any]]:
    """What each job's provenance says, for all jobs that were built under `root`."""
    for path in sorted((root / "outputs/provenance").rglob("*.json")):
        content = json.loads(path.read_text())
        if "wall_seconds" in content:
            yield content


def _doing_nothing(project: Any, size: Size) -> dict[str, Times]:
    ways = {
        "no-op `snakemake all`": lambda: project.run("snakemake", "--cores", "1", "all"),
        "no-op `dvc repro`": lambda: project.run("dvc", "repro"),
        "`sharc validate`": lambda: project.run("sharc", "validate"),
    }
    return interleaved(ways, size.rounds)


def _graph(suite: str) -> tuple[int, float]:
    """Units of one of the project's own suites, and CPU seconds to build its graph."""
    done = subprocess.run(
        [sys.executable, "-c", GRAPH, suite],
        cwd=ROOT, env=environment(),
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    jobs, seconds = done.stdout.split()
    return int(jobs), float(seconds)


def _overheads(
    section: Section,
    nothing: dict[str, Times],
    graphs: dict[str, tuple[int, float]],
    per_job: list[float],
) -> None:
    table = Table("Overheads", ["what", "seconds, wall", "seconds, CPU"])
    for name, times in nothing.items():
        wall, cpu = Measure.of(times.wall), Measure.of(times.cpu)
        table.add(name, wall, cpu)
        section.measures[name.replace("`", "").replace(" ", "_") + "_seconds"] = wall
    for suite, (jobs, seconds) in graphs.items():
        table.add(f"graph of suite {suite}, {jobs} jobs", "", number(seconds))
    table.add("per job beyond its work", *(number(value) for value in per_job))
    section.tables.append(table)


def _durations(section: Section, per_job: float) -> None:
    """How long suites took, built at hand or else as committed, and what of it was no work."""
    for suite in TIMED:
        graph = load_graph(suite)
        found, where = _duration(suite, graph)
        jobs = len(graph.jobs)
        section.measures[f"{suite}_minutes"] = Measure.of([found["minutes"]])
        section.measures[f"{suite}_percent_not_computing"] = Measure.of(
            [found["percent_not_computing"]]
        )
        section.notes.append(
            f"Suite {suite}, {where}: {found['minutes']:.1f} minutes from its first to its last "
            f"unit on {found['cores']} cores, of which {found['percent_not_computing']:.1f} % was "
            f"not computing; its {jobs} jobs cost {jobs * per_job / 60:.1f} core minutes beyond "
            "their work."
        )


def _duration(suite: str, graph: Graph) -> tuple[dict[str, float], str]:
    with chdir(BUILT):  # jobs are found from there
        made = list(records(graph.jobs).values())
        # jobs of one name, such as collect:all, may be those of a suite built later
        if [record["suite"] for record in made] == [suite] * len(graph.jobs):
            return duration(made), f"as built in {BUILT.name}"
    committed = f"results/{suite}/made.json"
    return json.loads((ROOT / committed).read_text())["duration"], f"as {committed} says"


def _peaks(section: Section, made: list[dict[str, Any]]) -> None:
    """The largest unit of each stage; a build at hand counts too, where it is larger."""
    table = Table(
        "Peak memory per stage",
        ["stage", "small suite, MB", "largest unit of the build at hand, MB"],
    )
    here, small = _by_stage(provenance(BUILT)), _by_stage(iter(made))
    for stage, peak in small.items():
        table.add(stage, f"{peak:.0f}", f"{here[stage]:.0f}" if stage in here else "")
        section.measures[f"peak_mb_{stage}"] = Measure.of([max(peak, here.get(stage, 0))])
    section.tables.append(table)


def _by_stage(made: Iterator[dict[str, Any]]) -> dict[str, float]:
    peaks: dict[str, float] = {}
    for one in made:
        stage = one["unit"].partition(":")[0]
        peaks[stage] = max(peaks.get(stage, 0), one["peak_memory_mb"])
    return peaks
