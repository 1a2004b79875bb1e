"""Run records: where each lies, and whether it is what would be trained now.

The key under which a record was made is a file beside it, not in it, so that an edit which
changes no number changes no record either, and nothing that follows is built again.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharc.artifacts.files import read_json, sha256_of, write_json
from sharc.errors import UserError


@dataclass(frozen=True)
class Wanted:
    """A record to be made: where it goes, the key that says it is current, and what it is of."""

    path: Path
    key: str
    identity: dict[str, Any]


def relative_path(fields: dict[str, Any]) -> str:
    """Where below the runs' folder a record with this identity belongs."""
    folders = [str(fields[name]) for name in ("dataset", "backbone", "method", "variant")]
    return "/".join([*folders, f"b{fields['buffer']}", f"seed{fields['seed']}.json"])


def key_file(record: Path) -> Path:
    """Where the key of a record lies."""
    return record.with_suffix(".key")


def write_key(wanted: Wanted) -> None:
    """Say of a record that was just written under which key it was made."""
    made = {"key": wanted.key, "sha256": sha256_of(wanted.path)}
    write_json(key_file(wanted.path), made)


def is_current(wanted: Wanted) -> bool:
    """Whether the record exists, is unaltered, went well, and was made under the same key."""
    if not wanted.path.is_file():
        return False
    try:
        made = read_json(key_file(wanted.path))
        known = made == {"key": wanted.key, "sha256": sha256_of(wanted.path)}
        return known and bool(read_json(wanted.path)["status"] == "ok")
    except (UserError, KeyError, TypeError):
        return False
