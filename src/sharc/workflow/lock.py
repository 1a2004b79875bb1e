"""One build at a time in a folder, with a lock that never outlives its build.

The kernel frees this lock when its process ends, however it ends. A killed Snakemake leaves its own
lock files and half-written files behind; while we hold our lock, they can only be leftovers.
"""

import os
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from sharc.artifacts.files import remove_partials
from sharc.errors import UserError

_PLACE = Path(".sharc/build.lock")
_HOLDER = Path(".sharc/build.pid")
_SNAKEMAKE = Path(".snakemake/locks")
_WRITTEN_TO = (Path("data"), Path("outputs"), Path(".sharc"))


def lock_build() -> FileLock:
    """Take the lock of this folder, to be held until the process ends."""
    _PLACE.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(_PLACE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        holder = _HOLDER.read_text().strip() if _HOLDER.is_file() else ""
        raise UserError(
            f"another build is running in this folder (process {holder or 'unknown'}); nothing "
            "was done. Wait until it ends; `sharc grid` shows its progress."
        ) from None
    _HOLDER.write_text(str(os.getpid()))
    _tidy_up()
    return lock


def _tidy_up() -> None:
    """Remove the lock files of a Snakemake that was killed, and what its jobs half wrote."""
    leftovers = list(_SNAKEMAKE.glob("*")) if _SNAKEMAKE.is_dir() else []
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    if leftovers:
        print("An earlier build was killed; its lock was removed.", file=sys.stderr)
    for folder in _WRITTEN_TO:
        remove_partials(folder)
