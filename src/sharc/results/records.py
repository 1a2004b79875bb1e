"""Run records, read and checked: a record's content must agree with its path."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharc.artifacts.files import read_json
from sharc.artifacts.runs import SCHEMA, relative_path
from sharc.errors import UserError

STATUSES = ("ok", "diverged", "failed")
CELL = ("dataset", "backbone", "method", "variant", "memory", "theta", "buffer")
IDENTITY = (*CELL, "seed")
_PATH = ("dataset", "backbone", "method", "variant", "buffer", "seed")

Identity = tuple[Any, ...]


@dataclass(frozen=True)
class Run:
    """One expected run: its identity, and its record or None when there is none."""

    identity: dict[str, Any]
    record: dict[str, Any] | None
    path: Path | None

    @property
    def status(self) -> str:
        """`ok`, `diverged`, `failed`, or `missing` when no record exists."""
        return "missing" if self.record is None else str(self.record["status"])


def identity_of(fields: dict[str, Any]) -> Identity:
    """The fields that name a run, comparable and hashable."""
    theta = fields["theta"]
    return tuple(
        None if fields[name] is None else (float(theta) if name == "theta" else fields[name])
        for name in IDENTITY
    )


def load(paths: Sequence[Path], expected: Sequence[dict[str, Any]]) -> list[Run]:
    """Every expected run in order of `expected`, with its record where one exists."""
    wanted = {identity_of(fields): fields for fields in expected}
    if len(wanted) != len(expected):
        raise UserError("the grid names a run twice: every expected run must be listed once.")
    found: dict[Identity, tuple[dict[str, Any], Path]] = {}
    for path in sorted(paths):
        record = checked(path)
        identity = identity_of(record)
        if identity not in wanted:
            raise UserError(
                f"{path} is not a run of this suite's grid: delete it, or add its cell to "
                "params.yaml."
            )
        if identity in found:
            raise UserError(f"{path} and {found[identity][1]} are records of the same run.")
        found[identity] = (record, path)
    return [
        Run({name: fields[name] for name in IDENTITY}, *found.get(identity, (None, None)))
        for identity, fields in wanted.items()
    ]


def checked(path: Path) -> dict[str, Any]:
    """A record whose schema, fields and path agree; anything else is refused by name."""
    record = read_json(path)
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        found = record.get("schema") if isinstance(record, dict) else type(record).__name__
        raise UserError(
            f"{path}: schema is {found!r}, this version reads {SCHEMA}: delete it and run again."
        )
    absent = [name for name in (*IDENTITY, "status", "accuracy") if name not in record]
    if absent:
        raise UserError(f"{path} lacks {', '.join(absent)}: delete it and run again.")
    if record["status"] not in STATUSES:
        raise UserError(f"{path}: status is {record['status']!r}; legal: {', '.join(STATUSES)}.")
    _agrees_with_place(record, path)
    return record


def _agrees_with_place(record: dict[str, Any], path: Path) -> None:
    belongs = relative_path(record)
    if not path.as_posix().endswith(f"/{belongs}"):
        raise UserError(
            f"{path} says it is {belongs} ({', '.join(_PATH)}): a record was moved or copied "
            "by hand. Delete it and run again."
        )
