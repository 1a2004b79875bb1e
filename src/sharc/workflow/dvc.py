"""DVC as a command, and the file in which it keeps what it was told."""

import subprocess
from pathlib import Path

LOCK = Path("dvc.lock")


def has_dvc() -> bool:
    """Whether this folder is one in which DVC can record anything."""
    return Path(".dvc").is_dir() and Path(".git").exists()


def run_dvc(*words: str) -> subprocess.CompletedProcess[str]:
    """Run DVC and keep what it says."""
    return subprocess.run(["dvc", *words], capture_output=True, text=True, check=False)
