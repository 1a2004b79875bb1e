"""Disks that are small or cannot be written to: real mounts, so these tests need root."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mount {' '.join(words)}: {done.stderr.strip()} (root is needed)")


@contextmanager
def _mounted(folder: Path, *words: str) -> Iterator[None]:
    _mount(*words, str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class SmallDisk:
    """A tmpfs of 128 MB whose room a ballast file takes away and gives back."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._ballast = folder, folder / ".ballast"

    def leave(self, room: int) -> None:
        """Make `room` bytes the most that can still be written."""
        self.free()
        left = shutil.disk_usage(self._folder).free - room
        with self._ballast.open("wb") as handle:
            os.posix_fallocate(handle.fileno(), 0, left)

    def free(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """Put a small disk under `folder`, with what the folder holds."""
    aside = folder.with_name(folder.name + "-aside")
    shutil.copytree(folder, aside)
    with _mounted(folder, "-t", "tmpfs", "-o", "size=128m", "tmpfs"):
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        yield SmallDisk(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make `folder` read-only even for root: a bind mount of itself, remounted."""
    with _mounted(folder, "--bind", str(folder)):
        _mount("-o", "remount,ro,bind", str(folder))
        yield
