"""Artifacts that the current grid does not need are stashed, not deleted, and restored later.

Otherwise switching between suites would discard hours of features, because DVC requires a
stage's folder to hold exactly what the parameters say.
"""

from collections.abc import Iterable
from pathlib import Path

from sharc.artifacts.files import PARTIAL
from sharc.artifacts.receipts import read_receipt
from sharc.artifacts.runs import Wanted, key_file
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job

PLACE = Path(".sharc/stash")


def put_aside(path: Path) -> None:
    """Stash a file of another suite or an older grid."""
    if path.name.startswith(PARTIAL):
        path.unlink()
    else:
        _move(path, PLACE / path)


def bring_back(graph: Graph, job: Job) -> None:
    """Restore a job's stashed artifacts if the grid needs them now."""
    stashed = read_receipt(PLACE / job.receipt)
    inputs = graph.inputs(job)
    if stashed is None or inputs is None or stashed.key != graph.key(job, inputs):
        return
    for path in [*map(Path, stashed.outputs), job.provenance, job.receipt]:
        _bring_back_file(path)
        _bring_back_file(key_file(path))


def bring_back_runs(wanted: Iterable[Wanted], forced: bool) -> None:
    """Restore stashed runs, so that a seed removed and added again is not trained again."""
    for record in wanted:
        for path in (record.path, key_file(record.path)):
            if forced:
                path.unlink(missing_ok=True)
            else:
                _bring_back_file(path)


def _bring_back_file(path: Path) -> None:
    if (PLACE / path).is_file() and not path.exists():
        _move(PLACE / path, path)


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)
