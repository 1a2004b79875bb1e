"""The machine, the versions and the date behind a run of the benchmark."""

import os
import platform
from datetime import UTC, datetime

from sharc.artifacts.provenance import git, processor, versions

PACKAGES = ("torch", "numpy", "onnxruntime", "openvino", "snakemake", "dvc")


def now() -> str:
    """The date and time, to the minute."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def described(command: str) -> dict[str, str]:
    """What docs/benchmarks.md says above its tables."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = ", ".join(f"{name} {number}" for name, number in versions(PACKAGES).items())
    return {
        "command": command,
        "date": now(),
        "commit": git("describe", "--always", "--dirty") or "unknown",
        "processor": f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB",
        "versions": f"Python {platform.python_version()}, {found}",
        "load": f"{os.getloadavg()[0]:.1f} at the start (1-minute average; idle is 0)",
    }
