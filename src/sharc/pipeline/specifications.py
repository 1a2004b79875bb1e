"""Stage specifications: runs under every specification -> outputs/specifications."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sharc.pipeline.layout import CLAIMS
from sharc.pipeline.specification_runs import layout
from sharc.pipeline.specified import Specified
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Specifications(Job):
    """The curves, and what they depend on."""

    stage = "specifications"
    main = "index.json"
    reads = (str(CLAIMS),)
    exported = ("*.csv", "*.png", "index.json")

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        if graph.params.chosen.specifications:
            yield cls("all", dict(layout(graph.params)), tuple(graph.of(Specified)))

    def run(self, build: Build) -> Result:
        from sharc.stages import specifications

        records = [Path(name) for name in build.inputs]
        specifications.build(records, CLAIMS, self.folder, layout=self.settings)
        return Result(files_in(self.folder))
