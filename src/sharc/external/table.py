"""The CSV file of results from elsewhere, one row per run and scenario, checked cell by cell."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sharc.artifacts.files import write_text
from sharc.errors import UserError, unknown
from sharc.results import labels

COLUMNS = ("method", "dataset", "buffer", "seed", "scenario", "acc", "bwt")


class Run(NamedTuple):
    """One run in one scenario; ACC and BWT in percent, BWT NaN where it is not known."""

    method: str
    dataset: str
    buffer: int
    seed: int
    scenario: str
    acc: float
    bwt: float

    @property
    def key(self) -> tuple[str | int, ...]:
        """What may occur once in a file."""
        return self[:5]


@dataclass(frozen=True)
class Names:
    """The methods and data sets that a file may speak of: ours, and those that were added."""

    methods: tuple[str, ...] = field(default_factory=lambda: tuple(labels.METHODS))
    datasets: tuple[str, ...] = field(default_factory=lambda: tuple(labels.DATASETS))


def read_runs(path: Path, names: Names | None = None) -> list[Run]:
    """Every row of the file; the first wrong entry is refused by line and column."""
    lines = list(csv.reader(io.StringIO(_text(path))))
    head = [name.strip().lower() for name in lines[0]] if lines else []
    if absent := [name for name in COLUMNS if name not in head]:
        raise UserError(
            f"{path}, line 1: no column {', '.join(absent)}. The columns are {', '.join(COLUMNS)}, "
            "one row per run and scenario; bwt may be left empty."
        )
    numbered = [(number, line) for number, line in enumerate(lines[1:], start=2) if any(line)]
    rows = [_row(path, number, head, line, names) for number, line in numbered]
    _require_sound(path, [number for number, _ in numbered], rows)
    return rows


def write_runs(path: Path, runs: Iterable[Run]) -> None:
    """Write the file, completely or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs:
        writer.writerow(
            [*run.key, f"{run.acc:.6g}", "" if math.isnan(run.bwt) else f"{run.bwt:.6g}"]
        )
    write_text(path, text.getvalue())


def check_external(external: Mapping[str, str]) -> None:
    """Check the files that `external` names in params.yaml before anything is built."""
    for name, path in external.items():
        try:
            read_runs(Path(path))
        except UserError as error:
            raise UserError(f"params.yaml: external.{name}: {error}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(
            f"{path} does not exist: name a CSV file with the columns {', '.join(COLUMNS)}."
        ) from None
    except (UnicodeDecodeError, IsADirectoryError):
        raise UserError(f"{path} is not a CSV file in UTF-8.") from None


def _row(path: Path, number: int, head: list[str], line: list[str], names: Names | None) -> Run:
    if len(line) != len(head):
        raise UserError(
            f"{path}, line {number}: {len(line)} entries where the first line has {len(head)}."
        )
    entries = dict(zip(head, (entry.strip() for entry in line), strict=True))
    return checked(f"{path}, line {number}, column", entries, names)


def checked(where: str, entries: Mapping[str, str], names: Names | None = None) -> Run:
    """A run from text, column by column; `where` begins the message that refuses a wrong one."""
    found: list[Any] = []
    for column in COLUMNS:
        try:
            found.append(_CHECKS[column](entries[column], names or Names()))
        except ValueError as error:
            raise UserError(f"{where} {column}: {error}") from None
    return Run(*found)


def _method(text: str, names: Names) -> str:
    """A method, followed by `+` for its SHARC form; its label in the tables will do."""
    written = {labels.method(name).lower(): name for name in names.methods}
    base, plus = text.lower(), ""
    if base not in names.methods and base not in written and base.endswith("+"):
        base, plus = base[:-1], "+"
    name = written.get(base, base)
    if name not in names.methods:
        legal = unknown("method", text, names.methods)
        raise ValueError(f"{legal} A + after it means that it was combined with SHARC.")
    return name + plus


def _one_of(kind: str, pick: Callable[[Names], Iterable[str]]) -> Callable[[str, Names], str]:
    def check(text: str, names: Names) -> str:
        if text not in pick(names):
            raise ValueError(unknown(kind, text, pick(names)))
        return text

    return check


def _whole(text: str, names: Names) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text!r} is not a whole number from 0 on.")
    return int(text)


def _percent(low: float, empty: bool) -> Callable[[str, Names], float]:
    def check(text: str, names: Names) -> float:
        if empty and text.lower() in {"", "nan", "n/a"}:
            return math.nan
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= 100:
            raise ValueError(f"{text!r} is not a number from {low:g} to 100, in percent.")
        return value

    return check


_CHECKS: Mapping[str, Callable[[str, Names], object]] = {
    "method": _method,
    "dataset": _one_of("data set", lambda names: names.datasets),
    "buffer": _whole,
    "seed": _whole,
    "scenario": _one_of("scenario", lambda names: labels.SCENARIOS),
    "acc": _percent(0, empty=False),
    "bwt": _percent(-100, empty=True),
}


def _require_sound(path: Path, numbers: list[int], rows: list[Run]) -> None:
    """Refuse an empty file, a run given twice, and shares of one in place of percent."""
    if not rows:
        raise UserError(f"{path} has no rows below its first line.")
    first: dict[tuple[str | int, ...], int] = {}
    for number, run in zip(numbers, rows, strict=True):
        if (before := first.setdefault(run.key, number)) != number:
            raise UserError(
                f"{path}, line {number}: the same method, data set, buffer, seed and scenario as "
                f"line {before}. Delete one of them."
            )
    largest = max(run.acc for run in rows)
    if largest <= 1:
        raise UserError(
            f"{path}, column acc: the largest value is {largest:g}; ACC and BWT are in percent. "
            "Multiply both by 100."
        )
