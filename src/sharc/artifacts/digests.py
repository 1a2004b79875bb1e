"""Digests of large files, cached until the file is touched.

A cached digest is used only while size, modification time, change time and inode are the same. No
program can set the change time back, so a modified byte is always noticed. But it cannot tell two
moments within one tick of the kernel's clock apart, so the digest of a file that changed just now
is not cached.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from sharc.artifacts.files import digest_of, sha256_of, write_text
from sharc.errors import UserError

MEMO = Path(".sharc/digests")
_TICKS = 50_000_000  # nanoseconds: several ticks of the slowest kernel clock in use


def digest(path: Path) -> str:
    """The sha256 of `path`, recomputed only if the file changed since last time."""
    return _remembered(path, path.stat().st_ctime_ns, _state(path), lambda: sha256_of(path))


def digest_together(folder: Path, files: Sequence[Path]) -> str:
    """One digest of the names and contents of a folder's files, cached in the same way."""
    states = {file.name: _state(file) for file in files}
    latest = max((state[2] for state in states.values()), default=0)
    return _remembered(
        folder / "*",
        latest,
        [digest_of(states)],
        lambda: digest_of({file.name: sha256_of(file) for file in files}),
    )


def _state(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _remembered(path: Path, changed: int, state: list[Any], compute: Callable[[], str]) -> str:
    """The cached digest of `path` if the file is untouched, else a new one, cached."""
    note = MEMO / sha256(str(path.resolve()).encode()).hexdigest()[:32]
    try:
        known, value = json.loads(note.read_text())
        if known == state:
            return str(value)
    except (OSError, ValueError, TypeError, RecursionError):
        pass  # no note, or a damaged one: compute it
    old_enough = time.time_ns() - changed > _TICKS
    value = compute()
    if old_enough:
        with suppress(OSError, UserError):  # a full disk only means computing it again
            write_text(note, json.dumps([state, value]), flush=False)  # there are hundreds
    return value


def require(path: Path, expected: str) -> None:
    """Refuse a file whose content is not what its receipt says."""
    if not path.is_file():
        raise UserError(f"{path} is missing. Run `snakemake --cores 2 all` to rebuild it.")
    if digest(path) != expected:
        raise UserError(
            f"{path} was modified after it was built (its sha256 differs from its receipt's). "
            "Run `snakemake --cores 2 all` to rebuild it."
        )
