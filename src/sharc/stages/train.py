"""Stage train: cached features + one method -> accuracy on every task after every task.

One process trains all runs of a method and memory. The runs of a cell, which differ in their
seed, advance together, and so do all cells without an associative memory, which take seconds.
Records are written as soon as their runs are done; an interrupted job goes on with the rest.
"""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from sharc.artifacts.files import read_json, write_json
from sharc.artifacts.runs import SCHEMA, Wanted, is_current, write_key
from sharc.buffers.dense import DenseBuffer
from sharc.engine.runs import Accuracies, RunResult, RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import MethodError, UserError
from sharc.features.streams import load_stream
from sharc.strategies.blame import lines_in, located
from sharc.trainer.selection import Values, joined, train_selected
from sharc.trainer.train import MakeBuffer, train


@dataclass(frozen=True)
class Method:
    """What is trained: a strategy, its options, and how the memory of a stack is made."""

    strategy: Any
    options: Mapping[str, Any]
    recorded: Mapping[str, Any]  # all parameters a run depends on, for its record
    make_buffer: MakeBuffer = DenseBuffer
    passes: int = 1  # how often a step of the authors' code shows its batch to the backbone
    among: Sequence[Values] = ()  # what each run chooses among on its validation images


def build(features: Path, split: Path, wanted: Sequence[Wanted], method: Method) -> dict[str, str]:
    """Make every record that is not current; return the failed ones with their messages."""
    torch.set_num_threads(1)  # one thread keeps a stacked run's bits equal to the lone run's
    torch.set_flush_denormal(True)
    missing = [record for record in wanted if not is_current(record)]
    if missing:
        stream = load_stream(features, split, method.passes, joint=method.strategy.joint)
        for group in tqdm(_groups(missing), desc=features.parent.name, disable=None):
            _train_group(stream, group, method)
    return _failures(wanted)


def fail(
    features: Path, split: Path, wanted: Sequence[Wanted], error: Exception, recorded: Any
) -> dict[str, str]:
    """Record that no run could begin, because the method could not be made."""
    stream = load_stream(features, split)
    for record in wanted:
        i = record.identity
        result = _failed(RunSpec(i["seed"], i["buffer"], i["theta"]), stream, str(error))
        _write(record, record_of(i, result, stream, recorded))
    return _failures(wanted)


def _failures(wanted: Sequence[Wanted]) -> dict[str, str]:
    records = {record.path: read_json(record.path) for record in wanted}
    return {
        str(path): content["message"]
        for path, content in records.items()
        if content["status"] != "ok"
    }


def _write(record: Wanted, content: Mapping[str, Any]) -> None:
    write_json(record.path, content)
    write_key(record)


def _groups(records: Sequence[Wanted], *, by_cell: bool = False) -> list[list[Wanted]]:
    """Records whose runs are trained in one go."""
    groups: dict[Any, list[Wanted]] = {}
    for record in records:
        cell = (record.identity["variant"], record.identity["buffer"])
        alone = by_cell or record.identity["theta"] is not None
        groups.setdefault(cell if alone else None, []).append(record)
    return list(groups.values())


def _train_group(stream: TaskStream, group: Sequence[Wanted], method: Method) -> None:
    specs = [
        RunSpec(seed=i["seed"], buffer=i["buffer"], theta=i["theta"])
        for i in (record.identity for record in group)
    ]
    try:
        results, choices = _trained(stream, specs, method)
    except Exception as error:  # one broken cell must not cost the others theirs
        if isinstance(error, UserError) and not isinstance(error, MethodError):
            raise  # a wrong parameter is wrong for every cell
        cells = _groups(group, by_cell=True)
        if len(cells) > 1:
            for cell in cells:
                _train_group(stream, cell, method)
            return
        if not isinstance(error, MethodError):  # which says by itself what to correct
            traceback.print_exc()
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, MethodError) or lines_in(method.strategy, error):
            message = str(located(method.strategy, error))
        results = [_failed(spec, stream, message) for spec in specs]
        choices = [{} for _ in specs]
    for record, result, choice in zip(group, results, choices, strict=True):
        content = record_of(record.identity, result, stream, method.recorded)
        _write(record, content | choice)


def _trained(
    stream: TaskStream, specs: Sequence[RunSpec], method: Method
) -> tuple[list[RunResult], list[dict[str, Any]]]:
    """Results, and what a run's record says of the values it chose, if it chose any."""
    if not method.among:
        results = train(stream, specs, method.strategy, method.options, method.make_buffer)
        return results, [{} for _ in specs]

    def under(here: TaskStream, runs: Sequence[RunSpec], values: Values) -> list[RunResult]:
        given = dict(values)
        theta = given.pop("theta", None)
        masked = runs if theta is None else [replace(run, theta=theta) for run in runs]
        options = {**method.options, **given}
        return train(here, masked, method.strategy, options, method.make_buffer)

    chosen = train_selected(stream, specs, method.among, under)
    selected = [{name: choice.recorded() for name, choice in of.items()} for of in chosen]
    return [joined(of) for of in chosen], [{"selected": found} for found in selected]


def _failed(spec: RunSpec, stream: TaskStream, message: str) -> RunResult:
    nothing = np.full((stream.n_tasks, stream.n_tasks), np.nan)
    accuracy = Accuracies(class_il=nothing, task_il=nothing)
    return RunResult(spec, accuracy, untrained={}, status="failed", message=message)


def record_of(
    identity: Mapping[str, Any], result: RunResult, stream: TaskStream, recorded: Mapping[str, Any]
) -> dict[str, Any]:
    """All that is kept of a run."""
    return {
        **identity,
        "schema": SCHEMA,
        "status": result.status,
        "message": result.message,
        "tasks": stream.n_tasks,
        "classes": stream.n_classes,
        "accuracy": _matrices(result.accuracy),
        "untrained": result.untrained,
        "heads": {name: _matrices(head) for name, head in result.heads.items()},
        "ledger": result.ledger,
        "recall": result.recall,
        "params": dict(recorded),
    }


def _matrices(accuracies: Accuracies) -> dict[str, list[list[float | None]]]:
    return {
        scenario: [[None if np.isnan(x) else float(x) for x in row] for row in matrix]
        for scenario, matrix in (
            ("class_il", accuracies.class_il),
            ("task_il", accuracies.task_il),
        )
    }
