"""Run records: where each is stored, and whether it is still current.

A record's key is stored in a file next to it, not in it, so that an edit which changes no number
changes no record either, and nothing downstream is rebuilt.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharc.artifacts.files import read_json, sha256_of, write_json
from sharc.errors import UserError

SCHEMA = 1  # version of the records' layout
DENSE = "dense"  # the variant that stores whole maps


@dataclass(frozen=True)
class Wanted:
    """A record to be made: its path, the key that makes it current, and the run it belongs to."""

    path: Path
    key: str
    identity: dict[str, Any]


def relative_path(fields: dict[str, Any]) -> str:
    """The path of a record with this identity, below the folder of runs."""
    folders = [str(fields[name]) for name in ("dataset", "backbone", "method", "variant")]
    return "/".join([*folders, f"b{fields['buffer']}", f"seed{fields['seed']}.json"])


def key_file(record: Path) -> Path:
    """The file that holds the key of a record."""
    return record.with_suffix(".key")


def write_key(wanted: Wanted) -> None:
    """Write the key of a record that was just made."""
    made = {"key": wanted.key, "sha256": sha256_of(wanted.path)}
    write_json(key_file(wanted.path), made)


def is_current(wanted: Wanted) -> bool:
    """Whether the record exists, is unmodified, succeeded, and was made under the same key."""
    if not wanted.path.is_file():
        return False
    try:
        made = read_json(key_file(wanted.path))
        known = made == {"key": wanted.key, "sha256": sha256_of(wanted.path)}
        return known and bool(read_json(wanted.path)["status"] == "ok")
    except (UserError, KeyError, TypeError):
        return False
