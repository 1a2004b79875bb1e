"""Stage specified: splits and features -> outputs/specified, runs under every specification."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from sharc.artifacts.runs import DENSE, Wanted
from sharc.pipeline.options import chosen_modules, classes
from sharc.pipeline.specification_runs import DistinctRun, distinct
from sharc.pipeline.split import Split
from sharc.pipeline.streamed import Streamed
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, KeyOf, Result
from sharc.workflow.stash import bring_back_runs


@dataclass(frozen=True, eq=False)
class Specified(Job):
    """All runs on one layout of a data set and one kind of features, each once."""

    stage = "specified"
    resources = "train"

    dataset: str
    backbone: str

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        at: dict[str, list[DistinctRun]] = {}
        for one in distinct(graph.params).values():
            at.setdefault(one.stream.name, []).append(one)
        for name, found in at.items():
            stream = found[0].stream
            needs = (graph.one(Split, stream.split), graph.one(Streamed, stream.features))
            runs = [{"id": one.id, **one.settings} for one in found]
            settings = {"runs": runs, "seeds": graph.params.chosen.seeds}
            yield cls(name, settings, needs, stream.dataset, stream.params.chosen.backbone)

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        runs = self.settings["runs"]
        used = [c for r in runs for c in classes(r["method"], r["memory"], r["options"])]
        return tuple(dict.fromkeys(used))

    @property
    def more_modules(self) -> tuple[str, ...]:
        runs = self.settings["runs"]
        found = [m for run in runs for m in chosen_modules(run["method"], run["options"])]
        return tuple(dict.fromkeys(found))

    @property
    def effort(self) -> int:
        return sum(
            (10 if run["memory"] != DENSE else 1) * (len(run["among"]) + 1)
            for run in self.settings["runs"]
        )

    def runs(self, key_of: KeyOf, run: dict[str, Any]) -> Iterator[Wanted]:
        """One record per seed."""
        who = {"dataset": self.dataset, "backbone": self.backbone, "method": run["method"]}
        memory = None if run["memory"] == DENSE else run["memory"]
        for seed in self.settings["seeds"]:
            identity = who | {"seed": seed} | run["cell"] | {"memory": memory, "run": run["id"]}
            path = self.folder / run["id"] / f"seed{seed}.json"
            yield Wanted(path, key_of({"run": run, "seed": seed}), identity)

    def records(self, key_of: KeyOf) -> Iterator[Wanted]:
        for run in self.settings["runs"]:
            yield from self.runs(key_of, run)

    def run(self, build: Build) -> Result:
        from sharc.stages.methods import make_method
        from sharc.stages.train import build as train

        split, features = self.needs
        made: list[Path] = []
        failed: dict[str, str] = {}
        device = build.params.train.device
        for run in self.settings["runs"]:
            wanted = list(self.runs(build.key_of, run))
            bring_back_runs(wanted, build.forced)
            method = make_method(run["method"], run["memory"], run["options"], device)
            chooses = replace(method, among=run["among"])
            failed |= train(features.folder, split.target, wanted, chooses)
            made += [record.path for record in wanted]
        return Result(made, failed)
