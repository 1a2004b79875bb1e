"""A copy of the project in a folder of its own, with a small suite, driven as a user would."""

import os
import re
import shutil
import subprocess
import sys
from copy import copy
from pathlib import Path
from typing import Self

import yaml

ROOT = Path(__file__).parents[2]


class Project:
    """One clone and what a user does in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def copied(self, folder: Path) -> Self:
        """A copy with everything in it, times included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        project = copy(self)
        project.folder = folder
        return project

    def run(self, *command: str, code: int | None = 0, env: dict[str, str] | None = None) -> str:
        """Run a command in the clone; its output, after checking the exit code."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment() | (env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert code is None or done.returncode == code, (
            f"{command}: {done.returncode}\n{done.stdout}"
        )
        return done.stdout

    def environment(self) -> dict[str, str]:
        """The clone's own code comes first, whatever the tests themselves imported."""
        outside = {k: v for k, v in os.environ.items() if not k.startswith(("DVC_", "PYTEST_"))}
        return outside | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "DVC_NO_ANALYTICS": "1",
        }

    def snakemake(self, *words: str, code: int | None = 0) -> str:
        """Build with Snakemake."""
        return self.run("snakemake", "--cores", "2", "all", *words, code=code)

    def repro(self) -> str:
        """Build with DVC."""
        return self.run("dvc", "repro")

    def build(self, tool: str) -> str:
        """Build with the tool of that name."""
        return self.snakemake() if tool == "snakemake" else self.repro()

    def commit(self, message: str) -> str:
        """Commit everything Git is meant to hold; the new commit's name."""
        self.run("git", "add", "-A")
        self.run("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", message)
        return self.run("git", "rev-parse", "HEAD").strip()

    def set(self, **values: object) -> None:
        """Change values of params.yaml, dots written as two underscores."""
        path = self.folder / "params.yaml"
        params = yaml.safe_load(path.read_text())
        for dotted, value in values.items():
            *parents, last = dotted.split("__")
            block = params
            for name in parents:
                block = block[name]
            block[last] = value
        path.write_text(yaml.safe_dump(params, sort_keys=False))

    def text(self, name: str) -> str:
        """The content of a file of the clone."""
        return (self.folder / name).read_text()

    def records(self) -> dict[str, int]:
        """Every run record with the moment it was written."""
        folder = self.folder / "outputs/runs"
        return {
            str(path.relative_to(folder)): path.stat().st_mtime_ns
            for path in folder.rglob("seed*.json")
        }

    def results(self) -> dict[str, bytes]:
        """Every artifact that must come out the same bytes each time."""
        names = ("data/raw", "data/splits", "outputs/features", "outputs/runs", "outputs/results")
        people = ("outputs/tables", "outputs/figures", "outputs/claims.json", "outputs/claims.md")
        others = ("outputs/figure1", "outputs/streamed", "outputs/rungs", "outputs/ladder")
        paths = [p for name in (*names, *others, *people) for p in _files(self.folder / name)]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def _files(path: Path) -> list[Path]:
    """The files in a folder, or the file itself; none where the suite has no such stage."""
    if path.is_file():
        return [path]
    return [p for p in path.rglob("*") if p.is_file() and p.name != ".gitkeep"]


def clone(folder: Path, methods: tuple[str, ...] = ("sgd", "er", "gem")) -> Project:
    """The project's files as Git would hand them out, with a suite that builds in seconds."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in listed:
        if name != "dvc.lock" and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    project = Project(folder)
    _shrink(project, methods)
    project.run("git", "init", "-qb", "main")
    project.commit("start")
    return project


def _shrink(project: Project, methods: tuple[str, ...]) -> None:
    suite = {
        "sources": ["bundled"],
        "datasets": ["digits"],
        "backbone": "efficientnet_lite0",
        "methods": list(methods),
        "buffers": [50],
        "seeds": [0, 1],
        "figure1": "digits",
        "set": {"features.image_size": 64, "protocols.paper.normalisation": "own"},
    }
    project.set(suites={"demo": suite}, sharc__memory="modern_hopfield")
    project.set(figure1={"stored": 20, "epochs": 2, "seed": 0})


def built(output: str) -> set[str]:
    """The jobs that a build ran, from what it printed."""
    return set(re.findall(r"^(\S+:\S+): built$", output, flags=re.MULTILINE))


def stages(jobs: set[str]) -> set[str]:
    """The stages of some jobs."""
    return {job.partition(":")[0] for job in jobs}
