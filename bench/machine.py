"""The machine, the versions and the date behind a run of the benchmark."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("torch", "numpy", "onnxruntime", "snakemake", "dvc")


def now() -> str:
    """The date and time, to the minute."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def described(command: str) -> dict[str, str]:
    """What docs/benchmarks.md says above its tables."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return {
        "command": command,
        "date": now(),
        "commit": _commit(),
        "processor": f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB",
        "versions": f"Python {platform.python_version()}, {versions}",
        "load": f"{os.getloadavg()[0]:.1f} at the start (1-minute average; idle is 0)",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
