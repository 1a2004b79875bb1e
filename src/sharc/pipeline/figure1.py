"""Stage figure1: data/raw -> outputs/figure1, the paper's motivating comparison."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from sharc.pipeline.download import Download
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Figure1(Job):
    """How well a Hopfield memory and an inpainter restore the images of one data set."""

    stage = "figure1"
    main = "figure1.json"
    exported = ("figure1.json",)
    origins = {"": "figure1"}

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        if name := graph.params.chosen.figure1:
            yield cls(name, graph.params.figure1.model_dump(), (graph.one(Download, name),))

    def run(self, build: Build) -> Result:
        from sharc.stages import figure1

        (raw,) = self.needs
        figure1.build(raw.folder, self.folder, options=self.settings)
        return Result(files_in(self.folder))
