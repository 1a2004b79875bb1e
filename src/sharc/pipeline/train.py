"""Stage train: features and a split -> outputs/runs, the records of the tables' runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sharc.artifacts.runs import DENSE, Wanted, is_current, relative_path
from sharc.errors import MethodError
from sharc.grid import Cell, cells
from sharc.pipeline.features import Features
from sharc.pipeline.options import chosen_modules, classes, train_settings
from sharc.pipeline.split import Split
from sharc.pipeline.streamed import Streamed
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, KeyOf, Result
from sharc.workflow.stash import bring_back_runs


@dataclass(frozen=True, eq=False)
class Train(Job):
    """All runs of one method with one memory on one data set: its thetas, buffers and seeds."""

    stage = "train"
    resources = "train"
    owns_folder = False
    origins = {
        "options.method": "methods.{method}",
        "options.memory": "memories.{memory}",
        "options.sharc": "sharc",
        "options": "train",
        "seeds": "suites.{suite}.seeds",
    }

    dataset: str
    backbone: str
    method: str
    memory: str  # or `dense`: whole maps

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        groups: dict[tuple[str, str, str, str], list[Cell]] = {}
        for cell in cells(graph.params):
            memory = cell.variant.memory or DENSE
            groups.setdefault((cell.dataset, cell.backbone, cell.method, memory), []).append(cell)
        for (dataset, backbone, method, memory), members in groups.items():
            settings = train_settings(graph.params, method, memory, members)
            needs = (graph.one(Split, dataset), trained_on(graph, dataset))
            name = f"{dataset}/{backbone}/{method}/{memory}"
            yield cls(name, settings, needs, dataset, backbone, method, memory)

    @property
    def folder(self) -> Path:
        return Path("outputs/runs") / self.dataset / self.backbone / self.method

    @property
    def receipt(self) -> Path:
        return self.folder / f"{self.memory}.receipt.json"

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        return classes(self.method, self.memory, self.settings["options"])

    @property
    def more_modules(self) -> tuple[str, ...]:
        return chosen_modules(self.method, self.settings["options"])

    def owns(self, path: Path) -> bool:
        records = (run.path for run in self.records(lambda _: ""))
        return path == self.receipt or any(record.is_relative_to(path) for record in records)

    def records(self, key_of: KeyOf) -> Iterator[Wanted]:
        who = {"dataset": self.dataset, "backbone": self.backbone, "method": self.method}
        memory = None if self.memory == DENSE else self.memory
        for cell in self.settings["cells"]:
            for seed in self.settings["seeds"]:
                identity = who | {"seed": seed} | cell | {"memory": memory}
                # Adding a seed or a buffer leaves the others' keys alone.
                key = key_of({"options": self.settings["options"], "cell": cell, "seed": seed})
                yield Wanted(Path("outputs/runs") / relative_path(identity), key, identity)

    def cached_parts(self, key_of: KeyOf) -> str:
        found = [(run.identity["seed"], is_current(run)) for run in self.records(key_of)]
        seeds = dict.fromkeys(seed for seed, _ in found)
        missing = [s for s in seeds if not any(current for seed, current in found if seed == s)]
        cached = sum(current for _, current in found)
        if missing and cached == len(found) * (len(seeds) - len(missing)) // len(seeds) > 0:
            which = f"seeds {', '.join(map(str, missing))} are"
            which = which if len(missing) > 1 else f"seed {missing[0]} is"
            return f"{which} missing ({len(seeds) - len(missing)} of {len(seeds)} cached)"
        return f"{cached} of {len(found)} runs are cached" if cached else ""

    @property
    def effort(self) -> int:
        items: float = sum(
            c["buffer"] / max(1 - (c["theta"] or 0), 0.05) for c in self.settings["cells"]
        )
        whole = 2 if self.method in {"er", "gem"} else 1  # they replay all they hold in every step
        tasks = int(self.needs[0].settings["tasks"])
        return int(items) * whole * tasks * (10 if self.memory != DENSE else 1)

    def run(self, build: Build) -> Result:
        from sharc.stages.methods import make_method
        from sharc.stages.train import build as train
        from sharc.stages.train import fail

        split, features = self.needs
        wanted, options = list(self.records(build.key_of)), self.settings["options"]
        bring_back_runs(wanted, build.forced)
        places = (features.folder, split.target)
        try:
            made = make_method(self.method, self.memory, options, build.params.train.device)
        except MethodError as error:
            failed = fail(*places, wanted, error, options)
        else:
            failed = train(*places, wanted, made)
        return Result([record.path for record in wanted], failed)


def trained_on(graph: Graph, dataset: str) -> Features | Streamed:
    """The features that the suite's tables rest on."""
    backbone = graph.params.chosen.backbone
    if graph.params.switches.bn_mode == "train":
        return graph.one(Streamed, f"{dataset}/{backbone}")
    return graph.one(Features, f"{dataset}/{backbone}")
