"""Stage rungs: the ladder's features and splits -> outputs/rungs, its runs' records."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sharc.artifacts.runs import DENSE, Wanted, relative_path
from sharc.config import Params
from sharc.config.suites import Ladder
from sharc.grid import Cell, Variant
from sharc.ladder import Rung, rungs
from sharc.pipeline.options import chosen_modules, classes, train_settings
from sharc.pipeline.split import PART, Split
from sharc.pipeline.streamed import Streamed, backbone_part
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, KeyOf, Result
from sharc.workflow.stash import bring_back_runs


@dataclass(frozen=True)
class LadderCell:
    """One cell of the ladder's table: what it is, what it needs, and which rung has its runs."""

    cell: Cell
    rung: int
    runs_from: int  # this rung, or an earlier one if nothing changed for the cell since
    features: str  # name of the job that computes them
    settings: dict[str, Any]

    @property
    def memory(self) -> str:
        """The memory, or `dense`."""
        return self.cell.variant.memory or DENSE

    def run(self) -> dict[str, Any]:
        """Everything its runs depend on, as plain values."""
        return {
            "rung": self.rung,
            "memory": self.memory,
            "features": f"streamed:{self.features}",
            "options": self.settings["options"],
            "cell": self.settings["cells"][0],
        }


def ladder_cells(params: Params, ladder: Ladder, dataset: str) -> list[LadderCell]:
    """Every rung of every method, with and without SHARC."""
    found: list[LadderCell] = []
    steps = rungs(params, ladder)
    for method in ladder.methods:
        for variant in (Variant(), Variant(params.sharc.memory, ladder.theta)):
            cell = Cell(dataset, params.chosen.backbone, method, variant, ladder.buffer)
            mine: list[LadderCell] = []
            for rung in steps:
                mine.append(_ladder_cell(rung, cell, mine))
            found += mine
    return found


def _ladder_cell(rung: Rung, cell: Cell, before: list[LadderCell]) -> LadderCell:
    features = f"{cell.dataset}{PART}/{backbone_part(rung.params)}"
    settings = train_settings(rung.params, cell.method, cell.variant.memory or DENSE, [cell])
    same = (c.runs_from for c in before if (c.settings, c.features) == (settings, features))
    return LadderCell(cell, rung.number, next(same, rung.number), features, settings)


@dataclass(frozen=True, eq=False)
class Rungs(Job):
    """All runs of a method on the ladder's part of one data set, on every rung."""

    stage = "rungs"
    resources = "train"

    dataset: str
    backbone: str
    method: str
    features: dict[str, Streamed]

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        params = graph.params
        if (ladder := params.chosen.ladder) is None:
            return
        for dataset in ladder.datasets:
            found = [c for c in ladder_cells(params, ladder, dataset) if c.runs_from == c.rung]
            for method in ladder.methods:
                made = [c for c in found if c.cell.method == method]
                features = {c.run()["features"]: graph.one(Streamed, c.features) for c in made}
                yield cls(
                    f"{dataset}/{method}",
                    {"runs": [c.run() for c in made], "seeds": params.chosen.seeds},
                    (graph.one(Split, f"{dataset}{PART}"), *features.values()),
                    dataset,
                    params.chosen.backbone,
                    method,
                    features,
                )

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        runs = self.settings["runs"]
        used = [c for r in runs for c in classes(self.method, r["memory"], r["options"])]
        return tuple(dict.fromkeys(used))

    @property
    def more_modules(self) -> tuple[str, ...]:
        used = [
            module
            for run in self.settings["runs"]
            for module in chosen_modules(self.method, run["options"])
        ]
        return tuple(dict.fromkeys(used))

    def runs(self, key_of: KeyOf, run: dict[str, Any]) -> Iterator[Wanted]:
        """The runs of one cell on one rung, one per seed."""
        who = {"dataset": self.dataset, "backbone": self.backbone, "method": self.method}
        memory = None if run["memory"] == DENSE else run["memory"]
        for seed in self.settings["seeds"]:
            identity = who | {"seed": seed} | run["cell"] | {"memory": memory}
            path = self.folder / f"rung{run['rung']:02d}" / relative_path(identity)
            key = key_of({"run": run, "seed": seed})
            yield Wanted(path, key, identity | {"rung": run["rung"]})

    def records(self, key_of: KeyOf) -> Iterator[Wanted]:
        for run in self.settings["runs"]:
            yield from self.runs(key_of, run)

    def run(self, build: Build) -> Result:
        from sharc.stages.methods import make_method
        from sharc.stages.train import build as train

        made: list[Path] = []
        failed: dict[str, str] = {}
        device = build.params.train.device
        for run in self.settings["runs"]:
            wanted = list(self.runs(build.key_of, run))
            bring_back_runs(wanted, build.forced)
            failed |= train(
                self.features[run["features"]].folder,
                self.needs[0].target,
                wanted,
                make_method(self.method, run["memory"], run["options"], device),
            )
            made += [record.path for record in wanted]
        return Result(made, failed)
