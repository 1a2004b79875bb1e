"""How one artifact was made: when, where, from which commit, and how long it took."""

import os
import platform
import resource
import subprocess
import time
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = Path("outputs/provenance")
_PACKAGES = (
    *("torch", "torchvision", "numpy", "safetensors", "scipy", "pandas"),
    "onnxruntime",
)


class Stopwatch:
    """Wall time, CPU time and peak memory since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.time(), _cpu_seconds()

    def reading(self) -> dict[str, float]:
        """Seconds and megabytes so far."""
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        return {
            "started": round(self._wall, 3),
            "wall_seconds": round(time.time() - self._wall, 3),
            "cpu_seconds": round(_cpu_seconds() - self._cpu, 3),
            "peak_memory_mb": round(max(own, children) / 1024, 1),
        }


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those that are installed; not every engine is."""
    return {name: version(name) for name in packages if find_spec(name)}


def surroundings(threads: int) -> dict[str, Any]:
    """Commit, machine and package versions."""
    return {
        "commit": git("rev-parse", "HEAD"),
        "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
        "python": platform.python_version(),
        "packages": versions(_PACKAGES),
        "machine": platform.machine(),
        "processor": processor(),
        "device": _device(),
        "threads": threads,
        "cores": os.cpu_count(),
    }


def git(*words: str) -> str | None:
    """What Git answers, or None outside a repository."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None  # an unpacked archive has no history; its files are still digested
    return done.stdout.strip()


def processor() -> str:
    """The processor's name, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _device() -> str:
    import sys

    torch = sys.modules.get("torch")  # a job that does not use torch must not pay for its import
    if torch is not None and torch.cuda.is_available():
        return str(torch.cuda.get_device_name())
    return "cpu"
