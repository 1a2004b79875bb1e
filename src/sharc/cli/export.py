"""`sharc export`: the small results of a finished suite, for Git and for readers."""

import gzip
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sharc.artifacts.files import PARTIAL, write_json
from sharc.config import load_params
from sharc.errors import UserError, unknown
from sharc.pipeline import build_graph
from sharc.report.facts import costs, duration, provenance, records, suite_facts
from sharc.workflow.freshness import failures_of, states
from sharc.workflow.stage import Job, upstream

_LARGEST = 300_000  # bytes; a larger table is compressed, and left out if that does not help


def export_results(folder: Path, suite: str | None, only: Sequence[str] = ()) -> None:
    """Copy tables, figures, claims and the summary; made.json says from what and at what cost."""
    params = load_params(suite=suite)
    graph = build_graph(params)
    if params.chosen.specifications:  # its tables are not what the suite is for
        only = only or ["specifications"]
    exported = _exported(graph.jobs, only)
    command = "snakemake --cores 2 all"
    if only:
        command += f" --until {' '.join(dict.fromkeys(job.stage for job in exported))}"
    command += f" --config suite={params.suite}"
    needed = upstream(exported) if only else graph.jobs
    for name, state in states(graph, retry=False).items():
        if name in needed and not state.current:
            raise UserError(
                f"only a finished suite can be exported, and {name} is not current: {state.why}."
                f" Run `{command}` first."
            )
    paths = sorted(
        path for job in exported for name in job.exported for path in job.folder.glob(name)
    )
    facts = suite_facts(params) | provenance(needed)
    with replaced(folder) as out:
        made = {
            "command": command,
            "left_out": [str(path) for path in paths if not copied(path, out)],
            "cost": costs(needed),
            "duration": duration(list(records(needed).values())),
        }
        if failed := failures_of(needed.values()):
            made["failed"] = failed
        write_json(out / "made.json", made | facts)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Yield a folder that replaces an earlier export only once it is complete."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a new folder, such as results/mine.")
    if folder.exists() and any(folder.iterdir()) and not (folder / "made.json").is_file():
        raise UserError(
            f"{folder} exists and is not an earlier export (it has no made.json). Name a new or"
            " empty folder, such as results/mine."
        )
    partial = folder.with_name(f"{PARTIAL}{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)  # of an export that was killed
    partial.mkdir(parents=True)
    try:
        yield partial
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def copied(path: Path, folder: Path) -> bool:
    """Copy a file that is small, or small when packed; say whether it was."""
    content, name = path.read_bytes(), path.name
    if len(content) > _LARGEST and path.suffix == ".csv":
        content, name = gzip.compress(content, mtime=0), f"{name}.gz"
    if len(content) > _LARGEST:
        return False
    (folder / name).write_bytes(content)
    return True


def _exported(jobs: Mapping[str, Job], only: Sequence[str]) -> list[Job]:
    """The requested jobs, or all of this suite that have something to export."""
    here = [job for job in jobs.values() if job.exported]
    stages = dict.fromkeys(job.stage for job in here)
    for stage in only:
        if stage not in stages:
            raise UserError(unknown("stage to export", stage, stages))
    return [job for job in here if not only or job.stage in only]
