"""Builds that are started and not waited for, and what runs inside them."""

import os
import re
import signal
import subprocess
from pathlib import Path

from project import Project

_JOB = re.compile(r"-m\0sharc\.entry\.job\0([^\0]+)\0")
_MADE_IN = {  # where a stage's artifacts lie, if not in a folder of its name
    "data/raw": "download",
    "data/splits": "split",
    "outputs/runs": "train",
    "outputs/results": "collect",
}


class Build:
    """`snakemake --cores 2 all` in a process group of its own."""

    def __init__(self, project: Project, *words: str) -> None:
        self.process = subprocess.Popen(
            ["snakemake", "--cores", "2", "all", *words],
            cwd=project.folder,
            env=project.environment(),
            process_group=0,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def alive(self) -> bool:
        """Whether Snakemake itself still runs."""
        return self.process.poll() is None

    def stages(self) -> set[str]:
        """The stages whose jobs run at this moment."""
        found = (_JOB.search(_words(pid)) for pid in self._members())
        return {stage_of(match[1]) for match in found if match}

    def records_in_dvc(self) -> bool:
        """Whether its jobs are done and DVC records them."""
        return any("\0commit\0--force" in _words(pid) for pid in self._members())

    def _members(self) -> list[int]:
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if _group(pid) == self.process.pid]

    def kill(self, *, jobs: bool) -> None:
        """SIGKILL to Snakemake; to its jobs as well, or they go on as orphans."""
        if jobs:
            self.end()
        else:
            self.process.kill()
        self.process.wait(timeout=60)

    def end(self) -> None:
        """Leave no process of the group behind."""
        if self._members():
            os.killpg(self.process.pid, signal.SIGKILL)


def stage_of(target: str) -> str:
    """The stage that makes a file."""
    top, name = Path(target).parts[:2]
    return _MADE_IN.get(f"{top}/{name}", name.partition(".")[0])


def _group(pid: int) -> int | None:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if state[0] == "Z" else int(state[2])
    except OSError:
        return None  # it ended while we looked


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
