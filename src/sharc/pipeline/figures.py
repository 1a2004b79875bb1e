"""Stage figures: results -> outputs/figures, as PNG and PDF in one style."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sharc.pipeline.collect import RESULTS, Collect
from sharc.pipeline.figure1 import Figure1
from sharc.pipeline.layout import PAPER, layout
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Figures(Job):
    """Every figure for which the suite has data."""

    stage = "figures"
    main = "index.json"
    shown = ".png"
    reads = (str(PAPER),)
    exported = ("*.png", "index.json")

    figure1: Path | None

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        drawn = graph.of(Figure1)
        needs = (*graph.of(Collect), *drawn)
        yield cls("all", layout(graph.params), needs, drawn[0].folder if drawn else None)

    def run(self, build: Build) -> Result:
        from sharc.stages import figures

        shutil.rmtree(self.folder, ignore_errors=True)  # as in the stage `tables`
        figures.build(RESULTS, PAPER, self.figure1, self.folder, layout=self.settings)
        return Result(files_in(self.folder))
