"""One build at a time in a folder, and nothing in the way that outlives its build.

The kernel frees this lock when its process ends, however it ends. Snakemake's own lock files and
half-written files stay behind after a kill; while we hold our lock, they can only be left-overs.
"""

import fcntl
import os
from pathlib import Path

from sharc.artifacts.files import remove_partials
from sharc.errors import UserError

_PLACE = Path(".sharc/build.lock")
_SNAKEMAKE = Path(".snakemake/locks")
_WRITTEN_TO = (Path("data"), Path("outputs"), Path(".sharc"))


class BuildLock:
    """Held from the moment the graph is read until the process ends."""

    def __init__(self) -> None:
        _PLACE.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(_PLACE, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._handle, 32).decode(errors="replace").strip()
            raise UserError(
                f"another build is running in this folder (process {holder or 'unknown'}). "
                "Wait until it ends; meanwhile `sharc grid` shows how far it is. "
                "This one did nothing."
            ) from None
        os.ftruncate(self._handle, 0)
        os.write(self._handle, str(os.getpid()).encode())

    def forget_dead_builds(self) -> None:
        """Remove the lock files of a Snakemake that was killed, and what its jobs half wrote."""
        leftovers = list(_SNAKEMAKE.glob("*")) if _SNAKEMAKE.is_dir() else []
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
        if leftovers:
            print("An earlier build ended without tidying up; its lock was removed.")
        for folder in _WRITTEN_TO:
            remove_partials(folder)
