"""One build at a time in a folder, and no lock that outlives its build.

The kernel frees this lock when its process ends, however it ends. Snakemake's own lock files
stay behind after a kill; while we hold ours, they can only be left-overs.
"""

import fcntl
import os
from pathlib import Path

_PLACE = Path(".sharc/build.lock")
_SNAKEMAKE = Path(".snakemake/locks")


class BuildLock:
    """Held from the moment the graph is read until the process ends."""

    def __init__(self) -> None:
        _PLACE.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(_PLACE, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.acquired = True
        except OSError:
            self.acquired = False

    def forget_dead_builds(self) -> None:
        """Remove the lock files of a Snakemake that was killed."""
        leftovers = list(_SNAKEMAKE.glob("*")) if _SNAKEMAKE.is_dir() else []
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
        if leftovers:
            print("An earlier build ended without tidying up; its lock was removed.")
