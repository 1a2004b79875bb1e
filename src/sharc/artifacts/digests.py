"""Digests of large files, remembered as long as the file has not been touched.

A remembered digest is used only while size, modification time, change time and inode are the
same. The change time cannot be set back by a program, so an altered byte is always noticed. Nor
can it tell two moments of one tick of the kernel's clock apart: what changed just now is
digested, but not remembered.
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
    """The sha256 of `path`, computed anew only if the file changed since last time."""
    return _remembered(path, path.stat().st_ctime_ns, _stamp(path), lambda: sha256_of(path))


def digest_together(folder: Path, files: Sequence[Path]) -> str:
    """One digest of the names and contents of a folder's files, remembered in the same way."""
    stamps = {file.name: _stamp(file) for file in files}
    latest = max((stamp[2] for stamp in stamps.values()), default=0)
    return _remembered(
        folder / "*",
        latest,
        [digest_of(stamps)],
        lambda: digest_of({file.name: sha256_of(file) for file in files}),
    )


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _remembered(path: Path, changed: int, stamp: list[Any], compute: Callable[[], str]) -> str:
    """The note on `path` if its stamp is the same, else what is computed now, noted."""
    note = MEMO / sha256(str(path.resolve()).encode()).hexdigest()[:32]
    try:
        known, value = json.loads(note.read_text())
        if known == stamp:
            return str(value)
    except (OSError, ValueError, TypeError, RecursionError):
        pass  # no note, or a damaged one: the file itself is asked
    settled = time.time_ns() - changed > _TICKS
    value = compute()
    if settled:
        with suppress(OSError, UserError):  # no room only costs the memory of the digest
            write_text(note, json.dumps([stamp, value]))
    return value


def require(path: Path, expected: str) -> None:
    """Refuse a file whose content is not what its receipt says."""
    if not path.is_file():
        raise UserError(f"{path} is missing. Run `snakemake --cores 2 all` to build it again.")
    if digest(path) != expected:
        raise UserError(
            f"{path} was altered after it was built (its sha256 is not its receipt's). "
            "Run `snakemake --cores 2 all`: it will be built again."
        )
