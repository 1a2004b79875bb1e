"""Stage download: source -> data/raw/<dataset>."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sharc.registry import load
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Download(Job):
    """One data set, from the first source that has it, verified whatever the source was."""

    stage = "download"
    params = ("suite", "suites", "datasets")
    origins = {"": "datasets.{name}"}

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        suite, datasets = graph.params.chosen, graph.params.datasets
        drawn = [suite.figure1] if suite.figure1 else []
        for name in dict.fromkeys([*suite.datasets, *drawn]):
            yield cls(name, {"train_per_class": datasets[name].train_per_class}, ())

    @property
    def folder(self) -> Path:
        return Path("data/raw") / self.name

    @property
    def target(self) -> Path:
        return self.folder / "meta.json"

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        return (("dataset", self.name),)

    def run(self, build: Build) -> Result:
        from sharc.stages import download

        mirror = os.environ.get("SHARC_MIRROR") or build.params.data.mirror
        download.build(
            load("dataset", self.name)(),
            self.folder,
            sources=list(build.params.chosen.sources),
            mirror=Path(mirror) if mirror else None,
            options={key: value for key, value in self.settings.items() if value is not None},
        )
        return Result(files_in(self.folder))
