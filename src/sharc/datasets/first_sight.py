"""Content digests of unpublished data: recorded by the first build, checked by every later one.

The record is `data/digests/<dataset>.json`, which belongs in Git: whoever clones the
project works on the same images, or gets a message that says what is different.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sharc.artifacts.digests import digest, digest_together
from sharc.artifacts.files import read_json, write_json
from sharc.errors import UserError

FOLDER = Path("data/digests")
Seen = dict[str, dict[str, Any]]
_CLUTTER = {"Thumbs.db", "desktop.ini"}  # what file managers leave behind; so do hidden files


def files_below(root: Path) -> list[Path]:
    """Every file in `root` and its folders, in order, without what file managers add."""
    found = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return [path for path in found if not _is_clutter(path.relative_to(root))]


def _is_clutter(path: Path) -> bool:
    return path.name in _CLUTTER or any(part.startswith(".") for part in path.parts)


def seen_at(path: Path) -> Seen:
    """Number of files and digest of each folder below `path`, or of `path` if it is a file."""
    if path.is_file():
        return {path.name: {"files": 1, "sha256": digest(path)}}
    folders: dict[str, list[Path]] = {}
    for file in files_below(path):
        folders.setdefault(file.parent.relative_to(path).as_posix(), []).append(file)
    return {
        name: {"files": len(files), "sha256": digest_together(path / name, files)}
        for name, files in folders.items()
    }


def content_of(dataset: str, path: Path) -> Seen:
    """The content at `path`, or the recorded one if the images themselves are not here."""
    if path.exists():
        return seen_at(path)
    record = FOLDER / f"{dataset}.json"
    if record.is_file():
        found: Seen = read_json(record)
        return found
    raise UserError(f"datasets.{dataset}: {path} does not exist. Name the folder of your images.")


def check(dataset: str, found: Mapping[str, Mapping[str, Any]], folder: Path = FOLDER) -> str:
    """Record what is seen for the first time, refuse what has changed since; a remark, or ""."""
    record = folder / f"{dataset}.json"
    if not record.is_file():
        write_json(record, found)
        return f"seen for the first time: its digest was written to {record}; commit that file"
    known = read_json(record)
    if known == found:
        return ""
    parts = [name for name in sorted({*known, *found}) if known.get(name) != found.get(name)]
    changes = [_change(name, known.get(name), found.get(name)) for name in parts]
    raise UserError(
        f"not what it was when {record} was written: {'; '.join(changes)}. Restore it, or, if you "
        f"meant to change it, delete {record} and build again."
    )


def _change(name: str, before: Any, now: Any) -> str:
    counts = [_count(part) for part in (before, now)]
    return f"{name} {counts[0]} before, {counts[1]} now" + (
        " with other content" if counts[0] == counts[1] else ""
    )


def _count(part: Any) -> str:
    return "absent" if part is None else f"{part['files']} file{'s' if part['files'] != 1 else ''}"
