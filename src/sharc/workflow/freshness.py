"""Which jobs are current, decided by content and passed to Snakemake as modification times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sharc.artifacts.files import set_mtime
from sharc.workflow.changes import changes
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job
from sharc.workflow.stash import bring_back

_PARAMS = Path("params.yaml")
_LONG_AGO = 1_000_000_000  # nanoseconds since 1970: older than any input, and not 0 (missing)


@dataclass(frozen=True)
class State:
    """Whether a job is current, and if not, why."""

    current: bool
    why: str = ""
    damaged: bool = False  # complete once, and altered or lost since


def states(graph: Graph, *, unstash: bool = False, retry: bool = True) -> dict[str, State]:
    """The state of every job, in order; with `unstash`, stashed artifacts are restored.

    A build tries failed runs again; without `retry` they are results, which tables show as missing.
    """
    found: dict[str, State] = {}
    for job in graph.jobs.values():
        if unstash and not job.receipt.is_file():
            bring_back(graph, job)
        found[job.id] = _state(graph, job, found, retry)
    return found


def _state(graph: Graph, job: Job, known: dict[str, State], retry: bool) -> State:
    stale = [need.id for need in job.needs if not known[need.id].current]
    if stale:
        more = f" and {len(stale) - 1} more" if len(stale) > 1 else ""
        return State(False, f"{stale[0]}{more} will be built first")
    inputs = graph.inputs(job) or {}
    receipt = job.load_receipt()
    if receipt is None:
        parts = job.cached_parts(lambda settings: graph.part_key(job, inputs, settings))
        return State(False, f"not built yet{parts and f' ({parts})'}")
    if receipt.key != graph.key(job, inputs):
        return State(False, changes(graph, job, inputs, receipt))
    if retry and receipt.failed:
        return State(False, f"{len(receipt.failed)} of its runs failed last time")
    why = receipt.first_mismatch()
    return State(why is None, why or "", damaged=why is not None)


def order_times(graph: Graph, found: dict[str, State]) -> None:
    """Set modification times by content, for the files that the Snakefile names.

    The outputs of a current job are no older than its inputs; those of a stale one are older.
    """
    newest: dict[str, int] = {}
    for job in graph.jobs.values():
        files = [path for path in job.outputs if path.is_file()]
        named = map(Path, (*job.reads, *job.more_reads))
        read = [path.stat().st_mtime_ns for path in (_PARAMS, *named)]
        needed = max([*read, *(newest[need.id] for need in job.needs)])
        for path in files:
            if not found[job.id].current:
                set_mtime(path, _LONG_AGO)
            elif path.stat().st_mtime_ns < needed:
                set_mtime(path, needed)
        newest[job.id] = max((path.stat().st_mtime_ns for path in files), default=0)


def failures(graph: Graph) -> list[str]:
    """How many runs failed, then each reason once: whose it is, and where to read more."""
    logs = {name: job.log for job in graph.jobs.values() for name in failures_of([job])}
    failed = failures_of(graph.jobs.values())
    if not failed:
        return []
    lines = [f"{line} ({logs[first]})" for first, line in by_reason(failed).items()]
    return [f"{len(failed)} run{'s' * (len(failed) > 1)} failed:", *lines]


def by_reason(failed: Mapping[str, str]) -> dict[str, str]:
    """A line per reason, by the first run that failed for it: `<run> and 24 more: <reason>`."""
    alike: dict[str, list[str]] = {}
    for name, reason in failed.items():
        alike.setdefault(reason, []).append(name)
    return {
        names[0]: f"  {names[0]}{f' and {len(names) - 1} more' * (len(names) > 1)}: {reason}"
        for reason, names in alike.items()
    }


def failures_of(jobs: Iterable[Job]) -> dict[str, str]:
    """The records of failed runs, each with its reason."""
    receipts = [receipt for job in jobs if (receipt := job.load_receipt())]
    return {name: message for receipt in receipts for name, message in receipt.failed.items()}
