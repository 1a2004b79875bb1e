"""Tidy rows from runs: one per run and scenario, per point of a curve, per recall."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sharc import metrics
from sharc.artifacts.files import digest_of
from sharc.artifacts.runs import relative_path
from sharc.results.layout import SCENARIOS
from sharc.results.records import CELL, IDENTITY, Run

ORDER = sorted(SCENARIOS)  # of the rows in every CSV
RUN_COLUMNS = (
    *IDENTITY, "scenario", "status", "acc", "bwt", "forgetting",
    "items", "counted_floats", "total_bytes", "record",
)  # fmt: skip
_CURVE = ("dataset", "backbone", "method", "variant", "buffer", "seed")
CURVE_COLUMNS = (*_CURVE, "scenario", "task", "accuracy")
RECALL = ("task", "after", "age", "items", "mse", "zero_fill_mse", "mean_fill_mse", "accuracy")
RECALL_COLUMNS = (*IDENTITY, *RECALL)
HEAD_COLUMNS = (*_CURVE, "head", "scenario", "acc", "bwt")

Matrix = NDArray[np.float64]


def matrix(rows: Sequence[Sequence[float | None]]) -> Matrix:
    """R[t, i] in percent, shape (tasks, tasks); what was not measured is NaN."""
    return np.array([[np.nan if value is None else value for value in row] for row in rows], float)


def runs(found: Sequence[Run], joint_bwt: str) -> pd.DataFrame:
    """One row per run and scenario; numbers only where the run is ok."""
    table = [_run_row(run, scenario, joint_bwt) for run in found for scenario in ORDER]
    return pd.DataFrame(table, columns=list(RUN_COLUMNS))


def _run_row(run: Run, scenario: str, joint_bwt: str) -> dict[str, Any]:
    row = {**run.identity, "scenario": scenario, "status": run.status}
    if run.record is not None:
        row["record"] = relative_path(run.identity)
    if run.record is None or run.status != "ok":
        return row
    accuracy = matrix(run.record["accuracy"][scenario])
    ledger = run.record["ledger"]
    return {
        **row,
        **_scores(run, accuracy, scenario, joint_bwt),
        "items": ledger["items"],
        "counted_floats": ledger["counted_floats"],
        "total_bytes": ledger["total_bytes"],
    }


def _scores(run: Run, accuracy: Matrix, scenario: str, joint_bwt: str) -> dict[str, float | None]:
    """ACC and BWT of section "Evaluation Metrics"; JOINT has no accuracy right after a task.

    The paper's positive BWT of JOINT compares with an untrained network; we print nothing
    there unless `untrained_reference` asks for the paper's reading.
    """
    untrained = None
    if run.identity["method"] == "joint" and joint_bwt == "untrained_reference":
        untrained = (run.record or {})["untrained"][scenario]
    return {
        "acc": metrics.acc(accuracy),
        "bwt": metrics.backward_transfer(accuracy, untrained),
        "forgetting": metrics.forgetting(accuracy),
    }


def _measured(found: Sequence[Run]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for run in found:
        if run.record is not None and run.status == "ok":
            yield run.identity, run.record


def curves(found: Sequence[Run]) -> pd.DataFrame:
    """Mean accuracy on the tasks seen so far, after each task; JOINT has its end point only."""
    table = []
    for identity, record in _measured(found):
        for scenario in ORDER:
            curve = metrics.learning_curve(matrix(record["accuracy"][scenario]))
            base = {name: identity[name] for name in _CURVE} | {"scenario": scenario}
            table += [
                {**base, "task": task, "accuracy": value}
                for task, value in enumerate(curve, start=1)
                if value is not None
            ]
    return pd.DataFrame(table, columns=list(CURVE_COLUMNS))


def recall(found: Sequence[Run]) -> pd.DataFrame:
    """Recall error per task and age, with the errors of zero and mean filling."""
    table = [
        {**identity, **entry}
        for identity, record in _measured(found)
        for entry in record.get("recall", [])
    ]
    return pd.DataFrame(table, columns=list(RECALL_COLUMNS))


def heads(found: Sequence[Run]) -> pd.DataFrame:
    """CLS-ER's other heads, because the paper does not say which one its tables show."""
    table = []
    for identity, record in _measured(found):
        for head, scenarios in sorted(record.get("heads", {}).items()):
            for scenario in ORDER:
                accuracy = matrix(scenarios[scenario])
                scores = {
                    "acc": metrics.acc(accuracy),
                    "bwt": metrics.backward_transfer(accuracy),
                }
                base = {name: identity[name] for name in _CURVE}
                table.append({**base, "head": head, "scenario": scenario, **scores})
    return pd.DataFrame(table, columns=list(HEAD_COLUMNS))


def provenance(found: Sequence[Run]) -> dict[str, Any]:
    """Per cell: its parameters once, and per seed the record and its digest."""
    cells: dict[str, Any] = {}
    for run in found:
        name = cell_name(run.identity)
        cell = cells.setdefault(
            name, {field: run.identity[field] for field in CELL} | {"params": {}, "runs": []}
        )
        entry: dict[str, Any] = {"seed": run.identity["seed"], "status": run.status}
        if run.record is not None:
            cell["params"] = run.record.get("params", {})
            cell["ledger"] = run.record.get("ledger", {})
            entry |= {"record": relative_path(run.identity), "digest": digest_of(run.record)}
            entry |= {"message": run.record.get("message")}
        cell["runs"].append(entry)
    return cells


def cell_name(fields: Any) -> str:
    """`cifar10/resnet18/er/dense/b200`: a cell's name in provenance and in the report."""
    names = [str(fields[name]) for name in ("dataset", "backbone", "method", "variant")]
    return "/".join([*names, f"b{int(fields['buffer'])}"])
