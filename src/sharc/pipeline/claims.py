"""Stage claims: results and the paper's sentences -> outputs/claims.json and .md."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sharc.pipeline.collect import RESULTS, Collect
from sharc.pipeline.figure1 import Figure1
from sharc.pipeline.layout import CLAIMS, PAPER, layout
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result


@dataclass(frozen=True, eq=False)
class Claims(Job):
    """A verdict on every sentence of the paper that can be checked."""

    stage = "claims"
    main = "claims.json"
    reads = (str(PAPER), str(CLAIMS))
    exported = ("claims.json", "claims.md")
    owns_folder = False

    figure1: Path | None

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        drawn = graph.of(Figure1)
        needs = (*graph.of(Collect), *drawn)
        yield cls("all", layout(graph.params), needs, drawn[0].folder if drawn else None)

    @property
    def folder(self) -> Path:
        return Path("outputs")

    @property
    def receipt(self) -> Path:
        return self.folder / "claims.receipt.json"

    @property
    def outputs(self) -> tuple[Path, ...]:
        return (self.target, self.folder / "claims.md")

    def owns(self, path: Path) -> bool:
        return path in {*self.outputs, self.receipt}

    def run(self, build: Build) -> Result:
        from sharc.stages import claims

        claims.build(RESULTS, CLAIMS, PAPER, self.figure1, *self.outputs, layout=self.settings)
        return Result(list(self.outputs))
