"""Stage tables: results -> outputs/tables, ours and the paper's."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from sharc.pipeline.collect import Collect
from sharc.pipeline.layout import PAPER, layout
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Tables(Job):
    """Every table of the suite, as LaTeX, Markdown, CSV and HTML."""

    stage = "tables"
    main = "comparison.md"
    shown = ".html"
    reads = (str(PAPER),)
    exported = ("*.md", "comparison.csv", "ledger.csv")

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        yield cls("all", layout(graph.params), tuple(graph.of(Collect)))

    def run(self, build: Build) -> Result:
        from sharc.stages import tables

        (results,) = self.needs
        shutil.rmtree(self.folder, ignore_errors=True)  # files are named after the grid: none of
        # an earlier one may pass for new; where removal fails, writing does, and says why
        tables.build(results.folder, PAPER, self.folder, layout=self.settings)
        return Result(files_in(self.folder))
