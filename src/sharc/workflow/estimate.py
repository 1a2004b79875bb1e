"""Time, memory and disk a build will take, from the records of earlier builds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharc.artifacts.files import read_json
from sharc.workflow.freshness import State
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job

EXPORTS = Path("results")  # `sharc export` leaves each suite's cost there
START = 5.0  # seconds before Snakemake's first job
_ALONE = 1.2  # wall time over computing time of a build without a record of its own


@dataclass(frozen=True)
class Estimate:
    """Time, memory and disk; `source` says what they rest on, `without` the stages left out."""

    seconds: float
    memory_mb: float
    disk_mb: float
    cores: int
    source: str
    without: tuple[str, ...] = ()

    def text(self) -> str:
        """`about 1.4 minutes on 2 cores, 1.6 GB of memory, 28 MB of disk (from ...)`."""
        disk = f", {_size(self.disk_mb)} of disk" if self.disk_mb else ""
        cores = f"{self.cores} core{'s' * (self.cores > 1)}"
        without = f", which has no record of {', '.join(self.without)}" if self.without else ""
        return (
            f"about {spoken(self.seconds)} on {cores}, {_size(self.memory_mb)} of "
            f"memory{disk} (from {self.source}{without})"
        )


def _size(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{max(1, megabytes):.0f} MB"


def spoken(seconds: float) -> str:
    """`40 seconds`, `1.4 minutes`, `2.1 hours`."""
    for size, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.0f} seconds"


def estimate(graph: Graph, found: Mapping[str, State], cores: int) -> Estimate | None:
    """What building the jobs that are not current takes; None if nothing like it was recorded.

    The record of a suite of specifications has only the stages that lead to them.
    """
    jobs = [job for name, job in graph.jobs.items() if not found[name].current]
    if not jobs:
        return None
    path = EXPORTS / graph.params.suite / "made.json"
    made = read_json(path) if path.is_file() else {"cost": []}
    rows = {row["stage"]: row for row in made["cost"]}
    known = {job.id: cost for job in jobs if (cost := _cost(job, rows)) is not None}
    without = tuple(dict.fromkeys(job.stage for job in jobs if job.id not in known))
    recorded = [job for job in jobs if job.id in known]
    if not recorded or (without and not rows):
        return None
    seconds = sum(cost["seconds"] for cost in known.values()) * _stretch(made) / cores
    longest = max(cost["seconds"] for cost in known.values())
    return Estimate(
        seconds=START + max(seconds, longest),
        memory_mb=_memory(graph, recorded, known, cores),
        disk_mb=sum(cost["disk_mb"] for cost in known.values()),
        cores=cores,
        source=str(path) if rows else "earlier builds here",
        without=without,
    )


def weights(graph: Graph) -> dict[str, float]:
    """Seconds per job of each stage, so that progress is even; empty if not recorded."""
    path = EXPORTS / graph.params.suite / "made.json"
    rows = {row["stage"]: row for row in read_json(path)["cost"]} if path.is_file() else {}
    found: dict[str, list[float]] = defaultdict(list)
    for job in graph.jobs.values():
        if (cost := _cost(job, rows)) is not None:
            found[job.stage].append(cost["seconds"])
    return {stage: sum(costs) / len(costs) for stage, costs in found.items()}


def _cost(job: Job, rows: Mapping[str, Mapping[str, float]]) -> dict[str, float] | None:
    """The job's own record if it was built here before, else the mean of its stage."""
    row: Mapping[str, float] = rows.get(job.stage, {})
    count = row.get("jobs") or row.get("units") or 1
    disk = row.get("disk_mb", 0.0) / count
    if job.provenance.is_file():
        own = read_json(job.provenance)
        return {
            "seconds": own["wall_seconds"],
            "peak_mb": own["peak_memory_mb"],
            "disk_mb": disk,
        }
    if not row:
        return None
    return {"seconds": row["seconds"] / count, "peak_mb": row["peak_mb"], "disk_mb": disk}


def _stretch(made: Mapping[str, Any]) -> float:
    """Core-seconds of a whole build per second that its jobs computed: starting them takes time."""
    work = sum(row["seconds"] for row in made["cost"])
    if not work or "duration" not in made:
        return _ALONE
    return float(made["duration"]["minutes"] * 60 * made["duration"]["cores"] / work)


def _memory(
    graph: Graph, jobs: Sequence[Job], known: Mapping[str, Mapping[str, float]], cores: int
) -> float:
    """The stage that needs most: its largest jobs, as many as run at a time."""
    peaks: dict[str, list[float]] = defaultdict(list)
    threads = {}
    for job in jobs:
        peaks[job.stage].append(known[job.id]["peak_mb"])
        threads[job.stage] = int(getattr(graph.params.resources, job.resources).threads)
    return max(
        sum(sorted(of_stage)[-max(1, cores // threads[stage]) :])
        for stage, of_stage in peaks.items()
    )
