"""Mammoth's logs: `<setting>/<dataset>/<model>/logs.pyd`, one printed dictionary per run."""

import re
from collections.abc import Iterator
from pathlib import Path

from sharc.errors import UserError
from sharc.external.accuracies import scores
from sharc.external.table import Run, checked

DATASETS = {
    "seq-cifar10": "cifar10",
    "seq-cifar100": "cifar100",
    "seq-miniimg": "mini_imagenet",
    "seq-tinyimg": "tiny_imagenet",
}
SETTINGS = {"class-il": "class_il", "task-il": "task_il"}
# Values are read by pattern, never evaluated: a log is a file from outside.
_NUMBER = r"(?:np\.\w+\()?(-?[\d.]+(?:e[-+]?\d+)?)\)?"
_ACCURACY = re.compile(rf"'accuracy_(\d+)_task(\d+)': {_NUMBER}(?=[,}}])")


def read(log: Path, **given: str | int | None) -> Iterator[Run]:
    """Every run of a log, or of all logs below a folder; `given` overrides what a log says."""
    for path in _logs(log):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if line.strip():
                yield _run(path, number, line, given)


def _logs(log: Path) -> list[Path]:
    found = sorted(log.rglob("logs.pyd")) if log.is_dir() else [log]
    found = [path for path in found if path.is_file()]
    if not found:
        raise UserError(
            f"{log}: no Mammoth log found. Name a logs.pyd or a folder with one below it."
        )
    return found


def _run(path: Path, number: int, line: str, given: dict[str, str | int | None]) -> Run:
    where = f"{path}, line {number}"
    accuracy = {(int(t), int(i)): float(value) for i, t, value in _ACCURACY.findall(line)}
    if not accuracy:
        raise UserError(
            f"{where}: no entry like 'accuracy_1_task1': 97.5, so this is not a line that "
            "Mammoth's logger wrote for a class-incremental run."
        )

    def said(name: str, key: str, default: str | None = None) -> str:
        if given.get(name) is not None:
            return str(given[name])
        found = re.search(rf"'{key}': '?([\w.+-]+)'?[,}}]", line)
        value = found[1] if found and found[1] != "None" else default
        if value is None:
            raise UserError(f"{where}: no '{key}'. Give it with --{name}.")
        return value

    dataset = said("dataset", "dataset")
    acc, bwt = scores(where, accuracy)
    entries = {
        "method": said("method", "model"),
        "dataset": DATASETS.get(dataset, dataset),
        "buffer": said("buffer", "buffer_size", "0"),
        "seed": said("seed", "seed"),
        "scenario": str(given.get("scenario") or _scenario(path)),
    }
    return checked(f"{where},", entries | {"acc": str(acc), "bwt": str(bwt)})


def _scenario(path: Path) -> str:
    """Mammoth keeps the two scenarios in two folders."""
    for part in reversed(path.absolute().parts):
        if part in SETTINGS:
            return SETTINGS[part]
    raise UserError(
        f"{path} is below neither class-il/ nor task-il/, so its scenario is unknown. "
        "Give it with --scenario."
    )
