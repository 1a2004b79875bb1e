"""Stage download: source -> data/raw/<dataset>."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sharc.datasets.first_sight import content_of
from sharc.registry import is_added, load
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Download(Job):
    """One data set, from the first source that has it, verified whatever the source was."""

    stage = "download"
    main = "meta.json"
    origins = {"": "datasets.{name}"}

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        suite, datasets = graph.params.chosen, graph.params.datasets
        drawn = [suite.figure1] if suite.figure1 else []
        for name in dict.fromkeys([*suite.datasets, *drawn]):
            block = datasets[name]
            settings = dict(block.reading)
            if block.images is not None:
                settings["content"] = content_of(name, block.images)
            yield cls(name, settings, ())

    @property
    def folder(self) -> Path:
        return Path("data/raw") / self.name

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        return (("dataset", self.name),)

    def run(self, build: Build) -> Result:
        from sharc.stages import download

        mirror = os.environ.get("SHARC_MIRROR") or build.params.data.mirror
        dataset = load("dataset", self.name)(self.name)
        own = is_added("dataset", self.name)
        remarks = download.build(
            dataset,
            self.folder,
            sources=list(dataset.sources if own else build.params.chosen.sources),
            mirror=Path(mirror) if mirror else None,
            options={key: value for key, value in self.settings.items() if value is not None},
        )
        for remark in remarks:
            print(f"{self.name}: {remark}")
        return Result(files_in(self.folder), notes={"remarks": remarks} if remarks else {})
