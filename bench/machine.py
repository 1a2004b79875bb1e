"""The machine, the versions and the date behind a run of the benchmark, and where things lie."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from sharc.artifacts.provenance import git, processor, versions

ROOT = Path(__file__).parents[1]
EXTRAS = ROOT / ".venv-bench/bin"  # what only the benchmark needs, made by `make bench`
PACKAGES = ("torch", "numpy", "onnxruntime", "snakemake", "dvc")


def environment() -> dict[str, str]:
    """For a process of the benchmark's: one thread, and this project on its path."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def described() -> dict[str, str]:
    """What a part of the page says of its own making."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = ", ".join(f"{name} {number}" for name, number in versions(PACKAGES).items())
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": git("describe", "--always", "--dirty") or "unknown",
        "processor": f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB",
        "versions": f"Python {platform.python_version()}, {found}",
        "load": f"{os.getloadavg()[0]:.1f}",
    }
