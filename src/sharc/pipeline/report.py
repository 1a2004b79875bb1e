"""Stage report: everything that was made for readers -> outputs/report.html."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sharc.pipeline.claims import Claims
from sharc.pipeline.collect import RESULTS, Collect
from sharc.pipeline.download import Download
from sharc.pipeline.figure1 import Figure1
from sharc.pipeline.figures import Figures
from sharc.pipeline.ladder import Ladder
from sharc.pipeline.layout import layout
from sharc.pipeline.specifications import Specifications
from sharc.pipeline.tables import Tables
from sharc.report.facts import deviations, suite_facts
from sharc.results import labels
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, upstream

COMMITTED = Path("results/specifications"), Path("results/power")


@dataclass(frozen=True, eq=False)
class Report(Job):
    """The whole suite on one page."""

    stage = "report"
    main = "report.html"
    owns_folder = False

    tables: Tables
    figures: Figures
    claims: Claims
    ladder: Ladder | None
    specifications: Path | None
    upstream: dict[str, Job]  # every job of the suite but this one

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        [tables], [figures], [claims] = graph.of(Tables), graph.of(Figures), graph.of(Claims)
        ladder = next(iter(graph.of(Ladder)), None)
        needs: tuple[Job, ...] = (*graph.of(Collect), *graph.of(Figure1), tables, figures, claims)
        specified = graph.of(Specifications)
        needs += (*((ladder,) if ladder else ()), *specified, *graph.of(Download))
        settings: dict[str, Any] = {
            "layout": layout(graph.params),
            "suite": suite_facts(graph.params),
            "deviations": deviations(graph.params),
        }
        yield cls(
            "all",
            settings,
            needs,
            tables,
            figures,
            claims,
            ladder,
            _specifications(graph),
            upstream(needs),
        )

    @property
    def more_reads(self) -> tuple[str, ...]:
        shown = [folder for folder in (self.specifications, self.power) if folder in COMMITTED]
        found = [path for folder in shown for path in sorted(folder.iterdir())]
        return tuple(str(path) for path in found if path.name != "made.json")

    @property
    def power(self) -> Path | None:
        """The committed results with more seeds, for the section on specifications."""
        return _committed(self.specifications is not None, COMMITTED[1])

    @property
    def folder(self) -> Path:
        return Path("outputs")

    @property
    def receipt(self) -> Path:
        return self.folder / "report.receipt.json"

    def run(self, build: Build) -> Result:
        from sharc.report.facts import commits, costs, provenance
        from sharc.stages import report

        made = self.upstream
        report.build(
            RESULTS,
            self.tables.folder,
            self.figures.folder,
            self.claims.target,
            self.target,
            **self.settings,
            provenance=provenance(made) | {"training": commits(made)},
            costs=costs(made),
            ladder=self.ladder.folder if self.ladder else None,
            specifications=self.specifications,
            power=self.power,
        )
        return Result([self.target])


def _specifications(graph: Graph) -> Path | None:
    """What the suite itself found, or what is committed, if the suite has the paper's images."""
    for job in graph.of(Specifications):
        return job.folder
    ours = labels.PAPER_COLUMN.keys() & set(graph.params.chosen.datasets)
    return _committed(bool(ours), COMMITTED[0])


def _committed(wanted: bool, folder: Path) -> Path | None:
    return folder if wanted and (folder / "index.json").is_file() else None
