"""Avalanche's CSVLogger: `eval_results.csv`, one row per evaluated experience."""

import csv
from collections.abc import Iterator
from pathlib import Path

from sharc.errors import UserError
from sharc.external.accuracies import scores
from sharc.external.table import Run, checked

FILE = "eval_results.csv"
_COLUMNS = ("eval_exp", "training_exp", "eval_accuracy")
_ASKED = ("method", "dataset", "buffer", "seed", "scenario")  # the log does not say


def read(log: Path, **given: str | int | None) -> Iterator[Run]:
    """The run of a log, or of a folder with `eval_results.csv` in it."""
    path = log / FILE if log.is_dir() else log
    if not path.is_file():
        raise UserError(f"{path} does not exist: name an {FILE} of Avalanche's CSVLogger.")
    if absent := [name for name in _ASKED if given.get(name) is None]:
        raise UserError(
            f"Avalanche's log does not say {', '.join(absent)}: give "
            f"{' '.join(f'--{name} ...' for name in absent)}."
        )
    acc, bwt = scores(str(path), _accuracies(path))
    entries = {name: str(given[name]) for name in _ASKED} | {"acc": str(acc), "bwt": str(bwt)}
    yield checked(f"{path},", entries)


def _accuracies(path: Path) -> dict[tuple[int, int], float]:
    """{(after task, on task): percent}; what was evaluated before any training does not count."""
    with path.open(newline="", encoding="utf-8") as handle:
        reader = csv.DictReader(handle)
        absent = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        if absent:
            raise UserError(f"{path}, line 1: no column {', '.join(absent)}; is it an {FILE}?")
        found = {}
        for number, row in enumerate(reader, start=2):
            if row["training_exp"] == "None":
                continue
            after, on = (_number(path, number, row, name) for name in _COLUMNS[1::-1])
            value = _number(path, number, row, "eval_accuracy")
            found[int(after) + 1, int(on) + 1] = 100 * value
    if not found:
        raise UserError(f"{path} has no evaluation after a training experience.")
    return found


def _number(path: Path, number: int, row: dict[str, str], name: str) -> float:
    text = row[name]
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = -1.0
    if value < 0 or (name == "eval_accuracy" and value > 1):
        legal = "a share from 0 to 1" if name == "eval_accuracy" else "a whole number from 0 on"
        raise UserError(f"{path}, line {number}, column {name}: {text!r} is not {legal}.")
    return value
