"""Stage collect: run records -> outputs/results, tidy CSV files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sharc.config import Params
from sharc.external.table import check_external
from sharc.grid import cells
from sharc.pipeline.train import Train
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in

RESULTS = Path("outputs/results")


@dataclass(frozen=True, eq=False)
class Collect(Job):
    """One row per run, per point of a curve, per cell."""

    stage = "collect"
    main = "summary.csv"
    exported = ("curves.csv", "external.csv", "heads.csv", "recall.csv", "runs.csv", "summary.csv")
    origins = {"joint_bwt": "train.joint_bwt", "expected": "suites.{suite}"}

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        check_external(graph.params.external)
        settings = {
            "expected": _expected_runs(graph.params),
            "joint_bwt": graph.params.train.joint_bwt,
            "external": dict(graph.params.external),
            "sharc": graph.params.sharc.model_dump(include={"memory", "theta"}),
        }
        yield cls("all", settings, tuple(graph.of(Train)))

    @property
    def folder(self) -> Path:
        return RESULTS

    @property
    def more_reads(self) -> tuple[str, ...]:
        return tuple(self.settings["external"].values())

    def run(self, build: Build) -> Result:
        from sharc.stages import collect

        records = [Path(name) for name in build.inputs]
        collect.build(records, out=self.folder, **self.settings)
        return Result(files_in(self.folder))


def _expected_runs(params: Params) -> list[dict[str, Any]]:
    """The identity of every run of the grid."""
    return [
        cell.identity | {"seed": seed} for cell in cells(params) for seed in params.chosen.seeds
    ]
